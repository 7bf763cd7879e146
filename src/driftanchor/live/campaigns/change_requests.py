"""Requests that change a campaign itself: its arms, settings and bounds, and whether it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from driftanchor.core import record
from driftanchor.core.offline import Summary
from driftanchor.core.promises import bias_bounds, relative_bounds
from driftanchor.errors import Conflict, InvalidInput, shown
from driftanchor.live import changes
from driftanchor.live.campaigns.batch import NOTHING, Batch, Needs
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.settings import CHANGEABLE, KEEP, Settings
from driftanchor.live.state_events import BoundsChanged
from driftanchor.live.stores.journal import Entry, added_detail, changed_detail
from driftanchor.render.numbers import length_of_time, percent

BOUNDS = ("bias_bound", "relative_bound")
MAX_REASON = 500  # characters
MAX_NAMED = 5  # arms named in a line


@dataclass(frozen=True)
class SetPaused:
    """Pause or resume the campaign."""

    paused: bool
    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        """Execute the request; no-op if nothing changes."""
        if batch.current.counters.paused != self.paused:
            batch.record("paused" if self.paused else "resumed")


@dataclass(frozen=True)
class NextEpoch:
    """Start a new epoch, in which every unit gets a new decision."""

    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> int:
        """Return the number of the epoch."""
        epoch = batch.current.counters.epoch + 1
        batch.record("epoch", value=float(epoch))
        batch.held.clear()  # from the previous epoch
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
        """Execute the request."""
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
        """Execute the request; no-op if nothing changes."""
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
    """Ignore the logs of an arm from now on."""

    label: str
    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        """Execute the request; no-op if nothing changes."""
        column = batch.current.terms.arms.column(self.label, "label")
        if column not in batch.current.distrusted:
            batch.record("arm_distrusted", column=column)


@dataclass(frozen=True)
class SweepAndCheck:
    """Close decisions whose window is over, as every batch does, and check the bounds."""

    needs: Needs = NOTHING

    def __call__(self, batch: Batch) -> int:
        """Return the number of decisions closed in this batch."""
        return sum(entry.kind in ("defaulted", "expired") for entry in batch.entries)


@dataclass(frozen=True)
class ChangeTerms:
    """Change settings or bounds from now on; earlier decisions keep their terms.

    Attributes:
        reason: The reason for the change.
        wanted: The new values by name; the names are in `CHANGEABLE` and `BOUNDS`.
    """

    reason: str
    wanted: Mapping[str, Any]
    needs: Needs = NOTHING

    @classmethod
    def checked(cls, reason: object, **wanted: object) -> ChangeTerms:
        """Validate a caller's arguments and build the request; `KEEP` arguments are left out."""
        new = {name: value for name, value in wanted.items() if value is not KEEP}
        if not new:
            names = ", ".join((*CHANGEABLE, *BOUNDS))
            raise InvalidInput(f"nothing to change: give at least one of {names}")
        return cls(valid_reason(reason), new)

    def __call__(self, batch: Batch) -> bool:
        """Apply the changes; return whether anything changed."""
        current = batch.current
        old = {**_changeable(current.settings), **_bounds_of(current)}
        new = {**self._settings(current), **self._bounds(current)}
        after = {name: value for name, value in new.items() if value != old[name]}
        if not after:
            return False
        level, relative = (after.get(name) for name in BOUNDS)
        current.terms.after(BoundsChanged(level, relative))  # raises if the bounds do not fit
        before = {name: old[name] for name in after}
        detail = changed_detail(self.reason, before, after, current.counters.decisions)
        batch.record("changed", detail=detail)
        return True

    def _settings(self, current: CampaignState) -> dict[str, Any]:
        """Return the new settings."""
        terms = current.terms
        new = current.settings.after(self.wanted).checked(terms.arms, terms.reward_range)
        return _changeable(new)

    def _bounds(self, current: CampaignState) -> dict[str, tuple[float, ...]]:
        """Return the new bounds of each arm; distrusted logs have no bound."""
        bounds = {}
        for name, read in zip(BOUNDS, (bias_bounds, relative_bounds), strict=True):
            if name in self.wanted:
                if self.wanted[name] is None:
                    raise InvalidInput("must be a number; inf means no bound", argument=name)
                values = read(self.wanted[name], current.terms.arms).tolist()
                for column in current.distrusted:
                    values[column] = float("inf")
                bounds[name] = tuple(values)
        return bounds


def _changeable(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in CHANGEABLE}


def _bounds_of(current: CampaignState) -> dict[str, tuple[float, ...]]:
    bounds = current.terms.bias_bounds, current.terms.relative_bounds
    return {name: tuple(x.tolist()) for name, x in zip(BOUNDS, bounds, strict=True)}


def valid_reason(reason: object) -> str:
    """Validate the reason for a change."""
    text = reason.strip() if isinstance(reason, str) else ""
    if not text or len(text) > MAX_REASON or not text.isprintable():
        raise InvalidInput(
            f"must be printable text of 1 to {MAX_REASON} characters that says why, got "
            f"{shown(reason)}",
            argument="reason",
        )
    return text


@dataclass(frozen=True, slots=True)
class TermsChange:
    """A recorded change of settings or bounds.

    Attributes:
        at: The time, in seconds since 1970.
        reason: The reason for the change.
        before: The old values by name; bounds have one number per arm.
        after: The new values.
        decisions: The number of earlier decisions; they keep the old terms.
    """

    at: float
    reason: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    decisions: int

    @classmethod
    def of(cls, entry: Entry) -> TermsChange:
        """Read the change from its event."""
        detail = entry.detail or {}
        return cls(
            entry.at, detail["reason"], detail["before"], detail["after"], detail["decisions"]
        )

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        return {name: getattr(self, name) for name in self.__slots__}

    def text(self, labels: Sequence[str]) -> str:
        """Describe the change, with its date and reason."""
        day = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"changed on {day}: {self.what(labels)}; because: {self.reason}"

    def what(self, labels: Sequence[str]) -> str:
        """Describe the old and new values."""
        return ", ".join(
            f"{name.replace('_', ' ')} from {_formatted(name, self.before[name], labels)} "
            f"to {_formatted(name, new, labels)}"
            for name, new in self.after.items()
        )


def _formatted(name: str, value: Any, labels: Sequence[str]) -> str:
    if name in BOUNDS:
        if len(set(value)) == 1:
            return f"{float(value[0]):g}"
        pairs = dict(zip(labels, map(float, value), strict=False))
        named = [f"{label} {bound:g}" for label, bound in pairs.items()]
    elif name == "control":
        named = [f"{label} {percent(share)}" for label, share in value.items()]
    elif value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    else:
        return length_of_time(value) if name == "reward_window" else f"{value:g}"
    more = ", …" if len(named) > MAX_NAMED else ""
    return f"({', '.join(named[:MAX_NAMED]) or 'none'}{more})"
