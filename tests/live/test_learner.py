"""The learner decides as the policy says, learns as the sums say, and can be stopped any time."""

import contextlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import (
    POLICIES,
    TS,
    UCB,
    AnchorTS,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    DriftanchorError,
    Evidence,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
    UnknownName,
    UnreadableState,
)
from driftanchor.core.noise import Stream, keyed_stream, normal, wrapping
from driftanchor.core.posterior import Posterior

OFFLINE = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48), "C": (50, 0.2)})


def learner(policy: Policy | None = None, seed: int = 1) -> Learner:
    return Learner(policy or AnchorTS(), offline=OFFLINE, bias_bound=0.05, seed=seed)


def play(pupil: Learner, rounds: int) -> list[str]:
    """Pull and update with rewards that depend on the arm and the round alone."""
    pulled = []
    for t in range(rounds):
        pulled.append(pupil.pull())
        pupil.update(
            pulled[-1], {"A": 0.3, "B": 0.5, "C": 0.2}.get(pulled[-1], 0.4) + 0.1 * (t % 3)
        )
    return pulled


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_learns_which_arm_is_best(name: str) -> None:
    pupil = Learner(POLICIES[name](prior_mean=0.5, noise=0.2), arms=["A", "B", "C"], seed=3)
    assert play(pupil, 300).count("B") > 200


@pytest.mark.parametrize("name", POLICIES)
def test_a_saved_learner_goes_on_exactly_where_it_was(name: str, tmp_path: Path) -> None:
    pupil = learner(POLICIES[name]())
    play(pupil, 50)
    pupil.add_arm("D", (10, 0.4), bias_bound=math.inf)
    pupil.retire_arm("C")
    pupil.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert loaded.to_json() == pupil.to_json()
    assert play(loaded, 50) == play(pupil, 50)
    assert loaded.to_json() == pupil.to_json()


def test_decisions_depend_on_seed_and_number_alone() -> None:
    once, again, other = learner(seed=5), learner(seed=5), learner(seed=6)
    pulls = [once.pull() for _ in range(30)]
    assert [again.pull() for _ in range(30)] == pulls
    assert [other.pull() for _ in range(30)] != pulls


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.floats(-10, 10)), max_size=30))
def test_a_batch_equals_the_loop(pairs: list[tuple[str, float]]) -> None:
    batch, loop = learner(), learner()
    batch.update([arm for arm, _ in pairs], [reward for _, reward in pairs])
    for arm, reward in pairs:
        loop.update(arm, reward)
    assert batch.to_json() == loop.to_json()
    assert batch.pull() == loop.pull()


def test_nothing_is_learned_from_a_batch_with_one_bad_reward() -> None:
    pupil = learner()
    with pytest.raises(InvalidInput, match="reward of arm 'B' must be a number, got nan"):
        pupil.update(["A", "B"], [1.0, math.nan])
    assert pupil.tally.pulls.sum() == 0


def test_an_excluded_arm_is_not_pulled_and_changes_no_other_draw() -> None:
    free, bound = learner(UCB()), learner(UCB())
    assert {bound.pull(exclude=["A", "C"]) for _ in range(20)} == {"B"}
    free, bound = learner(), learner()
    for pupil in (free, bound):
        pupil.update(["A", "B", "C"], [0.1, 0.2, 0.3])  # no two arms alike, so no ties
    for _ in range(50):
        arm = free.pull()
        spare = next(label for label in "ABC" if label != arm)
        assert bound.pull(exclude=[spare]) == arm


def test_excluding_every_arm_is_refused_and_costs_no_decision() -> None:
    pupil = learner()
    with pytest.raises(InvalidInput, match="exclude leaves no arm to play"):
        pupil.pull(exclude=["A", "B", "C"])
    assert pupil.decisions == 0


