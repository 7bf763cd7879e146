"""Decision and Receipt: the results of `ask` and `tell`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from driftanchor.core import check, record
from driftanchor.errors import InvalidInput, shown


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of a campaign: which arm to play.

    Attributes:
        id: What `tell` and `expose` take. It is random and cannot be guessed. `None` for a decision
            that was only looked at (`peek`).
        arm: The arm to play.
        propensity: How likely the arm was when it was drawn; NaN for a default that a `Client`
            gave, as nothing was drawn.
        replayed: Whether this decision was made before, for the same unit or the same key.
        campaign: The name of the campaign.
        number: 1 for the first decision of the campaign, and so on.
        unit: Who it is for, if a unit was given.
        epoch: The epoch of the campaign it belongs to.
        due: When the reward window ends, in seconds since 1970; `None` without a window, or before
            the decision was shown.
        note: Why a unit got a new decision although it had one; empty otherwise.
    """

    id: str | None
    arm: str
    propensity: float
    replayed: bool
    campaign: str
    number: int
    unit: str | None = None
    epoch: int = 0
    due: float | None = None
    note: str = ""

    def to_json(self) -> record.Record:
        """A JSON-ready record."""
        body = {name: getattr(self, name) for name in self.__slots__}
        return record.seal("decision", 1, body)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What happened to a reward or an exposure that was reported.

    Attributes:
        decision_id: The decision.
        status: `"recorded"`: it counts from now on. `"replayed"`: it was recorded before, and
            nothing changed. `"late"`: it came after the window and does not count. `"corrected"`:
            it came after the window and replaces the default reward. `"ignored"`: it is for a
            default that a `Client` gave, and does not count.
        arm: The arm of the decision.
        reward: The reward that counts; `None` if there is none.
    """

    decision_id: str
    status: str
    arm: str
    reward: float | None

    def to_json(self) -> record.Record:
        """A JSON-ready record."""
        body = {name: getattr(self, name) for name in self.__slots__}
        return record.seal("receipt", 1, body)


def decision_id_text(value: object) -> str:
    """Check that a value can be a decision id; ids are printable text."""
    if not isinstance(value, str) or not value.isprintable():
        raise InvalidInput(
            f"must be an id that ask() returned, got {shown(value)}", argument="decision_id"
        )
    return value


def reward_pairs(rewards: Iterable[tuple[str, float]]) -> list[tuple[Any, Any]]:
    """Pairs of a decision and its reward, neither of which is checked yet."""
    pairs: list[Any] = check.ordered(rewards, "rewards")
    for pair in pairs:
        if type(pair) is tuple and len(pair) == 2:  # nearly always
            continue
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput(
                f"must be pairs of a decision and its reward, got {shown(pair)}",
                argument="rewards",
            )
    return pairs
