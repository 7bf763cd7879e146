"""Shift tests: how far each arm moved from its logs, and its alarm limits.

An arm with a bias bound V raises an alarm when its interval [low, high] lies outside [−V, V]. With
a relative bound W the limits depend on the other arms: their intervals leave a range [a, b] for the
common move, and the arm raises an alarm when [low, high] lies outside [a − W, b + W].
"""

from __future__ import annotations

import math
from typing import Any

from driftanchor.core.posterior import Posterior
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.status import stands
from driftanchor.live.watch.alarms import Alarm, alarm_text
from driftanchor.live.watch.watch import ArmWatch, Watch
from driftanchor.serve.page.page_intervals import finite
from driftanchor.serve.page.sentences import alarm_sentence

UNWATCHED = "nothing is promised of its logs, or it has none"
NO_LIMITS = (-math.inf, math.inf)


def shift_tests(
    watch: Watch, current: CampaignState, belief: Posterior | None, now: float
) -> dict[str, Any]:
    """Return the tests of all arms, the common move, and the alarms so far.

    Args:
        watch: The running statistics of the tests.
        current: The state of the campaign.
        belief: The belief about the common move; `None` without relative bounds.
        now: The time.
    """
    labels = current.terms.arms.labels
    alarms = [alarm for alarm in watch.alarms if stands(alarm, current.terms)]
    alarmed = {column for alarm in alarms for column in alarm.columns}
    distrusts = current.settings.on_alarm == "distrust"
    moves, tested = _common_moves(watch)
    rows = [
        {
            "label": labels[column],
            **_test(arm, _limits(column, arm, moves), column in current.distrusted),
            "alarm": column in alarmed,
        }
        for column, arm in enumerate(watch.arms)
    ]
    return {
        "level": watch.level,
        "arms": rows,
        "common_move": None if belief is None else _common_move(belief, moves, tested),
        "alarms": [_alarm(alarm, labels, distrusts, now) for alarm in alarms],
    }


def _test(arm: ArmWatch, limits: tuple[float, float], distrusted: bool) -> dict[str, Any]:
    watched = arm.ruler.logged > 0
    return {
        "watched": watched,
        "why_not": None if watched else ("distrusted" if distrusted else UNWATCHED),
        "rewards": arm.n,
        "move": finite(arm.move) if watched else None,
        "low": finite(arm.low),
        "high": finite(arm.high),
        "bias_bound": finite(arm.ruler.bias_bound),
        "relative_bound": finite(arm.ruler.relative_bound),
        "alarm_below": finite(limits[0]),
        "alarm_above": finite(limits[1]),
    }


def _common_moves(watch: Watch) -> tuple[dict[int, tuple[float, float]], int]:
    """Return the range of common moves that fits each arm, and how many arms have relative bounds.

    Arms that an alarm has named are left out, as in the test.
    """
    tested = [
        i for i, arm in enumerate(watch.arms) if arm.n and arm.ruler.relative_bound < math.inf
    ]
    named = {i for x in watch.alarms if x.promise == "relative_bound" for i in x.columns}
    moves = {}
    for i in tested:
        if i not in named:
            arm, bound = watch.arms[i], watch.arms[i].ruler.relative_bound
            moves[i] = (arm.low - bound, arm.high + bound)
    return moves, len(tested)


def _limits(
    column: int, arm: ArmWatch, moves: dict[int, tuple[float, float]]
) -> tuple[float, float]:
    """Return the arm's alarm limits; infinite without a bound."""
    low, high = -arm.ruler.bias_bound, arm.ruler.bias_bound
    bound = arm.ruler.relative_bound
    others = [ends for i, ends in moves.items() if i != column]
    if arm.n and bound < math.inf and others:
        ends = _intersection(others)
        low, high = max(low, min(ends) - bound), min(high, max(ends) + bound)
    return low, high


def _intersection(intervals: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the intersection of some intervals; low exceeds high if it is empty."""
    return max(low for low, _ in intervals), min(high for _, high in intervals)


def _common_move(
    belief: Posterior, moves: dict[int, tuple[float, float]], tested: int
) -> dict[str, Any]:
    low, high = _intersection(list(moves.values())) if moves else NO_LIMITS
    return {
        "mean": belief.mean,
        "sd": belief.sd,
        "low": finite(low),
        "high": finite(high),
        "fits": low <= high and len(moves) == tested,
    }


def _alarm(alarm: Alarm, labels: tuple[str, ...], distrusts: bool, now: float) -> dict[str, Any]:
    return {
        "promise": alarm.promise,
        "arms": [labels[column] for column in alarm.columns],
        "short": alarm_sentence(alarm, labels, now),
        "seen": alarm.seen.time,
        "began": alarm.began.time if alarm.began is not None else None,
        "text": alarm_text(alarm, labels, distrusts),
    }
