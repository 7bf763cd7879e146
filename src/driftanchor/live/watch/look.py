"""Look: find the bounds that the intervals of all arms together contradict.

The intervals of all arms hold together with probability 1 − α. If they hold, a true bias bound V
intersects its arm's interval [low, high], and true relative bounds W leave a common move c that
lies in every [low − W, high + W]. So one level covers both kinds of bounds. If the rewards of all
arms vary enough, each arm is also compared with all others together: see `apart`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.stats.intervals import Estimate
from driftanchor.live.watch.alarm import Alarm, Mark, Moved
from driftanchor.live.watch.apart import NOBODY, added, log_e_apart, reach_apart, rest_of
from driftanchor.live.watch.move_interval import apart_prior, ruler_noise, side_of
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
        return [] if known else _apart_alarms(watch, mark)
    outside = misfits(low, high)
    inside = np.setdiff1d(np.arange(len(arms)), outside)
    moved = []
    for i in outside.tolist():
        others = inside if inside.size else np.setdiff1d(np.arange(len(arms)), [i])
        apart = _apart(arms, low, high, i, others)
        moved.append(Moved(int(columns[i]), float(bounds[i]), apart, arms[i].n))
    return [Alarm("relative_bound", tuple(moved), mark)]


def _apart_alarms(watch: Watch, mark: Mark) -> list[Alarm]:
    """The arm that moved apart from all others together, if there is one; of two arms both."""
    columns = [i for i, arm in enumerate(watch.arms) if arm.n and arm.ruler.rest]
    if len(columns) < 2:
        return []
    seen = [(arm.ruler, arm.n, arm.total) for arm in map(watch.arms.__getitem__, columns)]
    rulers = [ruler for ruler, _, _ in seen]
    sides, rests = [], []
    members = [side_of(r, n, total, r.rest) for r, n, total in seen]
    every = functools.reduce(added, members, NOBODY)
    for (ruler, n, total), member in zip(seen, members, strict=True):
        sides.append(side_of(ruler, n, total, 1.0))
        rests.append(rest_of(every, member, ruler.rest * apart_prior(ruler)))
    evidence = [
        log_e_apart(side, rest) + math.log(r.miss)
        for side, rest, r in zip(sides, rests, rulers, strict=True)
    ]
    if max(evidence) < 0.0:
        return []
    named = [evidence.index(max(evidence))] if len(columns) > 2 else [0, 1]
    moved = []
    for k in named:
        ruler, side, rest = rulers[k], sides[k], rests[k]
        noise = ruler_noise(ruler)
        reach = noise * (reach_apart(side, rest, ruler.miss) + rest.bound)
        gap = noise * (side.move - rest.move)
        far = Estimate(gap, gap - reach, gap + reach)
        moved.append(Moved(columns[k], ruler.relative_bound, far, watch.arms[columns[k]].n))
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
    """Return the arms named in earlier alarms about a bound, unless the bound was widened."""
    return {
        moved.column
        for alarm in watch.alarms
        if alarm.promise == promise
        for moved in alarm.arms
        if moved.bound >= getattr(watch.arms[moved.column].ruler, promise)
    }
