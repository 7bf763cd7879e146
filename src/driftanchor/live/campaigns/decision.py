"""Decision and Receipt: the results of `ask` and `tell`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from driftanchor.core import check, record
from driftanchor.errors import InvalidInput, shown


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of a campaign: which arm to play.

    Attributes:
        id: The id that `tell` and `expose` take: random, so that nobody can guess it. `None` for a
            decision that is not recorded (`peek`).
        arm: The arm to play.
        propensity: The probability with which the arm was drawn; NaN for the default of a `Client`,
            which was not drawn.
        replayed: Whether this decision was made before, for the same unit or the same key.
        campaign: The name of the campaign.
        number: 1 for the first decision of the campaign, and so on.
        unit: The unit that it is for, if one was given.
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
        """Return a JSON-ready record."""
        body = {name: getattr(self, name) for name in self.__slots__}
        return record.seal("decision", 1, body)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of reporting a reward or an exposure.

    Attributes:
        decision_id: The decision.
        status: `"recorded"`: it counts from now on. `"replayed"`: it was recorded before, and
            nothing changed. `"late"`: it came after the window and does not count. `"corrected"`:
            it came after the window and replaces the default reward, or it is a correction.
            `"ignored"`: it is for the default of a `Client`, and does not count.
        arm: The arm of the decision.
        reward: The reward that counts; `None` if there is none.
    """

    decision_id: str
    status: str
    arm: str
    reward: float | None

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        body = {name: getattr(self, name) for name in self.__slots__}
        return record.seal("receipt", 1, body)


def new_id() -> str:
    """Return a random id of 32 hexadecimal digits."""
    return os.urandom(16).hex()


def decision_id_text(value: object) -> str:
    """Validate a decision id: printable text."""
    if not isinstance(value, str) or not value.isprintable():
        raise InvalidInput(
            f"must be an id that ask() returned, got {shown(value)}", argument="decision_id"
        )
    return value


def reward_pairs(rewards: Iterable[tuple[str, float]]) -> list[tuple[Any, Any]]:
    """Return pairs of a decision id and a reward; only their shape is checked."""
    pairs: list[Any] = check.ordered(rewards, "rewards")
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput(
                f"must be pairs of a decision and its reward, got {shown(pair)}",
                argument="rewards",
            )
    return pairs
