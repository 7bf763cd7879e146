"""A saved learner goes on as it was, and a damaged file is refused."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pupils import (
    OFFLINE,
    learner,
    moved_learner,
    neglected,
    play,
    play_moved,
    without_digests,
)

from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    DriftanchorError,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
    UnreadableState,
)
from driftanchor.core.posterior import Posterior
from driftanchor.live.records import GAINED


def waiting(learner: Learner) -> dict[str, int]:
    return dict(zip(learner.arms, learner.pending.tolist(), strict=True))


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


@pytest.mark.parametrize("policy", [name for name in POLICIES if POLICIES[name]().accepts((0, 3))])
def test_a_relative_bound_is_saved(policy: str, tmp_path: Path) -> None:
    pupil = moved_learner(policy)
    play_moved(pupil, 10)
    pupil.save(tmp_path / "l.json")
    again = Learner.load(tmp_path / "l.json")
    assert again.relative_bounds.tolist() == pupil.relative_bounds.tolist()
    assert play_moved(again, 10) == play_moved(pupil, 10)


def test_what_waits_is_saved(tmp_path: Path) -> None:
    learner = neglected(4_000)
    for _ in range(3):
        learner.pull()
    learner.add_arm("D")
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert waiting(loaded) == waiting(learner)
    assert sum(waiting(loaded).values()) == 3
    assert [loaded.pull() for _ in range(10)] == [learner.pull() for _ in range(10)]


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


def test_a_subclass_under_its_parents_name_is_not_swapped_for_it(tmp_path: Path) -> None:
    Learner(Eager(), arms=["A", "B"], seed=2).save(tmp_path / "eager.json")
    with pytest.raises(UnreadableState, match="give it to load"):
        Learner.load(tmp_path / "eager.json")
    with pytest.raises(UnreadableState, match="'noise': 7"):
        Learner.load(tmp_path / "eager.json", policy=Eager(noise=7))
    assert isinstance(Learner.load(tmp_path / "eager.json", policy=Eager()).policy, Eager)


@pytest.mark.parametrize("name", POLICIES)
def test_a_record_that_lacks_a_parameter_of_its_policy_is_refused(name: str) -> None:
    """A default in its place would be another policy."""
    for parameter in POLICIES[name]().parameters().keys() - GAINED.get(name, {}):
        record = without_digests(learner(POLICIES[name]()).to_json())
        del record["policy"]["parameters"][parameter]
        with pytest.raises(UnreadableState, match=f"lacks '{parameter}' of policy '{name}'"):
            Learner.from_json(record)


@dataclass(frozen=True, kw_only=True)
class Levelled(Greedy):
    """A policy with a parameter that JSON turns into something else, or cannot hold."""

    name = "levelled"
    levels: Any = (1, 2.0)


def test_parameters_of_ones_own_come_back_or_are_refused(tmp_path: Path) -> None:
    read: Any = Learner.from_json
    record = json.loads(json.dumps(Learner(Levelled(), arms=["A"], seed=1).to_json()))
    assert Learner.from_json(record, policy=Levelled()).policy == Levelled()
    with pytest.raises(UnreadableState, match="but the learner was saved with 'levelled'"):
        Learner.from_json(record, policy=Levelled(levels=(1, 3)))
    for levels in (np.int64(3), math.nan):
        with pytest.raises(InvalidInput, match="'levelled' has parameters that JSON cannot hold"):
            Learner(Levelled(levels=levels), arms=["A"]).save(tmp_path / "l.json")
    with pytest.raises(InvalidInput, match="policy must be a Policy such as"):
        read(record, policy="ts")


def test_a_loaded_learner_keeps_the_default_it_was_made_with() -> None:
    logs = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})
    pupil = Learner(offline=logs, bias_bound=5.0, bias_bound_source="guessed")
    loaded = Learner.from_json(pupil.to_json())
    assert loaded.policy == pupil.policy
    assert loaded.reasons == pupil.reasons
    assert "the bounds are guessed" in loaded.reasons[3]


def test_a_record_from_before_has_no_relative_bounds() -> None:
    record = without_digests(moved_learner(bias_bound=0.1).to_json())
    assert record["version"] == 1
    del record["relative_bounds"]
    assert Learner.from_json(record).relative_bounds.tolist() == [math.inf] * 3


@pytest.mark.parametrize("rest", [{}, {"relative_bounds": None}])
def test_a_record_that_lost_its_relative_bounds_is_refused(rest: dict[str, Any]) -> None:
    record = moved_learner().to_json()
    del record["relative_bounds"]
    with pytest.raises(UnreadableState, match="lacks 'relative_bounds': the file is damaged"):
        Learner.from_json(record | rest)


def test_a_record_that_others_would_misread_says_so() -> None:
    record = moved_learner().to_json()
    assert record["version"] == 2
    assert json.loads(json.dumps(record, allow_nan=False))["relative_bounds"] == [0.05] * 3
    with pytest.raises(UnreadableState, match="relative_bound of arm 'B' must be at least 0"):
        Learner.from_json(record | {"relative_bounds": [0.1, -1, 0.1]})


def test_a_file_with_too_few_relative_bounds_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "l.json"
    file.write_text(json.dumps(moved_learner().to_json() | {"relative_bounds": [0.1]}))
    with pytest.raises(UnreadableState, match="relative_bound has 1 values for 3 arms"):
        Learner.load(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 3}, "reads up to 2: upgrade driftanchor"),
        ({"version": "x"}, "no usable version, got 'x'"),
        ({"kind": "driftanchor/tally"}, "its kind is 'driftanchor/tally'"),
        ({"policy": {"name": "anchor_ts", "parameters": {}}}, "give it to load"),
        ({"policy": 3}, "no usable policy"),
        ({"decisions": -1}, "decisions must be at least 0, got -1"),
        ({"playable": [True]}, "true or false for each of 3 arms, got .True."),
        ({"playable": [1, 1, 1]}, "true or false for each of 3 arms, got .1, 1, 1."),
        ({"seed": 2}, "not what its digest says"),
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


RECORDS = Path(__file__).parent / "records"
NEXT = {  # the pulls that follow; those of the driftanchor which wrote the record, if not said
    "version-1": "AADDBBDDADDD",
    "version-1-first": "AADDBBDDADDD",  # before there were relative bounds
    "version-1-memory": "BAABBAABAAAB",
    "version-2": "DDDDDDDABBDB",  # as of the guard that gives every arm a little hope
}


@pytest.mark.parametrize("name", NEXT)
def test_records_of_earlier_versions_go_on_as_they_would_have(name: str) -> None:
    pupil = Learner.load(RECORDS / f"{name}.json")
    assert pupil.reasons == ()  # they were not written then
    assert pupil.playable == ("A", "B", "D")
    assert pupil.decisions == 49
    assert np.isfinite(pupil.relative_bounds).any() == (name == "version-2")
    pulled = []
    for t in range(12):
        pulled.append(pupil.pull())
        if t % 4:
            reward = {"A": 0.4, "B": 0.5, "D": 0.45}[pulled[-1]] + 0.1 * (t % 3)
            pupil.update(pulled[-1], reward)
    assert "".join(pulled) == NEXT[name]


@pytest.mark.parametrize("name", ["version-1", "version-1-memory", "version-2"])
def test_a_record_of_an_earlier_version_is_written_again_as_it_was(name: str) -> None:
    old = json.loads((RECORDS / f"{name}.json").read_text())
    again = without_digests(Learner.from_json(old).to_json())
    gained = GAINED.get(old["policy"]["name"], {})
    assert {again["policy"]["parameters"].pop(name) for name in gained} == set(gained.values())
    assert again == old | {"reasons": []}


@pytest.mark.parametrize("policy", [None, ArtificialReplay(base="ts"), GuardedAnchorTS()])
def test_what_is_loaded_equals_what_was_saved(policy: Policy | None, tmp_path: Path) -> None:
    pupil = Learner(policy, offline=OFFLINE, bias_bound=0.05, reward_range=(0, 2), seed=3)
    play(pupil, 20)
    pupil.add_arm("D", (10, 0.4), bias_bound=math.inf)
    pupil.pull()
    pupil.retire_arm("C")
    pupil.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert (loaded.terms, loaded.state) == (pupil.terms, pupil.state)
    assert bool(loaded.reasons) is (policy is None)


def test_loading_warns_of_nothing(tmp_path: Path) -> None:
    far = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})
    with pytest.warns(UserWarning, match="rewards are in other units than AnchorTS expects"):
        pupil = Learner(AnchorTS(), offline=far, bias_bound=5.0, seed=1)
    pupil.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")  # warnings are errors in tests
    assert (loaded.terms, loaded.state) == (pupil.terms, pupil.state)


def test_reasons_that_are_no_texts_are_refused() -> None:
    for reasons in ([1], "text", None):
        with pytest.raises(DriftanchorError, match="reasons must be"):
            Learner.from_json(learner().to_json() | {"reasons": reasons})
