"""Requests that change the campaign itself: its arms, its epoch, and whether it runs."""

from __future__ import annotations

from dataclasses import dataclass

from driftanchor.core.offline import Summary
from driftanchor.errors import Conflict
from driftanchor.live import changes
from driftanchor.live.campaigns.batch import NOTHING, Batch, Needs
from driftanchor.live.stores.journal import added_detail


@dataclass(frozen=True)
class SetPaused:
    """Pause the campaign, or let it go on.

    Attributes:
        paused: Whether it is to be paused.
    """

    paused: bool
    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        """Do it, unless it is so already."""
        if batch.current.counters.paused != self.paused:
            batch.record("paused" if self.paused else "resumed")


@dataclass(frozen=True)
class NextEpoch:
    """Start a new epoch, in which every unit is drawn anew."""

    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> int:
        """Start it; its number."""
        epoch = batch.current.counters.epoch + 1
        batch.record("epoch", value=float(epoch))
        batch.held.clear()  # of the epoch before
        return epoch


@dataclass(frozen=True)
class AddArm:
    """Add an arm; the attributes are the arguments of `Learner.add_arm`."""

    label: str
    offline: Summary = (0,)
    bias_bound: float | None = None
    relative_bound: float | None = None
    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        """Add it."""
        terms = batch.current.terms
        event = changes.add_arm(
            terms, self.label, self.offline, self.bias_bound, self.relative_bound
        )
        batch.record("arm_added", detail=added_detail(event))


@dataclass(frozen=True)
class SetArm:
    """Pause, archive or restore an arm.

    Attributes:
        label: The arm.
        state: `"active"`, `"paused"` or `"archived"`.
    """

    label: str
    state: str
    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        """Do it, unless it is so already."""
        current = batch.current
        column = current.terms.arms.column(self.label, "label")
        now = current.row(column).state
        if now == self.state:
            return
        if self.state == "active":
            batch.record("arm_restored", column=column)
            return
        if now == "archived":
            raise Conflict(f"arm {self.label!r} is archived: restore it before you pause it")
        changes.pause(current.state, self.label)  # refuses the last arm
        kind = "arm_paused" if self.state == "paused" else "arm_archived"
        batch.record(kind, column=column)


@dataclass(frozen=True)
class Distrust:
    """Let the logs of an arm no longer count.

    Attributes:
        label: The arm.
    """

    label: str
    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        """Do it, unless it is so already."""
        column = batch.current.terms.arms.column(self.label, "label")
        if column not in batch.current.distrusted:
            batch.record("arm_distrusted", column=column)


@dataclass(frozen=True)
class SweepAndCheck:
    """Sweep what is due, as every batch does, and look whether promises still hold."""

    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> int:
        """How many decisions were swept in this batch."""
        return sum(entry.kind in ("defaulted", "expired") for entry in batch.entries)
