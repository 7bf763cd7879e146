"""LogSummary: the result of reading logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from driftanchor.core.offline import OfflineData
from driftanchor.core.provenance import Provenance
from driftanchor.core.record import encode
from driftanchor.logs.rejects import Example
from driftanchor.logs.times import shown_time


@dataclass(frozen=True)
class ArmSummary:
    """One arm: its rewards, where their mean may be (95 %), and when they were seen."""

    n: int
    mean: float
    variance: float
    interval: tuple[float, float] | None
    first: datetime | None
    last: datetime | None

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "n": self.n,
            "mean": encode(self.mean),
            "variance": encode(self.variance),
            "interval": None if self.interval is None else list(self.interval),
            "first": self.first and shown_time(self.first),
            "last": self.last and shown_time(self.last),
        }


@dataclass(frozen=True)
class LogSummary:
    """The result of reading logs.

    Attributes:
        offline: The logs as four numbers for each arm.
        provenance: How they were read, with the numbers of rows; `offline` has it too.
        arms: Details of each arm.
        examples: The first few unusable rows.
        warnings: Warnings about the logs.
    """

    offline: OfflineData
    provenance: Provenance
    arms: Mapping[str, ArmSummary]
    examples: tuple[Example, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        how = self.provenance.to_json()
        return {
            "arms": {label: arm.to_json() for label, arm in self.arms.items()},
            "rows_read": how.pop("rows_read"),
            "rows_filtered": how.pop("rows_filtered"),
            "rows_used": self.provenance.rows_used,
            "rows_rejected": how.pop("rows_rejected"),
            "rejected_examples": [asdict(example) for example in self.examples],
            "strata": how.pop("strata", None),
            "warnings": list(self.warnings),
            "provenance": how,
        }


def oddities(arms: Mapping[str, ArmSummary]) -> tuple[str, ...]:
    """What makes logs useless though every row is fine."""
    found = []
    if len(arms) == 1:
        found.append(
            f"the logs have one arm only, {next(iter(arms))!r}: there is nothing to choose"
        )
    repeated = [arm for arm in arms.values() if arm.n > 1]
    if repeated and all(arm.variance == 0 for arm in repeated):
        same = len({arm.mean for arm in arms.values()}) == 1
        which = "all rewards" if same else "the rewards of each arm"
        found.append(f"{which} are equal: is it the right column?")
    return tuple(found)
