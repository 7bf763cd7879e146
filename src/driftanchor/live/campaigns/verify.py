"""Verify: replay all events of a campaign and compare with the stored data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.errors import UnreadableState
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.verify_copies import Copies
from driftanchor.live.campaigns.verify_names import Names
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.journal import Entry, only_assigned
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.live.stores.store import Reader
from driftanchor.live.terms import Terms

MOST_NAMED = 5  # differences that the error names
STATES = ("assigned", "open", "rewarded", "defaulted", "expired")
AFTER = {
    "exposed": "open",
    "rewarded": "rewarded",
    "defaulted": "defaulted",
    "expired": "expired",
    "corrected": "rewarded",
    "added": "rewarded",
}
BEFORE = {  # the states in which an event may come: so no reward counts twice
    "exposed": ("assigned",),
    "rewarded": ("open",),
    "defaulted": ("open",),
    "expired": ("open",),
    "late": ("defaulted", "expired"),
    "corrected": ("defaulted", "rewarded"),
    "added": ("expired",),
}


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` looked at, all of which fits.

    Attributes:
        events: How many events were folded.
        decisions: How many decisions were compared.
        rewards: How many rewards count.
    """

    events: int
    decisions: int
    rewards: int


class Outcomes:
    """The state of each decision according to the events, in 65 bytes per decision."""

    def __init__(self, waits: bool) -> None:
        self.wrong: list[str] = []  # impossible events
        self._known = 0
        self._waits = waits
        self._state = np.zeros(0, np.int8)
        self._column = np.zeros(0, np.int32)
        self._seq = np.zeros(0, np.int64)
        self._reward, self._reported = np.zeros(0), np.zeros(0)
        self._epoch = np.zeros(0, np.int32)
        self._asked, self._exposed, self._settled = np.zeros(0), np.zeros(0), np.zeros(0)
        self._window = np.zeros(0)  # NaN for none

    def note(self, entry: Entry, epoch: int, window: float | None) -> None:
        """Apply one event, given its epoch and the window then in force."""
        if entry.decision is None:
            return
        i = entry.decision - 1
        if entry.kind == "decided":
            self._grow(i)
            self._known = entry.decision
            waits = self._waits and not only_assigned(entry)
            self._state[i] = STATES.index("open" if waits else "assigned")
            self._column[i] = entry.column or 0
            self._seq[i], self._reward[i], self._reported[i] = entry.seq, math.nan, math.nan
            self._epoch[i], self._asked[i], self._settled[i] = epoch, entry.at, math.nan
            self._exposed[i] = entry.at if waits else math.nan
            self._window[i] = math.nan if window is None else window
            return
        if not 0 <= i < self._known or STATES[self._state[i]] not in BEFORE[entry.kind]:
            self.wrong.append(f"event {entry.seq}, {entry.kind}, cannot be for decision {i + 1}")
            return
        is_correction = entry.kind == "corrected" and STATES[self._state[i]] == "rewarded"
        after = AFTER.get(entry.kind)
        if after is not None:
            self._state[i] = STATES.index(after)
        if entry.kind == "exposed":
            self._exposed[i] = entry.at
        elif entry.kind in ("rewarded", "defaulted", "expired"):
            self._settled[i] = entry.at
        if entry.value is not None and entry.kind != "late":
            self._reward[i] = entry.value
        if entry.value is not None and entry.kind != "defaulted" and not is_correction:
            self._reported[i] = entry.value

    def _grow(self, i: int) -> None:
        if i < self._state.size:
            return
        size = max(1_024, 2 * (i + 1))
        for name, old in list(vars(self).items()):
            if not isinstance(old, np.ndarray):
                continue
            wide = np.zeros(size, old.dtype)
            wide[: old.size] = old
            setattr(self, name, wide)

    def differences(self, row: DecisionRow) -> Iterator[str]:
        """Yield the differences between a stored decision and its events."""
        i = row.number - 1
        exposed = _value(self._exposed, i)
        window = _value(self._window, i)
        said: dict[str, object] = {
            "state": STATES[self._state[i]],
            "column": self._column.item(i),
            "seq": self._seq.item(i),
            "reward": _value(self._reward, i),
            "reported": _value(self._reported, i),
            "epoch": self._epoch.item(i),
            "asked_at": self._asked.item(i),
            "exposed_at": exposed,
            "due_at": None if exposed is None or window is None else exposed + window,
            "settled_at": _value(self._settled, i),
            "holds": None if row.holds is None else row.unit,
        }
        for name, value in said.items():
            if getattr(row, name) != value:
                kept = getattr(row, name)
                yield f"{name} of decision {row.number} is {kept!r}, the events give {value!r}"


