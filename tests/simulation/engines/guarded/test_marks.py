"""One round at a fixed state: by marks each arm is played as often as the plain rule plays it.

How likely the rule plays each arm is computed, and tested with the propensities of live decisions.
Pearson's statistic against its bound at 1e-7 (Laurent & Massart 2000), and rare arms at 1e-7; with
8 states false alarms 2e-6 in all. Shares of two arms that are 0.14 apart are told apart nine times
in ten, in the state "W" those 0.09 apart. Seeds are fixed.
"""

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from guarded_cases import arm, seen
from round_shares import fit

from driftanchor import ArmEvidence, GuardedAnchorTS
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Round
from driftanchor.core.noise import keyed_stream, uniform, wrapping
from driftanchor.live.propensities import propensities
from driftanchor.simulation.engines.guarded import marked_round as marked
from driftanchor.simulation.engines.guarded import marks
from driftanchor.simulation.engines.guarded.window import find_window

Counts = npt.NDArray[np.float64]
TRIES, MORE = 750, 2_000
RULE = GuardedAnchorTS()
PROVED = GuardedAnchorTS(budget=0.0, eps=0.0)
STATES: dict[str, list[ArmEvidence]] = {
    "no logs": [arm(320, 0.5), arm(300, 0.45), arm(310, 0.44)],
    "V": [arm(320, 0.5, 90, 0.55, 0.3), arm(300, 0.45, 90, 0.46, 0.3), arm(310, 0.45)],
    "a leader between others": [arm(300, 0.45), arm(320, 0.5), arm(310, 0.45)],
    "W": [
        arm(320, 0.5, 600, 1.5, relative=0.05),
        arm(300, 0.43, 500, 1.43, relative=0.05),
        arm(310, 0.42, 400, 1.44, relative=0.05),
    ],
    "W beside arms without logs": [
        arm(320, 0.5, 40, 1.5, relative=0.2),
        arm(300, 0.45),
        arm(310, 0.44, 20, 1.44, relative=0.2),
    ],
    "both": [
        arm(320, 0.5, 50, 0.48, bound=0.3, relative=0.1),
        arm(300, 0.44, 60, 0.44, bound=0.3, relative=0.1),
    ],
    "one arm": [arm(300, 0.5, 9, 0.4, 0.1)],
    # Where bounds are proved, logs alone rule arms out: no guard pull is due, and draws overlap.
    "proved V": [arm(40, 0.5, 300, 0.5, 0.0), arm(30, 0.44, 300, 0.44, 0.0)],
}


def rule_of(name: str) -> GuardedAnchorTS:
    return PROVED if name.startswith("proved") else RULE


def tries(name: str) -> range:
    """As many rounds as it takes to see the faults below."""
    return range(MORE if name == "W" else TRIES)


@functools.cache
def plainly(name: str) -> Floats:
    """How likely the rule plays each arm."""
    state = seen(STATES[name])
    now = Round(int(state.pulls.sum()) + 1, state.pulls.size)
    chances = propensities(rule_of(name), state, now)
    assert chances is not None
    return chances


def by_marks(name: str) -> Counts:
    """The same by a level close below the leader: a round is marked or not."""
    state, counts = seen(STATES[name]), np.zeros(len(STATES[name]))
    t, table = int(state.pulls.sum()) + 1, marks.make_marks(counts.size)
    stream = keyed_stream(5, f"{name} by marks", 0)
    rule = rule_of(name)
    with wrapping():
        window = find_window(rule, state, t, 24, 0)
        assert window.rounds > 0
        top = min(window.low, window.guess)
        level = max(top - 0.02, 0.5 * (top + window.second))
        rate = marks.fill(rule, state, window, table, level)
        assert 0.0 < rate < 1.0
        for _ in tries(name):
            if uniform(stream) >= rate:
                counts[window.leader] += 1
            else:
                counts[marked.marked_round(rule, state, window, table, level, t, stream)] += 1
    return counts


def agrees(name: str) -> bool:
    return fit(by_marks(name), plainly(name), false_alarm=1e-7)


@pytest.mark.parametrize("name", STATES)
def test_a_round_is_played_as_the_rule_plays_it(name: str) -> None:
    assert agrees(name)


# what is broken, where, how, and in which state it shows
FAULTS: dict[str, tuple[Any, str, Any, str]] = {
    "half a tail": (marks, "upper", lambda real: lambda x: 0.5 * real(x), "proved V"),
    "draws on the wrong side": (
        marked, "draw_upper", lambda real: lambda x, s: x - 0.5, "proved V",
    ),
    "a common move that is not drawn": (
        marked, "normal_within", lambda real: lambda low, high, s: 4.0, "W",
    ),
    "marks of the leader that always count": (
        marked, "upper", lambda real: lambda x: 1.0, "W",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, broken, state = FAULTS[fault]
    assert agrees(state)
    monkeypatch.setattr(module, name, broken(getattr(module, name)))
    assert not agrees(state)


def test_bins_cover_all_draws() -> None:
    edges = [marks.lower_edge(b) for b in range(marks.BINS)] + [math.inf]
    assert edges[0] == -math.inf
    assert edges == sorted(edges)
    assert 0.0 in edges  # `normal_within` draws from one side
    assert [marks.upper_edge(b) for b in range(marks.BINS)] == edges[1:]


@pytest.mark.parametrize("name", STATES)
def test_marks_that_are_surely_few_are(name: str) -> None:
    """The level is that of `find_level`, and no bound is below what it bounds, as levels move."""
    arms, rule = STATES[name], rule_of(name)
    table, sure = marks.make_marks(len(arms)), 0
    marks.forget(table)
    for gain in (0.3, 0.31, 0.3, 0.5, 0.29, 0.6):
        first = arms[0]._replace(total=arms[0].total + gain * arms[0].pulls)
        state = seen([first, *arms[1:]])
        window = find_window(rule, state, int(state.pulls.sum()) + 1, 24, 0)
        assert window.rounds > 0
        level, hazard = marks.few_marks(rule, state, window, table)
        exact, rate = marks.find_level(rule, state, window, marks.make_marks(len(arms)))
        assert hazard >= -math.log1p(-rate)
        if level < math.inf:
            sure += 1
            assert level == exact
            assert rate * window.rounds < marks.FEW
    assert bool(sure) == (name in ("no logs", "V", "a leader between others", "one arm"))


def test_a_new_run_keeps_nothing_of_the_last() -> None:
    state = seen(STATES["no logs"])
    state.totals[0] += 200.0
    window = find_window(RULE, state, 1_000, 24, 0)
    table = marks.make_marks(3)
    marks.forget(table)
    marks.few_marks(RULE, state, window, table)
    assert table.kept_pulls.tolist() == [-1.0, 300.0, 310.0]  # none of the leader
    marks.forget(table)
    assert table.kept_pulls.tolist() == [-1.0] * 3
