"""Alarms: bounds on the logs that live rewards have violated, and their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core import check, record
from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.live.state_events import Distrusted
from driftanchor.render.numbers import count, interval, rounded

PROMISES = ("bias_bound", "relative_bound")
CAUSES = (
    "Check what changed since the logs: the arm itself, who sees it, the season, or how rewards "
    "are counted."
)
STILL = (
    "Decisions still use the logs as far as was promised, so they may favour the wrong arm until "
    "enough live rewards have come."
)
GONE = "From now on the logs of {named} do not count: decisions use live rewards alone."


class Mark(NamedTuple):
    """A point in time: a number from the caller's own count, and a timestamp as text."""

    number: int
    time: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """One arm of an alarm.

    Attributes:
        column: The arm.
        bound: Its bound.
        move: How far it moved from its logs; for a relative bound, relative to the other arms. The
            interval is anytime-valid.
        rewards: Its number of live rewards by then.
    """

    column: int
    bound: float
    move: Estimate
    rewards: int


@dataclass(frozen=True, slots=True)
class Alarm:
    """A violated bound. An alarm stays, with the time at which it was first seen.

    Attributes:
        promise: `"bias_bound"` or `"relative_bound"`.
        arms: The arms that moved. If there are several, at least one of them did, and the rewards
            do not show which.
        seen: When the rewards showed it.
        began: When the move seems to have begun; `None` if unknown.
    """

    promise: str
    arms: tuple[Moved, ...]
    seen: Mark
    began: Mark | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the arms that moved."""
        return tuple(arm.column for arm in self.arms)

    @property
    def since(self) -> Mark:
        """When the move began, or when it was seen if the start is unknown."""
        return self.seen if self.began is None or not self.began.time else self.began

    def distrust(self) -> tuple[Distrusted, ...]:
        """Return the events that distrust the logs of these arms."""
        return tuple(Distrusted(column) for column in self.columns)

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        return {
            "promise": self.promise,
            "arms": [
                {
                    "column": arm.column,
                    "bound": arm.bound,
                    "move": arm.move.to_json(),
                    "rewards": arm.rewards,
                }
                for arm in self.arms
            ],
            "seen": list(self.seen),
            "began": None if self.began is None else list(self.began),
        }

    @classmethod
    def from_json(cls, data: object) -> Alarm:
        """Read what `to_json` wrote."""
        if not isinstance(data, dict):
            raise UnreadableState(f"the record of an alarm is damaged: {shown(data)}")
        try:
            arms = tuple(_moved(arm) for arm in data["arms"])
            seen, began = data["seen"], data["began"]
            promise = check.choice(data["promise"], "promise", PROMISES)
            return cls(promise, arms, Mark(*seen), None if began is None else Mark(*began))
        except (InvalidInput, KeyError, TypeError) as error:
            raise UnreadableState(f"the record of an alarm is damaged: {shown(data)}") from error


def _moved(data: record.Record) -> Moved:
    move = data["move"]
    ends = [check.number(record.decode(move[x]), x) for x in ("value", "low", "high")]
    bound = check.number(data["bound"], "bound", low=0.0)
    return Moved(check.whole(data["column"], "column"), bound, Estimate(*ends), data["rewards"])


def alarm_text(alarm: Alarm, labels: Sequence[str], distrusts: bool = False) -> str:
    """Return the text of an alarm: what happened, since when, and what to do."""
    named = " and ".join(f"{labels[arm.column]!r}" for arm in alarm.arms)
    if distrusts:
        rest = f"{GONE.format(named=named)} {CAUSES}"
    else:
        rest = f"{STILL} {CAUSES} {_remedy(alarm, named)}"
    return f"{_violation(alarm, labels, named)} {_when(alarm)} {rest}"


def _violation(alarm: Alarm, labels: Sequence[str], named: str) -> str:
    if alarm.promise == "bias_bound":
        (arm,) = alarm.arms
        return (
            f"The logs of {named} no longer fit: its live mean is {_far(arm)} its logged mean, and "
            f"at most {rounded(arm.bound)} was promised."
        )
    if len(alarm.arms) == 1:
        (arm,) = alarm.arms
        return (
            f"{named} no longer moves with the other arms: compared with the logs it is "
            f"{_far(arm)} where the others are, and at most {rounded(arm.bound)} was promised."
        )
    each = "; ".join(
        f"{labels[arm.column]!r} is {_far(arm)} the others, and {rounded(arm.bound)} was promised"
        for arm in alarm.arms
    )
    return (
        f"{named} have moved apart further than was promised: compared with the logs {each}. At "
        "least one of them broke the promise; the rewards do not show which."
    )


def _far(arm: Moved) -> str:
    side = "above" if arm.move.value >= 0 else "below"
    low, high = sorted((abs(arm.move.low), abs(arm.move.high)))
    if arm.move.low < 0 < arm.move.high:
        return f"{rounded(abs(arm.move.value))} {side}"
    return f"{rounded(abs(arm.move.value))} ({interval(low, high)}) {side}"


def _when(alarm: Alarm) -> str:
    rewards = count(sum(arm.rewards for arm in alarm.arms), "live reward")
    text = f"This became clear {_at(alarm.seen)}, after {rewards} of the arm"
    text += "s" if len(alarm.arms) > 1 else ""
    began = alarm.began
    if began is None or began.number >= alarm.seen.number:
        return f"{text}."
    return f"{text}; the move seems to have begun {_at(began)}."


def _at(mark: Mark) -> str:
    at = f"at reward {mark.number:,}"
    return f"{at} ({mark.time})" if mark.time else at


def _remedy(alarm: Alarm, named: str) -> str:
    name = "bias bound" if alarm.promise == "bias_bound" else "relative bound"
    return (
        f"If there is a cause, distrust the logs of {named}, or start a new campaign with a larger "
        f"{name}."
    )
