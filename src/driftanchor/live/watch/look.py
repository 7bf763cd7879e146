"""Look: which promises the intervals of all arms together contradict.

The intervals of all arms hold together with probability 1 − α. Where they do, a bias bound V that
is kept meets its arm's interval [low, high], and relative bounds W that are kept leave a common
move c that is in all of [low − W, high + W]. So one level covers both kinds of promises.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.stats.intervals import Estimate
from driftanchor.live.watch.alarm import Alarm, Mark, Moved
from driftanchor.live.watch.watch import ArmWatch, Watch


def look(watch: Watch, mark: Mark) -> Watch:
    """The watch with the alarms that are new; it may be asked after every reward.

    Args:
        watch: What is kept of the rewards.
        mark: When the last of them came.
    """
    new = [*_level_alarms(watch, mark), *_relative_alarms(watch, mark)]
    return replace(watch, alarms=(*watch.alarms, *new)) if new else watch


def _level_alarms(watch: Watch, mark: Mark) -> list[Alarm]:
    """Arms that are further from their logs than V."""
    known = _named(watch, "bias_bound")
    found = []
    for column, arm in enumerate(watch.arms):
        bound = arm.ruler.bias_bound
        if column not in known and (arm.low > bound or arm.high < -bound):
            began = arm.rising if arm.low > bound else arm.falling
            moved = Moved(column, bound, Estimate(arm.move, arm.low, arm.high), arm.n)
            found.append(Alarm("bias_bound", (moved,), mark, began))
    return found


def _relative_alarms(watch: Watch, mark: Mark) -> list[Alarm]:
    """The arms without which all others have moved alike, if there is no such move for all."""
    known = _named(watch, "relative_bound")
    columns = np.array(
        [
            column
            for column, arm in enumerate(watch.arms)
            if arm.n and arm.ruler.relative_bound < math.inf and column not in known
        ],
        np.int64,
    )
    if columns.size < 2:
        return []
    arms = [watch.arms[i] for i in columns]
    bounds = np.array([arm.ruler.relative_bound for arm in arms])
    low = np.array([arm.low for arm in arms]) - bounds
    high = np.array([arm.high for arm in arms]) + bounds
    if low.max() <= high.min():
        return []
    outside = misfits(low, high)
    inside = np.setdiff1d(np.arange(len(arms)), outside)
    moved = []
    for i in outside.tolist():
        others = inside if inside.size else np.setdiff1d(np.arange(len(arms)), [i])
        apart = _apart(arms, low, high, i, others)
        moved.append(Moved(int(columns[i]), float(bounds[i]), apart, arms[i].n))
    return [Alarm("relative_bound", tuple(moved), mark)]


def misfits(low: Floats, high: Floats) -> Ints:
    """The intervals that a point in as many intervals as possible leaves out.

    If several points are in equally many, all intervals that one of them leaves out are named.

    Example:
        >>> misfits(np.array([0.0, 0.1, 5.0]), np.array([1.0, 1.1, 6.0])).tolist()
        [2]
        >>> misfits(np.array([0.0, 5.0]), np.array([1.0, 6.0])).tolist()
        [0, 1]
    """
    # The most intervals meet at the lower end of one of them.
    count = np.searchsorted(np.sort(low), low, side="right") - np.searchsorted(np.sort(high), low)
    named = np.zeros(low.size, np.bool_)
    for point in np.unique(low[count == count.max()]):
        named |= (low > point) | (high < point)
    return np.flatnonzero(named)


def _apart(arms: list[ArmWatch], low: Floats, high: Floats, i: int, others: Ints) -> Estimate:
    """How far an arm is from where the others moved."""
    ends = sorted((float(low[others].max()), float(high[others].min())))
    weights = 1.0 / (high[others] - low[others]) ** 2
    common = float(weights @ [arms[j].move for j in others] / weights.sum())
    arm = arms[i]
    return Estimate(arm.move - common, arm.low - ends[1], arm.high - ends[0])


def _named(watch: Watch, promise: str) -> set[int]:
    """The arms that alarms about a promise have named before."""
    return {i for alarm in watch.alarms if alarm.promise == promise for i in alarm.columns}
