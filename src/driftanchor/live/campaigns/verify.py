"""Verify: replay all events of a campaign and compare with the stored data.

Events of older stores lack checksums, ids, units or propensities; missing values are not compared.
The shift tests and the sums of propensities are not derived from events and have their own
checksums.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core.record import plain
from driftanchor.errors import UnreadableState
from driftanchor.live.campaigns.batch import History, add_to_history
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.records import state_fields
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.journal import Entry, only_assigned
from driftanchor.live.stores.rows import KEY_SECONDS, DecisionRow, KeyedRequest
from driftanchor.live.stores.store import Reader
from driftanchor.live.terms import Terms

MAX_NAMED = 5  # differences that the error names
STATES = ("assigned", "open", "rewarded", "defaulted", "expired")
# For each kind of event: the states in which it may come, so that no reward counts twice, and the
# state after it.
TRANSITIONS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "exposed": (("assigned",), "open"),
    "rewarded": (("open",), "rewarded"),
    "defaulted": (("open",), "defaulted"),
    "expired": (("open",), "expired"),
    "late": (("defaulted", "expired"), None),
    "corrected": (("defaulted", "rewarded"), "rewarded"),
    "added": (("expired",), "rewarded"),
}
# A decision according to its events, in 86 bytes; NaN and a hash of 0 stand for missing values.
DECISION = np.dtype(
    [
        ("state", "i1"),
        ("column", "i4"),
        ("seq", "i8"),
        ("epoch", "i4"),
        *((name, "f8") for name in ("reward", "reported", "asked_at", "exposed_at", "settled_at")),
        *((name, "f8") for name in ("window", "propensity")),
        ("identity", "u8"),  # hash of the id and the unit
        ("unit", "u8"),  # hash of the unit
    ]
)


@dataclass(frozen=True, slots=True)
class Verified:
    """The numbers of rows that `verify` compared without finding a difference.

    Attributes:
        events: The number of replayed events.
        decisions: The number of compared decisions.
        rewards: The number of rewards that count.
    """

    events: int
    decisions: int
    rewards: int


@reads_store
def verify(reader: Reader, terms: Terms, settings: Settings) -> Verified:
    """Compare the events of a campaign with its sums, decisions and other stored data.

    Raises:
        UnreadableState: The data differ; the message says where.
    """
    replay = _Replay(reader, terms, settings)
    for entry in reader.entries(0):
        replay.apply(entry)
    wrong = [
        *replay.wrong,
        *replay.counters(),
        *replay.arms(),
        *replay.decisions(),
        *replay.keys(),
        *replay.copies(),
    ]
    if wrong:
        named = "; ".join(wrong[:MAX_NAMED])
        more = f"; and {len(wrong) - MAX_NAMED} more" if len(wrong) > MAX_NAMED else ""
        raise UnreadableState(
            f"the store does not match its events: {named}{more}. Restore a backup, or report this"
        )
    counters = replay.current.counters
    return Verified(counters.seq, counters.decisions, replay.current.state.reward_count)


class _Replay:
    """The campaign according to its events, and the differences from the stored data."""

    def __init__(self, reader: Reader, terms: Terms, settings: Settings) -> None:
        self.current = CampaignState(terms, settings)
        self.wrong: list[str] = []  # found during the replay
        self._reader = reader
        self._sticky = settings.sticky
        self._known = 0  # decisions so far
        self._decisions: Any = np.zeros(1_024, DECISION)
        self._keys: dict[str, tuple[KeyedRequest, float]] = {}
        self._all_ids = True  # whether every event has the id of its decision
        self._last_at = -math.inf  # the latest time of an event
        self._history: History = {}
        self._corrected: History = {}  # rewards that were replaced
        self._alarms: list[object] = []
        self._snapshots = set(_snapshots(reader))

    def apply(self, entry: Entry) -> None:
        """Apply the next event."""
        self.current.catch_up([entry])
        detail = entry.detail or {}
        self._last_at = max(self._last_at, entry.at)
        if entry.kind == "decided":
            self._decide(entry)
        elif entry.decision is not None:
            self._change(entry)
        elif entry.kind == "keyed":
            request = KeyedRequest(detail["ids"], detail.get("digest"))
            self._keys[detail["key"]] = request, entry.at
        elif entry.kind == "alarm":
            self._alarms.append(entry.detail)
        add_to_history(self._history, entry)
        if entry.kind == "corrected" and entry.detail is not None:
            add_to_history(self._corrected, entry._replace(value=0.0))
        if entry.seq in self._snapshots:
            stored = self._reader.snapshot(entry.seq)
            state = json.loads(json.dumps(state_fields(self.current.state)))
            if stored is None or stored.state != state:
                self.wrong.append(f"the snapshot of event {entry.seq} is not what the events give")

    def _decide(self, entry: Entry) -> None:
        current, detail = self.current, entry.detail or {}
        self._known = number = current.counters.decisions
        if number > self._decisions.size:
            more = np.zeros(self._decisions.size, DECISION)
            self._decisions = np.concatenate([self._decisions, more])
        waits = current.waits and not only_assigned(entry)
        window, unit = current.settings.reward_window, detail.get("unit")
        known = "id" in detail and entry.value is not None
        self._all_ids = self._all_ids and known
        self._decisions[number - 1] = (
            STATES.index("open" if waits else "assigned"),
            entry.column or 0,
            entry.seq,
            current.counters.epoch,
            math.nan,
            math.nan,
            entry.at,
            entry.at if waits else math.nan,
            math.nan,
            math.nan if window is None else window,
            entry.value if known else math.nan,
            _hash(detail["id"], unit) if known else 0,
            0 if unit is None else _hash(unit),
        )

    def _change(self, entry: Entry) -> None:
        number, kind = entry.decision or 0, entry.kind
        row = self._decisions[number - 1] if 1 <= number <= self._known else None
        before, after = TRANSITIONS[kind]
        if row is None or STATES[row["state"]] not in before:
            self.wrong.append(f"event {entry.seq}, {kind}, cannot be for decision {number}")
            return
        was_rewarded = STATES[row["state"]] == "rewarded"
        if after is not None:
            row["state"] = STATES.index(after)
        if kind == "exposed":
            row["exposed_at"] = entry.at
        elif kind in ("rewarded", "defaulted", "expired"):
            row["settled_at"] = entry.at
        if entry.value is not None and kind != "late":
            row["reward"] = entry.value
        if entry.value is not None and kind != "defaulted" and not was_rewarded:
            row["reported"] = entry.value

    def counters(self) -> Iterator[str]:
        """Yield the differences between the stored counters and the events."""
        for name in ("seq", "decisions", "epoch", "paused", "late", "checksum"):
            stored = getattr(self._reader.counters, name)
            expected = getattr(self.current.counters, name)
            if stored != expected and (name, stored) != ("checksum", None):
                yield f"{name} of the campaign is {stored!r}, the events give {expected!r}"

    def arms(self) -> Iterator[str]:
        """Yield the differences between the stored sums of the arms and the events."""
        rows, current = self._reader.arms(), self.current
        if [row.label for row in rows] != list(current.terms.arms):
            yield "the arms are not those of the terms and the events"
            return
        for row in rows:
            events = current.row(row.column)
            for field in dataclasses.fields(row):
                stored, expected = getattr(row, field.name), getattr(events, field.name)
                if stored != expected:
                    name = f"{field.name} of arm {row.label!r}"
                    yield f"{name} is {stored!r}, the events give {expected!r}"
        current.traffic.load(self._reader.expected())
        total, decisions = current.traffic.expected.sum(), current.counters.decisions
        if abs(total - decisions) > 1e-6 * (1 + decisions):
            yield f"the propensities add up to {total:.6g}, not to the number of decisions"

    def decisions(self) -> Iterator[str]:
        """Yield the differences between the stored decisions and the events."""
        current = self.current
        pending = np.zeros(len(current.terms.arms), np.int64)
        replaced, count = self._replaced(), 0
        for row in self._reader.all_decisions():
            count += 1
            if row.number != count or row.number > self._known:
                yield f"decision {count} is missing, or one is too many"
                return
            yield from self._decision(row, bool(replaced[count - 1]))
            pending[row.column] += row.state == "open"
        if count != self._known:
            yield f"there are {count} decisions, the events give {self._known}"
        if pending.tolist() != current.state.pending.tolist():
            yield "the open decisions of the arms are not those that the events give"

    def _decision(self, row: DecisionRow, replaced: bool) -> Iterator[str]:
        events = dict(
            zip(DECISION.names or (), self._decisions[row.number - 1].tolist(), strict=True)
        )
        values: dict[str, Any] = {name: None if x != x else x for name, x in events.items()}
        exposed, window = values["exposed_at"], values["window"]
        expected = {
            "state": STATES[values["state"]],
            **{name: values[name] for name in ("column", "seq", "epoch", "asked_at")},
            **{name: values[name] for name in ("reward", "reported", "exposed_at", "settled_at")},
            "due_at": None if exposed is None or window is None else exposed + window,
            "holds": None if row.holds is None else row.unit,
        }
        if values["propensity"] is not None:
            expected["propensity"] = values["propensity"]
        for name, value in expected.items():
            stored = getattr(row, name)
            if stored != value:
                yield f"{name} of decision {row.number} is {stored!r}, the events give {value!r}"
        if not 0.0 < row.propensity <= 1.0 + 1e-9:
            yield f"the propensity of decision {row.number} is {row.propensity!r}"
        if not values["identity"]:
            return
        if values["identity"] != _hash(row.id, row.unit):
            yield f"the id or the unit of decision {row.number} is not what its event says"
        is_kept = self._sticky == "campaign" or row.state in ("assigned", "open")
        holds = self._sticky is not None and is_kept and not replaced
        if row.holds != (row.unit if holds else None):
            yield f"decision {row.number} is held by {row.holds!r}, but not according to the events"

    def _replaced(self) -> Any:
        """Return a mask of decisions that a later one of the same unit and epoch replaced."""
        rows = self._decisions[: self._known]
        order = np.lexsort((np.arange(rows.size), rows["unit"], rows["epoch"]))
        keys = rows[["epoch", "unit"]][order]
        replaced = np.zeros(rows.size, np.bool_)
        replaced[order[:-1]] = keys[1:] == keys[:-1]
        return replaced

    def keys(self) -> Iterator[str]:
        """Yield the differences between the stored request keys and the events."""
        events = dict(self._keys)
        for key, request, at in self._reader.all_keyed():
            expected = events.pop(key, None)
            if expected is not None and expected != (request, at):
                yield f"the key {key!r} does not match the request or the time in its event"
            missing = len(self._reader.decisions(request.ids)) != len(set(request.ids))
            if (expected is None and self._all_ids) or missing:
                yield f"the key {key!r} refers to missing decisions"
        for key, (_, at) in events.items():
            if at > self._last_at - KEY_SECONDS:  # older keys may have been removed
                yield f"the key {key!r} of an event is missing"

    def copies(self) -> Iterator[str]:
        """Yield the differences between the snapshots, history and alarms and the events."""
        last, snapshot = max(self._snapshots, default=0), self._reader.counters.snapshot
        if snapshot != last:
            yield f"the last snapshot is said to be {snapshot}, and is {last}"
        history = {(row.start, row.column): row for row in self._reader.history()}
        for key in sorted(history.keys() | self._history.keys()):
            stored, expected = history.get(key), self._history.get(key)
            corrected = self._corrected.get(key)
            lost = 0.0 if corrected is None else 1e-12 * abs(corrected.total)
            if (
                stored is None
                or expected is None
                or (stored.decisions, stored.rewards) != (expected.decisions, expected.rewards)
                or not math.isclose(stored.total, expected.total, rel_tol=1e-6, abs_tol=1e-6 + lost)
            ):  # a sum of floats depends on how it was split into transactions
                yield f"the history from {key[0]:g} on is {stored}, the events give {expected}"
        alarms = [plain(alarm.to_json()) for alarm in alarms_of(self._reader.watch())]
        if alarms != plain(self._alarms):
            yield f"{len(alarms)} alarms are kept, the events give {len(self._alarms)}, or others"


def _snapshots(reader: Reader) -> Iterator[int]:
    """Yield the sequence numbers of the events with a snapshot, the last first."""
    place: int | None = reader.counters.seq
    while place is not None:
        snapshot = reader.snapshot(place)
        place = None if snapshot is None else snapshot.seq - 1
        if snapshot is not None:
            yield snapshot.seq


def _hash(*names: str | None) -> int:
    digest = hashlib.blake2b(repr(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1