def test_arms_come_and_go_while_it_runs() -> None:
    pupil = learner()
    pupil.add_arm("D", (1000, 5.0), bias_bound=0.1)
    for _ in range(20):
        pupil.update(pupil.pull(), 0.0)
    pupil.update("D", 50.0)
    assert pupil.pull() == "D"
    pupil.retire_arm("D")
    assert "D" not in {pupil.pull() for _ in range(50)}
    assert pupil.playable == ("A", "B", "C")
    pupil.update("D", 1.0)  # a late reward still counts
    pupil.restore_arm("D")
    assert pupil.pull() == "D"


def test_the_last_playable_arm_cannot_be_retired() -> None:
    pupil = Learner(TS(), arms=["A", "B"])
    pupil.retire_arm("A")
    with pytest.raises(InvalidInput, match="'B' is the last one"):
        pupil.retire_arm("B")
    pupil.retire_arm("A")


def test_explain_gives_three_numbers_their_median_and_what_decided() -> None:
    pupil = learner()
    play(pupil, 20)
    before = pupil.tally
    arm = pupil.pull()
    why = pupil.explain()
    pupil.update(arm, 3.0)
    assert pupil.explain() == why  # it speaks of the pull, whatever came later
    assert why.arm == arm
    assert why.decision == 21
    stream = keyed_stream(1, "decision", 21)
    for column, label in enumerate("ABC"):
        told = why.arms[label]
        total, pulls = before.totals[column], before.pulls[column]
        n, mean = OFFLINE.n[column], OFFLINE.mean[column]
        with wrapping():
            z_on, z_hyb = normal(stream), normal(stream)
        anchor = total / (pulls + 1)
        expected = {
            "anchor": anchor,
            "online_sample": anchor + z_on / math.sqrt(pulls + 1),
            "hybrid_sample": (total + n * mean) / (pulls + n + 1)
            + n * 0.05 / (pulls + n)
            + z_hyb / math.sqrt(pulls + n + 1),
        }
        assert told.parts == pytest.approx(expected)
        assert told.index == sorted(told.parts.values())[1]
        assert told.decided_by is not None
        assert told.parts[told.decided_by] == told.index
    assert max(why.arms, key=lambda label: why.arms[label].index) == arm
    assert arm in str(why)
    assert "online_sample" in str(why)
    assert json.loads(json.dumps(why.to_json(), allow_nan=False))["arm"] == arm


def test_explain_before_the_first_pull_says_so() -> None:
    with pytest.raises(InvalidInput, match=r"call pull\(\) first"):
        learner().explain()


def test_explain_names_a_tie() -> None:
    pupil = Learner(UCB(), arms=["A", "B"], seed=0)
    pupil.pull()
    assert "broken at random" in pupil.explain().reason


def test_explain_does_not_consume_the_memory_of_a_policy() -> None:
    pupil, silent = learner(ArtificialReplay(base="ts")), learner(ArtificialReplay(base="ts"))
    for _ in range(10):
        assert pupil.pull() == silent.pull()
        pupil.explain()
    assert pupil.to_json() == silent.to_json()


@pytest.mark.parametrize("promise", ["bias_bound", "relative_bound"])
def test_a_rule_that_names_no_numbers_is_explained_in_one_line(promise: str) -> None:
    """It draws several times for one decision; and it does not look at what is promised."""
    bounds: dict[str, Any] = {promise: 0.05}
    pupil = Learner(ArtificialReplay(base="ts"), offline=OFFLINE, seed=1, **bounds)
    arm = pupil.pull()
    why = pupil.explain()
    assert (why.arm, why.guard, why.arms, why.common_move) == (arm, False, {}, None)
    assert str(why) == f"Decision 1: {arm!r} was chosen by the policy's own rule"
    told = json.loads(json.dumps(why.to_json(), allow_nan=False))
    assert (told["arm"], told["arms"], told["common_move"]) == (arm, {}, None)
    pupil.update(arm, 0.5)
    assert pupil.explain() == why


def test_late_rewards_do_not_stop_pulls() -> None:
    pupil = Learner(UCB(), arms=["A", "B"], seed=0)
    arms = [pupil.pull() for _ in range(10)]
    assert set(arms) == {"A", "B"}
    pupil.update(arms, [1.0] * 10)
    assert pupil.tally.pulls.sum() == 10


