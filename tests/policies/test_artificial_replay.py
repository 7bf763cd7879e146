"""Artificial Replay: logs lived through one by one, and no more of them than asked for."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import (
    TS,
    UCB,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    Evidence,
    InvalidInput,
    Policy,
    Round,
    UnknownName,
)
from driftanchor.core.noise import Stream, keyed_stream, wrapping


class WastefulUCB(UCB):
    """UCB that draws a normal for each arm as Artificial Replay does, so that ties fall alike."""

    normals = 1


PLAIN: dict[str, Policy] = {"ucb": WastefulUCB(), "ts": TS()}
BASES = pytest.mark.parametrize("base", ["ucb", "ts"])


def evidence(logs: list[int], means: list[float]) -> Evidence:
    arms = len(logs)
    return Evidence(
        np.zeros(arms, np.int64),
        np.zeros(arms),
        np.array(logs),
        np.array(means),
        np.zeros(arms),
        np.ones(arms, np.bool_),
        np.zeros((arms, 2)),
        np.zeros(arms, np.int64),
        np.full(arms, np.inf),
    )


def play(rule: Policy, seen: Evidence, rounds: int, seed: int) -> list[int]:
    """Play rounds whose every reward is 0.1; the memory of `seen` is written as in a run."""
    played = []
    with wrapping():
        for t in range(1, rounds + 1):
            stream = keyed_stream(seed, "play", t)
            played.append(rule.choose(seen, Round(t, seen.pulls.size), stream))
            seen.pulls[played[-1]] += 1
            seen.totals[played[-1]] += 0.1
    return played


def test_the_index_is_that_of_the_base_by_hand() -> None:
    arm, now = ArmEvidence(3, 1.2, 9, 9.0, 9.0), Round(11, 2)
    z = Draws(1.0, 0.0, 0.0)
    # (1.2 + 2)/4 + 0.5·1/√4 and 1.2/3 + 0.5 √(3 log 10 / 3)
    ts = ArtificialReplay(base="ts", prior_mean=2.0, noise=0.5)
    ucb = ArtificialReplay(base="ucb", noise=0.5, c=3.0)
    assert ts.index(arm, now, z) == pytest.approx(1.05, rel=1e-14)
    assert ucb.index(arm, now, z) == pytest.approx(0.4 + 0.5 * 1.5174271293851465, rel=1e-14)


@BASES
@given(
    st.lists(st.tuples(st.integers(0, 30), st.floats(-100, 100)), min_size=1, max_size=4),
    st.integers(0, 1000),
)
def test_an_arm_is_played_only_when_its_logs_are_used_up_and_they_add_up_exactly(
    base: str, logs: list[tuple[int, float]], seed: int
) -> None:
    seen = evidence([n for n, _ in logs], [mean for _, mean in logs])
    for arm in set(play(ArtificialReplay(base=base), seen, 20, seed)):
        n, mean = logs[arm]
        assert seen.memory[arm, 0] == n
        if n:
            assert seen.memory[arm, 1] == n * mean
    assert (seen.memory[:, 0] <= seen.offline_pulls).all()


def test_only_as_many_logs_are_used_as_the_base_asks_for() -> None:
    """Hundreds of logs of a bad arm: ten rounds of UCB look at a few of them."""
    seen = evidence([5, 500], [10.0, -10.0])
    assert set(play(ArtificialReplay(), seen, 10, 0)) == {0}
    assert seen.memory[0, 0] == 5
    assert 1 <= seen.memory[1, 0] < 50


def test_replayed_rewards_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """With r left that sum to R the next one is R/r + σ √(1 − 1/r) z: here N = 3, m = 1, σ = 2."""
    seen = evidence([3], [1.0])
    used: list[list[float]] = []

    def one(stream: Stream) -> float:
        used.append(seen.memory[0].tolist())
        return 1.0

    monkeypatch.setattr("driftanchor.policies.artificial_replay.normal", one)
    assert play(ArtificialReplay(noise=2.0), seen, 1, 0) == [0]
    first = 3 / 3 + 2 * math.sqrt(2 / 3)
    second = (3 - first) / 2 + 2 * math.sqrt(1 / 2)
    assert used == [
        [0, 0],
        [1, pytest.approx(first)],
        [2, pytest.approx(first + second)],
    ]
    assert seen.memory.tolist() == [[3, 3.0]]  # the last one is what is missing


@BASES
def test_used_logs_count_as_rounds_and_as_pulls_of_the_base(base: str) -> None:
    seen, lived = evidence([3, 2], [1.0, 2.0]), evidence([0, 0], [0.0, 0.0])
    seen.memory[:] = [[3, 3.0], [2, 4.0]]
    seen.pulls[:], seen.totals[:] = [1, 1], [0.5, 0.25]
    lived.pulls[:], lived.totals[:] = [4, 3], [3.5, 4.25]
    with wrapping():
        for seed in range(50):
            ours, theirs = (keyed_stream(seed, "x", 0) for _ in range(2))
            assert ArtificialReplay(base=base).choose(seen, Round(3, 2), ours) == PLAIN[
                base
            ].choose(lived, Round(8, 2), theirs)


@BASES
def test_without_logs_it_plays_as_its_base(base: str) -> None:
    for seed in range(20):
        ours, theirs = (evidence([0, 0, 0], [0.0, 0.0, 0.0]) for _ in range(2))
        played = play(ArtificialReplay(base=base), ours, 30, seed)
        assert played == play(PLAIN[base], theirs, 30, seed)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"base": None}, "base of policy 'artificial-replay' must be one of ucb, ts, got None"),
        ({"c": 0}, "c of policy 'artificial-replay' must be greater than 0, got 0"),
    ],
)
def test_unusable_parameters_are_refused(parameters: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ArtificialReplay(**parameters)


def test_an_unknown_base_gets_the_nearest() -> None:
    with pytest.raises(
        UnknownName, match="unknown base of policy 'artificial-replay' 'ucb1'; did you mean 'ucb'"
    ):
        ArtificialReplay(base="ucb1")
