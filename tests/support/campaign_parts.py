"""What tests of campaigns share: a clock that stands still, and how to create a small campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from driftanchor import TS, Campaign


@dataclass
class Clock:
    """A clock that moves only when a test says so."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


def create(store: Any, name: str = "c", **options: Any) -> Campaign:
    """A campaign of three arms without logs."""
    given = {"arms": ["A", "B", "C"], "policy": TS(), "reward_range": (0, 1), "seed": 1}
    return Campaign.create(name, store=store, **{"clock": Clock(), **given, **options})


def asked(campaign: Campaign, unit: str | None = None, **options: Any) -> str:
    """The id of a new decision."""
    return str(campaign.ask(unit, **options).id)