@dataclass(frozen=True, kw_only=True)
class Greedy(Policy):
    """A policy of one's own."""

    name = "greedy"
    formula = "S/T"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.total / arm.pulls if arm.pulls else math.inf


def test_a_learner_with_a_policy_of_ones_own_is_loaded_with_it(tmp_path: Path) -> None:
    pupil = Learner(Greedy(), arms=["A", "B"], seed=2)
    play(pupil, 10)
    pupil.save(tmp_path / "greedy.json")
    with pytest.raises(UnreadableState, match=r"'greedy' of your own: give it to load"):
        Learner.load(tmp_path / "greedy.json")
    with pytest.raises(UnreadableState, match="saved with 'greedy'"):
        Learner.load(tmp_path / "greedy.json", policy=TS())
    assert play(Learner.load(tmp_path / "greedy.json", policy=Greedy()), 5) == play(pupil, 5)


@dataclass(frozen=True, kw_only=True)
class Eager(TS):
    """A rule of one's own under the name of its parent."""

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean + 9.0 * belief.sd


@dataclass(frozen=True, kw_only=True)
class Astray(Greedy):
    """Plays the first arm, whatever can be played."""

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return 0


def test_a_subclass_under_its_parents_name_is_not_swapped_for_it(tmp_path: Path) -> None:
    Learner(Eager(), arms=["A", "B"], seed=2).save(tmp_path / "eager.json")
    with pytest.raises(UnreadableState, match="give it to load"):
        Learner.load(tmp_path / "eager.json")
    with pytest.raises(UnreadableState, match="'noise': 7"):
        Learner.load(tmp_path / "eager.json", policy=Eager(noise=7))
    assert isinstance(Learner.load(tmp_path / "eager.json", policy=Eager()).policy, Eager)


def test_a_rule_that_chooses_an_excluded_arm_is_refused() -> None:
    pupil = Learner(Astray(), arms=["A", "B"], seed=2)
    assert pupil.pull() == "A"
    assert pupil.explain().arms == {}  # its own rule: no numbers are put down to arms
    with pytest.raises(InvalidInput, match="'greedy' chose 0, which is no arm that can be played"):
        pupil.pull(exclude=["A"])
    assert pupil.decisions == 1


