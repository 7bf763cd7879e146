"""In a window the leader leads and no guard pull is due, whatever its rewards within the band."""

import math
from typing import Any

import numpy as np
import pytest
from guarded_cases import arm, judged, seen

from driftanchor import ArmEvidence, Evidence, GuardedAnchorTS
from driftanchor.core.common_move import common_move, is_relative
from driftanchor.policies.guarded_beliefs import beliefs
from driftanchor.policies.guarded_bounds import guess
from driftanchor.simulation.engines.guarded.window import find_window

RULES = {"insured": GuardedAnchorTS(), "proved": GuardedAnchorTS(budget=0.0, eps=0.0)}
STATES: dict[str, list[ArmEvidence]] = {
    "no logs": [arm(800, 0.5), arm(60, -0.2), arm(50, -0.3)],
    "V": [arm(800, 0.5, 90, 0.7, 0.3), arm(60, -0.2, 900, -0.2, 0.1), arm(40, -0.4)],
    "logs that praise": [arm(300, 0.5, 5_000, 0.9, 0.4), arm(60, -0.2, 90, 0.1, 0.2)],
    "logs that blame": [arm(300, 0.5, 5_000, 0.1, 0.4), arm(60, -0.4, 90, 0.1, 0.2)],
    "W": [
        arm(900, 0.5, 200, 1.5, relative=0.1),
        arm(60, -0.2, 300, 0.7, relative=0.1),
        arm(60, -0.3, 20, 0.8, relative=0.0),
    ],
    "W beside a leader without logs": [arm(900, 0.5), arm(60, -0.2, 300, 0.7, relative=0.1)],
    "both": [
        arm(900, 0.5, 200, 0.4, bound=0.3, relative=0.1),
        arm(60, -0.2, 300, -0.1, bound=0.1, relative=0.4),
    ],
    "not the most pulled": [arm(120, 0.9), arm(500, 0.1), arm(60, -0.2)],
}


def with_leader(state: Evidence, leader: int, pulls: int, mean: float) -> Evidence:
    counts, totals = state.pulls.copy(), state.totals.copy()
    counts[leader], totals[leader] = pulls, pulls * mean
    return state._replace(pulls=counts, totals=totals)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", STATES)
def test_the_leader_leads_and_no_guard_pull_is_due(name: str, rule: str) -> None:
    policy, state = RULES[rule], seen(STATES[name])
    t = int(state.pulls.sum()) + 1
    window = find_window(policy, state, t, 64, 0)
    assert window.rounds >= 8
    rng = np.random.default_rng(1)
    ends = (window.low, min(window.high, window.low + 1.0))
    for _ in range(60):
        played = int(rng.integers(0, window.rounds + 1))
        mean = float(rng.choice([*ends, rng.uniform(*ends)]))
        after = with_leader(state, window.leader, int(state.pulls[window.leader]) + played, mean)
        ours = judged(policy, after, t + played)
        assert (ours.leader, ours.guard) == (window.leader, False)
        if is_relative(after):
            move = common_move(after, policy.noise)
            assert window.moves.low - 1e-12 <= move.mean <= window.moves.high + 1e-12
            assert window.moves.least_sd - 1e-12 <= move.sd <= window.moves.most_sd + 1e-12
        guesses = [guess(policy, one, ours) for one in arms_of(after)]
        assert guesses[window.leader] >= window.guess - 1e-12
        others = guesses[: window.leader] + guesses[window.leader + 1 :]
        assert max(others) <= window.second + 1e-12


def arms_of(state: Evidence) -> list[ArmEvidence]:
    rows: Any = zip(
        state.pulls, state.totals, state.offline_pulls, state.offline_means,
        state.bias_bounds, state.pending, state.relative_bounds, strict=True,
    )  # fmt: skip
    return [ArmEvidence(*row) for row in rows]


def test_there_is_no_window_where_something_may_happen() -> None:
    policy = GuardedAnchorTS()
    assert find_window(policy, seen([arm(5_000, 0.5), arm(0)]), 5_001, 64, 0).rounds == 0  # unknown
    assert (
        find_window(policy, seen([arm(5_000, 0.5), arm(5, -0.9)]), 10**6, 64, 0).rounds == 0
    )  # due
    assert find_window(policy, seen([arm(0, logs=9, bound=0.0)]), 1, 64, 0).rounds == 0  # no reward
    assert beliefs(policy, arm(0)).sd == math.inf


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", STATES)
def test_whichever_arm_is_looked_at_first_the_window_is_the_same(name: str, rule: str) -> None:
    policy, state = RULES[rule], seen(STATES[name])
    t = int(state.pulls.sum()) + 1
    for longest in (64, 10**4, 10**6):
        windows = [
            find_window(policy, state, t, longest, rival)._replace(rival=0)
            for rival in range(state.pulls.size)
        ]
        assert windows == [windows[0]] * len(windows)


def test_a_window_names_the_arm_that_was_in_the_way() -> None:
    state = seen([arm(5_000, 0.5), arm(500, -0.9), arm(5, -0.9)])
    assert find_window(GuardedAnchorTS(), state, 10**6, 64, 0).rival == 2
