"""Flags: a campaign as OpenFeature sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from driftanchor.live.campaigns.asking import LONGEST, Ask, is_text
from driftanchor.live.campaigns.batch import Batch, Needs
from driftanchor.live.campaigns.decision import Decision

NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")  # what any JSON reader keeps exactly
DISABLED = "disabled"  # the variant of a campaign that has no value


class Refused(Exception):
    """A request that does not say who is asked for.

    Args:
        code: The error code of OpenFeature.
        details: What is wrong.
    """

    def __init__(self, code: str, details: str) -> None:
        super().__init__(details)
        self.code, self.details = code, details


@dataclass(frozen=True)
class Found:
    """What a unit gets of a campaign.

    Attributes:
        decision: Its decision; `None` if the campaign is paused.
        arms: All arms of the campaign, which say of what type the value is.
    """

    decision: Decision | None
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Evaluate:
    """A request for the arm of a unit.

    Attributes:
        unit: The unit.
        assign: Whether the decision counts only once it was shown.
    """

    unit: str
    assign: bool = False

    @property
    def needs(self) -> Needs:
        """What must be known before."""
        return Needs(units=(self.unit,))

    def __call__(self, batch: Batch) -> Found:
        """What the unit gets. While a campaign is paused all play the application's default."""
        arms = tuple(batch.current.terms.arms)
        if batch.current.counters.paused:
            return Found(None, arms)
        return Found(Ask(self.unit, assign=self.assign)(batch)[0], arms)


def unit_of(body: object) -> str:
    """The unit that a request names.

    Raises:
        Refused: There is none, or it cannot be one.
    """
    context = body.get("context", {}) if isinstance(body, dict) else None
    if not isinstance(context, dict):
        raise Refused("INVALID_CONTEXT", "the context must be an object")
    unit = context.get("targetingKey", "")
    if unit == "" or unit is None:
        raise Refused("TARGETING_KEY_MISSING", "say in context.targetingKey who is asked for")
    if not is_text(unit):
        raise Refused(
            "INVALID_CONTEXT",
            f"context.targetingKey must be printable text of 1 to {LONGEST} characters",
        )
    return str(unit)


def evaluated(key: str, found: Found) -> dict[str, Any]:
    """The answer for a flag."""
    decision = found.decision
    if decision is None:
        return {"key": key, "reason": "DISABLED", "variant": DISABLED, "metadata": {}}
    return {
        "key": key,
        "value": value_of(decision.arm, found.arms),
        "reason": "SPLIT",
        "variant": decision.arm,
        "metadata": {
            "decision_id": str(decision.id),
            "propensity": decision.propensity,
            "epoch": decision.epoch,
        },
    }


def failure(key: str, code: str, details: str) -> dict[str, Any]:
    """The answer for a flag that cannot be evaluated."""
    return {"key": key, "errorCode": code, "errorDetails": details}


def value_of(arm: str, arms: Iterable[str]) -> bool | int | float | str:
    """An arm as the value of a flag; its type is the same for all arms of a campaign.

    If all labels are `true` or `false` it is a boolean. If all are whole numbers it is an integer,
    and if all are numbers, a float. Otherwise it is the label.

    Example:
        >>> value_of("1", ["1", "2.5"]), value_of("1", ["1", "2"]), value_of("1", ["1", "two"])
        (1.0, 1, '1')
        >>> value_of("true", ["true", "false"])
        True
    """
    labels = list(arms)
    if all(label in ("true", "false") for label in labels):
        return arm == "true"
    numbers = [NUMBER.fullmatch(label) for label in labels]
    if not all(numbers):
        return arm
    return int(arm) if all(x is not None and x[2] is None for x in numbers) else float(arm)
