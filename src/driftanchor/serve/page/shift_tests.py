"""Shift tests: how far each arm moved from its logs, and its alarm limits.

An arm with a bias bound V raises an alarm when its interval [low, high] leaves [−V, V]. With a
relative bound W the limits depend on the other arms: they leave a range [a, b] for the common move,
and the arm raises an alarm when [low, high] leaves [a − W, b + W].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.posterior import Posterior
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.status import stands
from driftanchor.live.watch.alarm import Alarm
from driftanchor.live.watch.alarm_prose import alarm_text
from driftanchor.live.watch.watch import ArmWatch, Watch
from driftanchor.serve.page.believed import number
from driftanchor.serve.page.sentence import alarm_sentence

UNWATCHED = "nothing is promised of its logs, or it has none"


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
    lines = _relative_lines(watch)
    alarms = [alarm for alarm in watch.alarms if stands(alarm, current.terms)]
    rung = {i for alarm in alarms for i in alarm.columns}
    distrusts = current.settings.on_alarm == "distrust"
    rows = [
        _row(labels[i], arm, lines[i], i in rung, i in current.distrusted)
        for i, arm in enumerate(watch.arms)
    ]
    return {
        "level": watch.level,
        "arms": rows,
        "common_move": _common(watch, belief),
        "alarms": [_alarm(alarm, labels, distrusts, now) for alarm in alarms],
    }


def _row(
    label: str, arm: ArmWatch, line: tuple[float, float], rung: bool, distrusted: bool
) -> dict[str, Any]:
    watched = arm.ruler.logged > 0
    level = arm.ruler.bias_bound
    low, high = max(-level, line[0]), min(level, line[1])
    return {
        "label": label,
        "watched": watched,
        "why_not": None if watched else ("distrusted" if distrusted else UNWATCHED),
        "rewards": arm.n,
        "move": number(arm.move) if watched else None,
        "low": number(arm.low),
        "high": number(arm.high),
        "bias_bound": number(level),
        "relative_bound": number(arm.ruler.relative_bound),
        "alarm_below": number(low),
        "alarm_above": number(high),
        "alarm": rung,
    }


def _relative_lines(watch: Watch) -> list[tuple[float, float]]:
    """For each arm, between which ends its interval must reach; infinite where nothing is said.

    Arms that an alarm has named count no longer for the others, as in `look`.
    """
    lines = [(-math.inf, math.inf)] * len(watch.arms)
    known, fitting = _measured(watch)
    low, high = _reach(watch, fitting)
    for i in known:
        others = np.array([column != i for column in fitting], np.bool_)
        if others.any():
            ends = float(low[others].max()), float(high[others].min())
            bound = watch.arms[i].ruler.relative_bound
            lines[i] = (min(ends) - bound, max(ends) + bound)
    return lines


def _measured(watch: Watch) -> tuple[list[int], list[int]]:
    """The arms with a relative bound and rewards, and those of them that no alarm has named."""
    known = [i for i, arm in enumerate(watch.arms) if arm.n and arm.ruler.relative_bound < math.inf]
    named = {i for x in watch.alarms if x.promise == "relative_bound" for i in x.columns}
    return known, [i for i in known if i not in named]


def _reach(watch: Watch, columns: list[int]) -> tuple[Floats, Floats]:
    """Between which ends each of some arms leaves the common move."""
    arms = [watch.arms[i] for i in columns]
    bounds = np.array([arm.ruler.relative_bound for arm in arms])
    low = np.array([arm.low for arm in arms]) - bounds
    return low, np.array([arm.high for arm in arms]) + bounds


def _common(watch: Watch, belief: Posterior | None) -> dict[str, Any] | None:
    if belief is None:
        return None
    known, fitting = _measured(watch)
    ends: tuple[float, float] = (-math.inf, math.inf)
    if fitting:
        low, high = _reach(watch, fitting)
        ends = float(low.max()), float(high.min())
    return {
        "mean": belief.mean,
        "sd": belief.sd,
        "low": number(ends[0]),
        "high": number(ends[1]),
        "fits": ends[0] <= ends[1] and len(fitting) == len(known),
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
