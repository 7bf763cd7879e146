"""Watch: the running statistics that test whether each arm's logs still fit.

**Which rewards, in which order.** Rewards are tested in the order of their decisions. If a
reward's delay depends on its value, as when a click comes at once and "no click" when the window
closes, early rewards are better than later ones, and a test in arrival order is invalid. So add a
reward only once it and all earlier decisions of its arm are settled: rewarded, given the default
reward, or expired. If delays do not depend on the reward, any order is valid.

**How bounds are tested.** The intervals of all arms hold together with probability 1 − α. If they
hold and the bounds are true, each arm's interval [low, high] intersects [−V, V], and some common
move lies in every [low − W, high + W]. So one level covers both kinds of bounds. If the rewards of
all arms vary enough, each arm is also compared with all others together.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.check import Floats, Ints
from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.live.state_events import ArmAdded, BoundsChanged, Distrusted, Event
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarms import Alarm, Mark, Moved
from driftanchor.live.watch.move_intervals import (
    NO_ARMS,
    UNWATCHED,
    Ruler,
    add_side,
    apart_prior,
    gap_radius,
    log_evidence,
    move_interval,
    prediction,
    rest_of,
    ruler_noise,
    ruler_of,
    side_of,
)

LEVEL = 0.01  # probability of a false alarm in a whole campaign
FIRST = 0.9  # share of the level for the first arms; arms added later get the rest
START = Mark(0)


class ArmWatch(NamedTuple):
    """The running statistics of one arm."""

    ruler: Ruler
    n: int = 0
    total: float = 0.0
    squares: float = 0.0  # of errors of predictions: see `move_interval`
    low: float = -math.inf  # lower end of the interval of the move since the logs
    high: float = math.inf  # upper end
    least: float = 0.0  # the minimum so far of Σ (reward − mean − V)
    rising: Mark = START  # the reward after that minimum: a move up began there
    most: float = 0.0  # the maximum so far of Σ (reward − mean + V)
    falling: Mark = START  # the reward after that maximum: a move down began there

    @property
    def move(self) -> float:
        """The live mean minus the logged one; NaN without rewards."""
        return self.total / self.n - self.ruler.mean if self.n else math.nan


@dataclass(frozen=True, slots=True)
class Watch:
    """The running statistics of all arms, and the alarms so far.

    Attributes:
        level: α, the probability of any false alarm in the campaign while all bounds hold.
        arms: The statistics of each arm, by column.
        added: The number of arms added after the start.
        alarms: The alarms, oldest first.

    Example:
        >>> from driftanchor import OfflineData
        >>> logs = OfflineData.from_summary({"A": (2000, 0.1), "B": (2000, 0.1)})
        >>> terms = Terms.declare(offline=logs, bias_bound=0.02, reward_range=(0, 1), seed=1)
        >>> watch = fold(Watch.start(terms), [0] * 1000, [1.0, 0.0, 0.0, 0.0] * 250, Mark(1000))
        >>> round(watch.arms[0].move, 3), watch.arms[0].low > 0.02
        (0.15, True)
        >>> Watch.from_json(watch.to_json()) == watch
        True
    """

    level: float
    arms: tuple[ArmWatch, ...]
    added: int = 0
    alarms: tuple[Alarm, ...] = ()

    @classmethod
    def start(cls, terms: Terms, level: float = LEVEL) -> Watch:
        """Return the watch before the first reward.

        The level is divided among all watched arms. It need not be divided between the two kinds
        of bounds: if every interval is right, no true bound looks violated.
        """
        level = check.number(level, "level", above=0.0, high=0.5)
        promised = np.minimum(terms.bias_bounds, terms.relative_bounds) < math.inf
        watched = max(int((promised & (terms.offline.n > 0)).sum()), 1)
        miss = FIRST * level / watched
        return cls(level, tuple(ArmWatch(ruler_of(terms, i, miss)) for i in range(len(terms.arms))))

    def after(self, event: Event, terms: Terms) -> Watch:
        """Return the watch after an event that changed the terms; `terms` are the new ones.

        The n-th added arm gets 1/(n (n + 1)) of the remaining level. A distrusted arm is no longer
        watched. After that, arms are no longer compared with all others together, because the
        choice of the remaining arms would depend on the data.
        """
        if isinstance(event, ArmAdded):
            n = self.added + 1
            miss = (1.0 - FIRST) * self.level / (n * (n + 1))
            new = ArmWatch(ruler_of(terms, len(self.arms), miss))
            return replace(self, arms=(*self.arms, new), added=n)
        if isinstance(event, BoundsChanged):
            return self._rebound(terms)
        if isinstance(event, Distrusted):
            arms = list(self.arms)
            arms[event.column] = arms[event.column]._replace(ruler=UNWATCHED)
            arms = [arm._replace(ruler=arm.ruler._replace(rest=0.0)) for arm in arms]
            return replace(self, arms=tuple(arms))
        return self

    def _rebound(self, terms: Terms) -> Watch:
        """Return the watch under new bounds; the intervals of the moves stay valid.

        An arm that had no bound before is watched from now on, like an added arm.
        """
        arms, added = list(self.arms), self.added
        for column, arm in enumerate(self.arms):
            level, relative = terms.bias_bounds.item(column), terms.relative_bounds.item(column)
            if arm.ruler.logged:
                ruler = arm.ruler._replace(bias_bound=level, relative_bound=relative)
                arms[column] = arm._replace(ruler=ruler)
            elif min(level, relative) < math.inf and terms.offline.n[column] > 0:
                added += 1
                miss = (1.0 - FIRST) * self.level / (added * (added + 1))
                arms[column] = ArmWatch(ruler_of(terms, column, miss)._replace(rest=0.0))
        return replace(self, arms=tuple(arms), added=added)

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        return {
            "level": self.level,
            "added": self.added,
            "arms": [_flat(arm) for arm in self.arms],
            "alarms": [alarm.to_json() for alarm in self.alarms],
        }

    @classmethod
    def from_json(cls, data: object) -> Watch:
        """Read what `to_json` wrote."""
        if not isinstance(data, dict):
            raise UnreadableState(f"the record of a watch is damaged: {shown(data)}")
        try:
            arms = tuple(_arm(row) for row in data["arms"])
            alarms = tuple(Alarm.from_json(x) for x in data["alarms"])
            level = check.number(data["level"], "level", above=0.0, high=0.5)
            return cls(level, arms, check.whole(data["added"], "added"), alarms)
        except (InvalidInput, KeyError, TypeError, ValueError) as error:
            raise UnreadableState(f"the record of a watch is damaged: {error}") from error


def fold(watch: Watch, columns: Sequence[int], rewards: Sequence[float], mark: Mark) -> Watch:
    """Return the watch after some rewards, in the order of their decisions."""
    arms = list(watch.arms)
    for column, reward in zip(columns, rewards, strict=True):
        if arms[column].ruler.logged:
            arms[column] = _with_reward(arms[column], reward, mark)
    for column in set(columns):
        arm = arms[column]
        if arm.ruler.logged:
            low, high = move_interval(arm.ruler, arm.n, arm.total, arm.squares)
            arms[column] = arm._replace(low=low, high=high)
    return replace(watch, arms=tuple(arms))


def correct(watch: Watch, column: int, before: float, after: float) -> Watch:
    """Return the watch after a folded reward was corrected, which should be rare.

    Do not fold a default reward while a late reward may still replace it.
    """
    arm = watch.arms[column]
    if not arm.ruler.logged or arm.n == 0:
        return watch
    expected = prediction(arm.ruler, arm.n - 1, arm.total - before)
    change = (after - expected) ** 2 - (before - expected) ** 2
    total, squares = arm.total + (after - before), max(arm.squares + change, 0.0)
    low, high = move_interval(arm.ruler, arm.n, total, squares)
    arms = list(watch.arms)
    arms[column] = arm._replace(total=total, squares=squares, low=low, high=high)
    return replace(watch, arms=tuple(arms))


def add_alarms(watch: Watch, mark: Mark) -> Watch:
    """Return the watch with the new alarms. It may be called after every reward."""
    new = [*_level_alarms(watch, mark), *_relative_alarms(watch, mark)]
    return replace(watch, alarms=(*watch.alarms, *new)) if new else watch


def _level_alarms(watch: Watch, mark: Mark) -> list[Alarm]:
    """Return alarms about arms that moved further than V."""
    known = _named(watch, "bias_bound")
    alarms = []
    for column, arm in enumerate(watch.arms):
        bound = arm.ruler.bias_bound
        if column not in known and (arm.low > bound or arm.high < -bound):
            began = arm.rising if arm.low > bound else arm.falling
            moved = Moved(column, bound, Estimate(arm.move, arm.low, arm.high), arm.n)
            alarms.append(Alarm("bias_bound", (moved,), mark, began))
    return alarms


def _relative_alarms(watch: Watch, mark: Mark) -> list[Alarm]:
    """Return an alarm about the arms that do not fit a common move, if there are any."""
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
        apart = _distance(arms, low, high, i, others)
        moved.append(Moved(int(columns[i]), float(bounds[i]), apart, arms[i].n))
    return [Alarm("relative_bound", tuple(moved), mark)]


def _apart_alarms(watch: Watch, mark: Mark) -> list[Alarm]:
    """Return an alarm about the arm that moved apart from all others, or about both of two arms."""
    columns = [i for i, arm in enumerate(watch.arms) if arm.n and arm.ruler.rest]
    if len(columns) < 2:
        return []
    seen = [(arm.ruler, arm.n, arm.total) for arm in map(watch.arms.__getitem__, columns)]
    rulers = [ruler for ruler, _, _ in seen]
    sides, rests = [], []
    members = [side_of(r, n, total, r.rest) for r, n, total in seen]
    every = functools.reduce(add_side, members, NO_ARMS)
    for (ruler, n, total), member in zip(seen, members, strict=True):
        sides.append(side_of(ruler, n, total, 1.0))
        rests.append(rest_of(every, member, ruler.rest * apart_prior(ruler)))
    evidence = [
        log_evidence(side, rest) + math.log(r.miss)
        for side, rest, r in zip(sides, rests, rulers, strict=True)
    ]
    if max(evidence) < 0.0:
        return []
    named = [evidence.index(max(evidence))] if len(columns) > 2 else [0, 1]
    moved = []
    for k in named:
        ruler, side, rest = rulers[k], sides[k], rests[k]
        noise = ruler_noise(ruler)
        reach = noise * (gap_radius(side, rest, ruler.miss) + rest.bound)
        gap = noise * (side.move - rest.move)
        far = Estimate(gap, gap - reach, gap + reach)
        moved.append(Moved(columns[k], ruler.relative_bound, far, watch.arms[columns[k]].n))
    return [Alarm("relative_bound", tuple(moved), mark)]


def misfits(low: Floats, high: Floats) -> Ints:
    """Return the intervals that do not contain the point that most intervals contain.

    If several points tie, return the intervals that miss at least one of them.

    Example:
        >>> misfits(np.array([0.0, 0.1, 5.0]), np.array([1.0, 1.1, 6.0])).tolist()
        [2]
        >>> misfits(np.array([0.0, 5.0]), np.array([1.0, 6.0])).tolist()
        [0, 1]
    """
    # The largest number of intervals overlaps at the lower end of one of them.
    count = np.searchsorted(np.sort(low), low, side="right") - np.searchsorted(np.sort(high), low)
    named = np.zeros(low.size, np.bool_)
    for point in np.unique(low[count == count.max()]):
        named |= (low > point) | (high < point)
    return np.flatnonzero(named)


def _distance(arms: list[ArmWatch], low: Floats, high: Floats, i: int, others: Ints) -> Estimate:
    """Return how far an arm is from where the others moved."""
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


def _with_reward(arm: ArmWatch, reward: float, mark: Mark) -> ArmWatch:
    ruler, n, total = arm.ruler, arm.n, arm.total
    error = reward - prediction(ruler, n, total)
    least, rising, most, falling = arm.least, arm.rising, arm.most, arm.falling
    if ruler.bias_bound < math.inf:
        above = total - n * (ruler.mean + ruler.bias_bound)
        below = total - n * (ruler.mean - ruler.bias_bound)
        if above <= least:
            least, rising = above, mark
        if below >= most:
            most, falling = below, mark
    return ArmWatch(
        ruler,
        n + 1,
        total + reward,
        arm.squares + error * error,
        arm.low,
        arm.high,
        least,
        rising,
        most,
        falling,
    )


def _flat(arm: ArmWatch) -> list[object]:
    """Return all numbers of an arm, in order."""
    rest: list[object] = [x if isinstance(x, Mark) else record.encode(x) for x in arm[1:]]
    return [[record.encode(x) for x in arm.ruler], *rest]


def _arm(row: Any) -> ArmWatch:
    ruler, *numbers = row
    values: Any = [Mark(*x) if isinstance(x, list | tuple) else record.decode(x) for x in numbers]
    measure: Any = map(record.decode, ruler)
    return ArmWatch(Ruler(*measure), *values)