def _value(values: Floats, i: int) -> float | None:
    return None if math.isnan(values[i]) else values.item(i)


@reads_store
def verify(reader: Reader, terms: Terms, settings: Settings) -> Verified:
    """Compare the events of a campaign with its sums, decisions and other stored data.

    A checksum over all events detects changed events. Old stores lack checksums, ids or
    propensities in events; only what they have is compared. The shift tests and the sums of
    propensities are not derived from events and have their own checksums.

    Args:
        reader: The campaign at one moment.
        terms: The initial terms.
        settings: The initial settings.

    Raises:
        UnreadableState: The data differ; the message says where.
    """
    current = CampaignState(terms, settings)
    outcomes, copies = Outcomes(current.waits), Copies(reader)
    names = Names(settings.sticky)
    for entry in reader.entries(0):
        current.catch_up([entry])
        outcomes.note(entry, current.counters.epoch, current.settings.reward_window)
        names.note(entry, current.counters.epoch)
        copies.note(entry, current)
    wrong = [*outcomes.wrong, *_heads(reader, current), *_arms(reader, current)]
    names.end()
    wrong += _decisions(reader, current, outcomes, names)
    wrong += [*names.keys(reader), *copies.differences()]
    if wrong:
        named = "; ".join(wrong[:MOST_NAMED])
        more = f"; and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
        raise UnreadableState(
            f"the store does not match its events: {named}{more}. Restore a backup, or report this"
        )
    rewards = current.state.reward_count
    return Verified(current.counters.seq, current.counters.decisions, rewards)


def _heads(reader: Reader, current: CampaignState) -> Iterator[str]:
    for name in ("seq", "decisions", "epoch", "paused", "late", "checksum"):
        kept, said = getattr(reader.counters, name), getattr(current.counters, name)
        if kept != said and (name, kept) != ("checksum", None):
            yield f"{name} of the campaign is {kept!r}, the events give {said!r}"


def _arms(reader: Reader, current: CampaignState) -> Iterator[str]:
    rows, labels = reader.arms(), current.terms.arms
    if [row.label for row in rows] != list(labels):
        yield "the arms are not those of the terms and the events"
        return
    for row in rows:
        said = current.row(row.column)
        for field in dataclasses.fields(row):
            kept, value = getattr(row, field.name), getattr(said, field.name)
            if kept != value:
                name = f"{field.name} of arm {row.label!r}"
                yield f"{name} is {kept!r}, the events give {value!r}"
    current.traffic.load(reader.expected())
    expected = current.traffic.expected
    if abs(expected.sum() - current.counters.decisions) > 1e-6 * (1 + current.counters.decisions):
        yield f"the propensities add up to {expected.sum():.6g}, not to the number of decisions"


def _decisions(
    reader: Reader, current: CampaignState, outcomes: Outcomes, names: Names
) -> Iterator[str]:
    pending = np.zeros(len(current.terms.arms), np.int64)
    seen = 0
    for row in reader.all_decisions():
        seen += 1
        if row.number != seen or row.number > current.counters.decisions:
            yield f"decision {seen} is missing, or one is too many"
            return
        yield from outcomes.differences(row)
        yield from names.differences(row)
        if not 0.0 < row.propensity <= 1.0 + 1e-9:
            yield f"the propensity of decision {row.number} is {row.propensity!r}"
        pending[row.column] += row.state == "open"
    if seen != current.counters.decisions:
        yield f"there are {seen} decisions, the events give {current.counters.decisions}"
    if pending.tolist() != current.state.pending.tolist():
        yield "the open decisions of the arms are not those that the events give"
