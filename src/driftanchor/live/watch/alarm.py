"""Alarm: a promise about the logs that live rewards have broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core import check, record
from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.live.state_events import Distrusted

PROMISES = ("bias_bound", "relative_bound")


class Mark(NamedTuple):
    """When something happened, as the caller counts: a number, and a time for people."""

    number: int
    time: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """One arm of an alarm.

    Attributes:
        column: The arm.
        bound: What was promised of it.
        move: How far it moved: from its logs, or, where the promise is relative, from where the
            other arms moved. The interval is right at all times together.
        rewards: Its live rewards by then.
    """

    column: int
    bound: float
    move: Estimate
    rewards: int


@dataclass(frozen=True, slots=True)
class Alarm:
    """A promise was broken; the first time counts, and it stays.

    Attributes:
        promise: `"bias_bound"` or `"relative_bound"`.
        arms: The arms that moved. If there are several, at least one of them did, and the rewards
            do not show which.
        seen: When the rewards showed it.
        began: When the move began, as far as the rewards show; None if they do not.
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
        """When the move began, if a time is known for that, else when it was seen."""
        return self.seen if self.began is None or not self.began.time else self.began

    def distrust(self) -> tuple[Distrusted, ...]:
        """The events after which the logs of these arms no longer count."""
        return tuple(Distrusted(column) for column in self.columns)

    def to_json(self) -> record.Record:
        """For programs, and for `from_json`."""
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
