"""Change settings and bounds of a running campaign; earlier decisions keep their terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from driftanchor.core import record
from driftanchor.core.promises import bias_bounds, relative_bounds
from driftanchor.errors import InvalidInput, shown
from driftanchor.live.campaigns.batch import NOTHING, Batch, Needs
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.settings import CHANGEABLE, KEEP
from driftanchor.live.state_events import BoundsChanged
from driftanchor.live.stores.journal import Entry, changed_detail
from driftanchor.render.numbers import length_of_time, percent

BOUNDS = ("bias_bound", "relative_bound")
LONGEST_REASON = 500  # characters
MOST_NAMED = 5  # arms named in a line


@dataclass(frozen=True)
class ChangeTerms:
    """Change settings or bounds from now on.

    Attributes:
        reason: The reason for the change.
        wanted: The new values by name; the names are in `CHANGEABLE` and `BOUNDS`.
    """

    reason: str
    wanted: Mapping[str, Any]
    needs: Needs = NOTHING

    @classmethod
    def checked(cls, reason: object, **given: object) -> ChangeTerms:
        """Validate a caller's arguments and build the request; `KEEP` arguments are left out."""
        wanted = {name: value for name, value in given.items() if value is not KEEP}
        if not wanted:
            names = ", ".join((*CHANGEABLE, *BOUNDS))
            raise InvalidInput(f"nothing to change: give at least one of {names}")
        return cls(valid_reason(reason), wanted)

    def __call__(self, batch: Batch) -> bool:
        """Apply the changes; return whether anything changed."""
        current = batch.current
        before, after = self._settings(current)
        bounds = self._bounds(current)
        for name, old in zip(BOUNDS, _bounds_of(current), strict=True):
            if name in bounds and bounds[name] != old:
                before[name], after[name] = old, bounds[name]
        if not after:
            return False
        level, relative = (after.get(name) for name in BOUNDS)
        current.terms.after(BoundsChanged(level, relative))  # raises if the bounds do not fit
        detail = changed_detail(self.reason, before, after, current.counters.decisions)
        batch.record("changed", detail=detail)
        return True

    def _settings(self, current: CampaignState) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the old and new values of the settings that change."""
        now, terms = current.settings, current.terms
        new = now.after(self.wanted).checked(terms.arms, terms.reward_range)
        names = [name for name in CHANGEABLE if getattr(new, name) != getattr(now, name)]
        before = {name: getattr(now, name) for name in names}
        return before, {name: getattr(new, name) for name in names}

    def _bounds(self, current: CampaignState) -> dict[str, tuple[float, ...]]:
        """Return the new bounds of each arm; distrusted logs have no bound."""
        found = {}
        for name, read in zip(BOUNDS, (bias_bounds, relative_bounds), strict=True):
            if name in self.wanted:
                if self.wanted[name] is None:
                    raise InvalidInput("must be a number; inf means no bound", argument=name)
                values = read(self.wanted[name], current.terms.arms).tolist()
                for column in current.distrusted:
                    values[column] = float("inf")
                found[name] = tuple(values)
        return found


def _bounds_of(current: CampaignState) -> tuple[tuple[float, ...], tuple[float, ...]]:
    terms = current.terms
    return tuple(terms.bias_bounds.tolist()), tuple(terms.relative_bounds.tolist())


def valid_reason(reason: object) -> str:
    """Validate the reason for a change."""
    text = reason.strip() if isinstance(reason, str) else ""
    if not text or len(text) > LONGEST_REASON or not text.isprintable():
        raise InvalidInput(
            f"must be printable text of 1 to {LONGEST_REASON} characters that says why, got "
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
        """For programs."""
        return {name: getattr(self, name) for name in self.__slots__}

    def text(self, labels: Sequence[str]) -> str:
        """Describe the change, with its date and reason."""
        day = datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"changed on {day}: {self.what(labels)}; because: {self.reason}"

    def what(self, labels: Sequence[str]) -> str:
        """Describe the old and new values."""
        return ", ".join(
            f"{name.replace('_', ' ')} from {_said(name, self.before[name], labels)} "
            f"to {_said(name, new, labels)}"
            for name, new in self.after.items()
        )


def _said(name: str, value: Any, labels: Sequence[str]) -> str:
    """Format a value for display."""
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
    more = ", …" if len(named) > MOST_NAMED else ""
    return f"({', '.join(named[:MOST_NAMED]) or 'none'}{more})"
