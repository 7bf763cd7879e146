"""simulate: its arguments, its keyed noise, and what it does without Numba."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from stray_policies import Partial, Stray

from driftanchor import (
    TS,
    UCB,
    AnchorTS,
    ArmEvidence,
    Bandit,
    Draws,
    InvalidInput,
    Policy,
    Round,
    UnknownName,
    simulate,
)
from driftanchor.simulation.chunk import Chunk, play
from driftanchor.simulation.run import on_this_machine

if TYPE_CHECKING:
    from conftest import RunPython

BANDIT = Bandit([0.8, 0.5], [0.5, 0.6], 20)
TINY: dict[str, Any] = {"horizon": 5, "runs": 2, "engine": "interpreted"}


@dataclass(frozen=True, kw_only=True)
class Spy(Policy):
    """Plays arm 1 in every `beat`-th round and arm 2 otherwise, and writes down all it is shown.

    Interpreted only. Arms are told apart by their bias bounds, which must be 1 and 2.
    """

    name = "spy"
    formula = "none"
    source = "this test"
    seen: ClassVar[list[tuple[int, ArmEvidence]]] = []

    beat: int = 1

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        self.seen.append((now.t, arm))
        return float((arm.bias_bound == 1) == (now.t % self.beat == 0))


@pytest.fixture
def seen() -> Iterator[list[tuple[int, ArmEvidence]]]:
    Spy.seen.clear()
    yield Spy.seen
    Spy.seen.clear()


def spied(
    beat: int, seen: list[tuple[int, ArmEvidence]], bandit: Bandit, **effort: Any
) -> list[ArmEvidence]:
    """What a spy saw of arm 1, round by round and run by run."""
    seen.clear()
    simulate({"spy": Spy(beat=beat)}, bandit, engine="interpreted", **effort)
    return [arm for _, arm in seen if arm.bias_bound == 1]


def test_logs_are_drawn_anew_in_each_run_and_are_the_same_for_every_policy(
    seen: list[tuple[int, ArmEvidence]],
) -> None:
    bandit = Bandit([0.0, 0.0], [0.5, 0.6], [25, 4], [1, 2])
    every, seldom = (
        [arm.offline_mean for arm in spied(beat, seen, bandit, horizon=3, runs=50, seed=2)]
        for beat in (1, 3)
    )
    assert every == seldom
    assert every[0::3] == every[1::3] == every[2::3]  # within a run they stay
    assert len(set(every)) == 50
    assert spied(1, seen, bandit, horizon=3, runs=50, seed=3)[0].offline_mean != every[0]


@pytest.mark.parametrize("reward", ["gaussian", "bernoulli"])
def test_the_mean_of_the_logs_has_the_law_of_a_mean(
    reward: str, seen: list[tuple[int, ArmEvidence]]
) -> None:
    """z tests of mean and variance over two arms of 2,000 runs: false alarm 2e-6."""
    bandit = Bandit([0.0, 0.0], [0.3, 0.3], 25, [1, 2], reward=reward, noise=2.0)
    spied(1, seen, bandit, horizon=1, runs=2000)
    means = np.array([arm.offline_mean for _, arm in seen])
    assert means.size == 4000
    variance = (4.0 if reward == "gaussian" else 0.3 * 0.7) / 25
    assert abs(means.mean() - 0.3) < 4.9 * math.sqrt(variance / 4000)
    assert abs(means.var() / variance - 1) < 4.9 * math.sqrt(2 / 4000)
    if reward == "bernoulli":
        np.testing.assert_allclose(means * 25, np.round(means * 25), atol=1e-9)


def test_arms_without_logs_show_none(seen: list[tuple[int, ArmEvidence]]) -> None:
    arms = spied(1, seen, Bandit([0.0, 0.0], 5.0, [0, 9], [1, 2]), horizon=1, runs=9)
    assert {(arm.offline_pulls, arm.offline_mean) for arm in arms} == {(0, 0.0)}


def test_every_policy_meets_the_same_rewards_of_an_arm_in_the_same_order(
    seen: list[tuple[int, ArmEvidence]],
) -> None:
    bandit = Bandit([0.5, 0.0], bias_bound=[1, 2])
    every, seldom = (
        {arm.pulls: arm.total for arm in spied(beat, seen, bandit, horizon=60, runs=1)}
        for beat in (1, 3)
    )
    assert len(seldom) == 20
    assert seldom.items() <= every.items()


@pytest.mark.parametrize("reward", ["gaussian", "bernoulli"])
def test_the_mean_of_many_rewards_is_the_mean_of_the_arm_and_not_half_of_it(
    reward: str, seen: list[tuple[int, ArmEvidence]]
) -> None:
    """10,000 pulls of one arm, five standard errors: false alarm 6e-7."""
    bandit = Bandit([0.8], bias_bound=[1], reward=reward)
    last = spied(1, seen, bandit, horizon=10_001, runs=1)[-1]
    assert last.pulls == 10_000
    error = 1.0 if reward == "gaussian" else math.sqrt(0.8 * 0.2)
    assert abs(last.total / last.pulls - 0.8) < 5 * error / 100


@pytest.mark.parametrize(
    ("policies", "names"),
    [
        ("ts", ("ts",)),
        (TS(), ("ts",)),
        (["ucb", TS()], ("ucb", "ts")),
        ((UCB(),), ("ucb",)),
        ({"b": TS(), "a": TS(noise=2.0)}, ("b", "a")),
    ],
)
def test_policies_come_as_names_policies_or_a_mapping(
    policies: object, names: tuple[str, ...]
) -> None:
    result = simulate(policies, BANDIT, **TINY)
    assert result.policies == names
    assert result.regret.shape == (len(names), 2, 5)
    assert result.pulls.shape == (len(names), 2, 2)
    assert (result.horizon, result.runs, result.seed) == (5, 2, 0)


def test_a_policy_under_two_names_plays_alike() -> None:
    result = simulate({"a": AnchorTS(), "b": AnchorTS()}, BANDIT, **TINY)
    assert (result.pulls[0] == result.pulls[1]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": "anchor_ts"}, "unknown policy 'anchor_ts'; did you mean 'anchor-ts'?"),
        ({"policies": []}, "policies is empty: name at least one policy"),
        ({"policies": {}}, "policies is empty: name at least one policy"),
        ({"policies": None}, "policies must map names to policies, got None"),
        ({"policies": {"x": "ts"}}, "policy 'x' must be a Policy such as AnchorTS(), got 'ts'"),
        ({"policies": {"": TS()}}, "a policy's name must be text, got ''"),
        ({"policies": {3: TS()}}, "a policy's name must be text, got 3"),
        ({"policies": [TS(), "ts"]}, "policy 'ts' is given twice: use a mapping with two names"),
        ({"policies": TS}, "policies must map names to policies, got <class"),
        ({"bandit": [0.8, 0.5]}, "bandit must be a Bandit, got [0.8, 0.5]"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"horizon": 2.5}, "horizon must be a whole number, got 2.5"),
        ({"runs": 0}, "runs must be between 1 and 1e+09, got 0"),
        ({"runs": "5"}, "runs must be a whole number, got '5'"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": None}, "seed must be a whole number, got None"),
        ({"checkpoints": 0}, "checkpoints must be between 1 and 1e+07, got 0"),
        ({"checkpoints": True}, "checkpoints must be a whole number, got True"),
        ({"checkpoints": [6]}, "checkpoints must be between 1 and 5, got 6"),
        ({"checkpoints": [0]}, "checkpoints must be between 1 and 5, got 0"),
        ({"checkpoints": "10"}, "checkpoints must be a list of values, got '10'"),
        ({"threads": 0}, "threads must be between 1 and 4096, got 0"),
        ({"engine": "every_round"}, "unknown engine 'every_round'; did you mean 'every-round'?"),
        ({"engine": None}, "engine must be one of auto, events,"),
        ({"progress": 3}, "progress must be a function, got 3"),
        ({"horizon": 10**5, "checkpoints": 10**5, "runs": 10**9}, "fewer runs or checkpoints"),
    ],
)
def test_unusable_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    arguments = {"policies": "ts", "bandit": BANDIT, **TINY} | change
    with pytest.raises(InvalidInput, match=re.escape(message)):
        simulate(**arguments)


def test_an_unknown_engine_is_an_unknown_name() -> None:
    with pytest.raises(UnknownName, match="unknown engine 'gpu'; known: auto, events"):
        simulate("ts", BANDIT, engine="gpu")


@pytest.mark.parametrize(
    ("asked", "rounds"),
    [
        (100, list(range(1, 21))),
        (4, [5, 10, 15, 20]),
        (1, [20]),
        (np.int64(2), [10, 20]),
        ([3, 20], [3, 20]),
        ([7, 3, 7.0], [3, 7, 20]),
        (np.array([2, 4]), [2, 4, 20]),
        ([], [20]),
    ],
)
def test_regret_is_read_after_the_checkpoints_and_at_the_horizon(
    asked: Any, rounds: list[int]
) -> None:
    effort: dict[str, Any] = {"horizon": 20, "runs": 3, "engine": "interpreted"}
    every = simulate("ts", BANDIT, checkpoints=20, **effort)
    some = simulate("ts", BANDIT, checkpoints=asked, **effort)
    assert some.checkpoints.tolist() == rounds
    assert some.regret.tolist() == every.regret[:, :, np.array(rounds) - 1].tolist()


def test_progress_is_told_until_all_is_done() -> None:
    told: list[tuple[int, int]] = []
    simulate(
        ["ts", "ucb"],
        BANDIT,
        horizon=2,
        runs=70,
        engine="interpreted",
        progress=lambda done, of: told.append((done, of)),
    )
    assert [of for _, of in told] == [140] * len(told)
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert told[-1] == (140, 140)


def test_stopping_in_progress_stops_at_once(seen: list[tuple[int, ArmEvidence]]) -> None:
    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    bandit = Bandit([0.0, 0.0], bias_bound=[1, 2])
    with pytest.raises(KeyboardInterrupt):
        simulate({"spy": Spy()}, bandit, horizon=2, runs=6400, engine="interpreted", progress=stop)
    assert len(seen) < 6400 * 2 * 2


@pytest.mark.parametrize("engine", ["interpreted", "every-round"])
def test_an_index_that_is_nan_never_wins_and_is_refused_when_all_are(engine: str) -> None:
    with pytest.raises(
        InvalidInput, match="policy 'mine' chose no arm: its index is NaN for every arm"
    ):
        simulate({"mine": Partial()}, Bandit([0.1, 0.2]), horizon=3, runs=2, engine=engine)
    some = simulate(
        {"mine": Partial()}, Bandit([0.1, 0.2], 0.0, [0, 3], 1.0), horizon=3, runs=2, engine=engine
    )
    assert some.pulls.tolist() == [[[0, 3], [0, 3]]]


def test_without_numba_it_warns_and_interprets(run_python: RunPython) -> None:
    told = run_python("""