def test_rewards_in_no_order_are_refused() -> None:
    update: Any = learner().update
    with pytest.raises(InvalidInput, match="must be in order"):
        update({"A", "B"}, [1.0, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "reads up to 2: upgrade driftanchor"),
        ({"version": "x"}, "no usable version, got 'x'"),
        ({"kind": "driftanchor/tally"}, "its kind is 'driftanchor/tally'"),
        ({"policy": {"name": "anchor_ts", "parameters": {}}}, "give it to load"),
        ({"policy": 3}, "no usable policy"),
        ({"decisions": -1}, "decisions must be at least 0, got -1"),
        ({"playable": [True]}, "playable has 1 values for 3 arms"),
        ({"memory": [[]]}, "memory has 1 rows for 3 arms"),
        ({"pending": [1]}, "pending has 1 values for 3 arms"),
        ({"pending": [0, 0, -1]}, "pending of arm 'C' must be at least 0, got -1"),
        ({"bias_bounds": [0, 0, -1]}, "bias_bound of arm 'C' must be at least 0, got -1"),
        ({"seed": None}, "seed must be a whole number, got None"),
        ({"tally": {}}, "not a driftanchor tally record"),
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    path.write_text(json.dumps(learner().to_json() | change))
    with pytest.raises(UnreadableState, match=message):
        Learner.load(path)


def test_a_truncated_or_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    with pytest.raises(InvalidInput, match="cannot read"):
        Learner.load(path)
    path.write_text(json.dumps(learner().to_json())[:100])
    with pytest.raises(UnreadableState, match="not valid JSON"):
        Learner.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot read"):
        Learner.load(path)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "learner.json"
    learner().save(path)
    old = path.read_bytes()
    with pytest.raises(InvalidInput, match="cannot write"):
        learner().save(tmp_path / "missing" / "learner.json")
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["learner.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "arms is missing: name the arms"),
        ({"arms": []}, "arms is empty"),
        ({"arms": ["A", "A"]}, "'A' is given twice"),
        ({"arms": [1]}, "arm label must be text, got 1"),
        ({"offline": {"A": (1, 2)}}, "offline must be OfflineData"),
        ({"offline": OFFLINE}, "bias_bound is missing and arm 'A' has 200 logged rewards"),
        ({"offline": OFFLINE, "bias_bound": -0.1}, "bias_bound of arm 'A' must be at least 0"),
        ({"offline": OFFLINE, "bias_bound": {"A": 1}}, "bias_bound has no number for arm 'B'"),
        ({"offline": OFFLINE, "bias_bound": {"X": 1}}, "unknown arm 'X'"),
        ({"offline": OFFLINE, "arms": ["A"], "bias_bound": 1}, "'B' has logs and is not among"),
        ({"arms": ["A"], "policy": "ts"}, "policy must be a Policy"),
        ({"arms": ["A"], "bias_bound_source": "proven"}, "did you mean 'proved'"),
        ({"arms": ["A"], "bias_bound_source": 1}, "must be one of proved, estimated, guessed"),
        (
            {"arms": ["A"], "policy": TS(), "bias_bound_source": "proved"},
            "bias_bound_source is 'proved' and a policy is given",
        ),
        ({"arms": ["A"], "reward_range": (1, 0)}, "must rise"),
        ({"arms": ["A"], "reward_range": (1,)}, r"must be \(lowest, highest\)"),
        ({"arms": ["A"], "seed": -1}, "seed must be at least 0, got -1"),
        ({"arms": ["A"], "seed": 1.5}, "seed must be a whole number, got 1.5"),
    ],
)
def test_bad_construction_is_refused(arguments: dict[str, object], message: str) -> None:
    build: Any = Learner
    with pytest.raises(InvalidInput, match=message):
        build(**arguments)


def test_rewards_outside_the_declared_range_and_unknown_arms_are_refused() -> None:
    pupil = Learner(arms=["A", "B"], reward_range=(0, 1))
    with pytest.raises(InvalidInput, match=r"reward of arm 'A' must be between 0 and 1, got 1\.5"):
        pupil.update("A", 1.5)
    with pytest.raises(UnknownName, match="unknown arm 'a'"):
        pupil.update("a", 1.0)
    with pytest.raises(InvalidInput, match="2 arms and 1 rewards"):
        pupil.update(["A", "B"], [1.0])
    assert pupil.tally.pulls.sum() == 0


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.sampled_from(["A", "B", np.nan, np.array([1.0, 2.0]), np.int64(3), object()]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(JUNK, JUNK, JUNK, JUNK)
def test_junk_gets_success_or_an_error_of_ours(a: object, b: object, c: object, d: object) -> None:
    build: Any = Learner
    pupil: Any = Learner(AnchorTS(), arms=["A", "B"], seed=0)
    attempts = [
        (build, (), {"arms": a, "bias_bound": b, "reward_range": c, "seed": d}),
        (build, (a,), {"offline": OFFLINE, "bias_bound": b}),
        (pupil.update, (a, b), {}),
        (pupil.pull, (), {"exclude": a}),
        (pupil.add_arm, (a, b, c), {}),
        (pupil.retire_arm, (a,), {}),
        (pupil.restore_arm, (a,), {}),
        (pupil.drop_pending, (a, b), {}),
        (build, (), {"arms": "AB", "bias_bound_source": a}),
        (Learner.from_json, (a,), {}),
        (Learner.from_json, (learner().to_json() | {"memory": a, "playable": b, "tally": c},), {}),
        (Learner.from_json, (learner().to_json() | {"pending": a},), {}),
        (
            Learner.from_json,
            (learner().to_json() | {"policy": a, "seed": b, "reward_range": c},),
            {},
        ),
    ]
    for call, arguments, named in attempts:
        with contextlib.suppress(DriftanchorError, UserWarning):  # warnings are errors in tests
            call(*arguments, **named)