import sys, warnings
sys.modules["numba"] = None
import driftanchor as da
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = da.simulate(["ts", "artificial-replay"], da.Bandit([0.5, 0.4]), horizon=60, runs=9)
print(result.engine, result.pulls.tolist())
print(len(caught), caught[0].category.__name__, caught[0].filename, caught[0].message)
try:
    da.simulate("ts", da.Bandit([0.5, 0.4]), horizon=5, runs=1, engine="every-round")
except da.MissingExtra as error:
    print(error)
""")
    engine, warning, error = told.splitlines()
    policies = ["ts", "artificial-replay"]
    here = simulate(policies, Bandit([0.5, 0.4]), horizon=60, runs=9, engine="interpreted")
    assert engine == f"interpreted {here.pulls.tolist()}"
    assert warning.startswith("1 UserWarning <string> Numba is not installed, so runs are ")
    assert warning.endswith('pip install ".[fast]"')
    assert (
        error
        == 'compiled simulation needs numba: in a clone of driftanchor, run pip install ".[fast]"'
    )


def test_with_numba_auto_compiles() -> None:
    assert simulate("ts", BANDIT, horizon=5, runs=1).engine == "events"


def job(policy: Policy, runs: int, engine: str = "every-round") -> Chunk:
    effort: dict[str, Any] = {"horizon": 30, "runs": runs, "seed": 0, "checkpoints": 1}
    return Chunk.all_runs("x", policy, Bandit([0.8, 0.5, 0.2]), engine=engine, **effort)


@pytest.mark.parametrize("threads", [1, 3])
def test_chunks_come_in_the_order_of_the_jobs_with_their_numbers(threads: int) -> None:
    jobs = [job(TS(), 40), job(UCB(), 3, "interpreted"), job(UCB(), 25)]
    parts = list(on_this_machine(jobs, threads))
    numbers = [(i, chunk.first) for i, chunk, _ in parts]
    assert numbers == sorted(numbers)
    for i, whole in enumerate(jobs):
        mine = [played for number, _, played in parts if number == i]
        for k, expected in enumerate(play(whole)):
            assert np.array_equal(np.concatenate([played[k] for played in mine]), expected)


def test_jobs_are_taken_a_little_before_they_are_played() -> None:
    taken = []

    def jobs() -> Iterator[Chunk]:
        for i in range(40):
            taken.append(i)
            yield job(TS(), 1)

    parts = on_this_machine(jobs(), 2)
    assert next(parts)[0] == 0
    assert len(taken) == 9  # four for each thread, and the one that came back
    parts.close()


def test_in_batches_all_runs_of_a_job_are_played_together() -> None:
    (part,) = on_this_machine([job(TS(), 40)], 2, in_batches=True)
    assert part[1].runs == 40
    assert (part[2][1].sum(axis=1) == 30).all()


def test_an_error_of_a_thread_is_raised() -> None:
    with pytest.raises(InvalidInput, match="chose no arm"):
        list(on_this_machine([job(Stray(what=7), 4)], 2))
