"""Stored rows, and the changes that a transaction writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from driftanchor.core.record import Record
from driftanchor.live.stores.journal import Detail, Entry

WAITING = "open"  # the state of a decision that waits for its reward
KEY_SECONDS = 86_400.0  # how long a request key is stored


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A campaign, as it was created.

    Attributes:
        id: Its number in this store.
        name: Its name.
        created_at: When it was created, in seconds since 1970.
        terms: The terms at its start, without arms that were added later.
        settings: The settings at its start.
    """

    id: int
    name: str
    created_at: float
    terms: Record
    settings: Record


@dataclass(slots=True)
class Counters:
    """The counters of a campaign: the row that a writer locks.

    Attributes:
        seq: The sequence number of the last event.
        decisions: The number of decisions.
        epoch: The current epoch.
        paused: Whether the campaign is paused.
        snapshot: The sequence number of the last snapshot.
        late: The number of rewards that arrived after their window and do not count.
        checksum: The checksum of all events; `None` if the first ones are older than checksums.
    """

    seq: int = 0
    decisions: int = 0
    epoch: int = 0
    paused: bool = False
    snapshot: int = 0
    late: int = 0
    checksum: int | None = 0


@dataclass(slots=True)
class ArmRow:
    """An arm with its sums.

    Attributes:
        column: Its column.
        label: Its label.
        state: `"active"`, `"paused"` or `"archived"`.
        decisions: The number of decisions that chose it.
        pulls: The number of rewards that count.
        total: The sum of these rewards.
        squares: The sum of their squared distances from a constant centre.
        pending: The number of its decisions that wait for a reward.
        memory: The policy's memory of it.
        added_seq: The sequence number of the event that added it; 0 for the first arms.
        added: The detail of that event.
        distrusted_seq: The sequence number of the event since which its logs do not count.
    """

    column: int
    label: str
    state: str = "active"
    decisions: int = 0
    pulls: int = 0
    total: float = 0.0
    squares: float = 0.0
    pending: int = 0
    memory: list[float] = field(default_factory=list)
    added_seq: int = 0
    added: Detail | None = None
    distrusted_seq: int | None = None


@dataclass(slots=True)
class DecisionRow:
    """One decision.

    Attributes:
        id: Its random public id.
        number: 1 for the first of the campaign.
        seq: The sequence number of the event that made it.
        column: The column of its arm.
        unit: The unit that it is for.
        holds: The unit that gets it again when it asks; `None` if none does.
        epoch: The epoch in which it was made.
        propensity: The probability of its arm.
        state: `"assigned"` (not shown yet), `"open"` (waits for its reward), `"rewarded"`,
            `"defaulted"` or `"expired"`.
        asked_at: When it was made.
        exposed_at: When it was shown.
        due_at: When its window ends.
        settled_at: When it stopped waiting.
        reward: The reward that counts.
        reported: The reward that the caller reported, in time or late.
    """

    id: str
    number: int
    seq: int
    column: int
    unit: str | None
    holds: str | None
    epoch: int
    propensity: float
    state: str
    asked_at: float
    exposed_at: float | None = None
    due_at: float | None = None
    settled_at: float | None = None
    reward: float | None = None
    reported: float | None = None


@dataclass(slots=True)
class HistoryRow:
    """Counts of one arm in one time interval.

    Attributes:
        start: When the interval starts, in seconds since 1970.
        column: The column of the arm.
        decisions: The number of decisions that chose it.
        rewards: The number of rewards.
        total: The sum of the rewards.
    """

    start: float
    column: int
    decisions: int = 0
    rewards: int = 0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class CohortRow:
    """A count of decisions of one arm by kind of event, slot when shown, and slot of the event.

    Attributes:
        kind: `"shown"` or the kind of the event: `"exposed"`, `"expired"`, `"rewarded"` with a
            reward other than the default, or `"corrected"`.
        column: The column of the arm.
        slot: The slot number in which the decisions were shown.
        event_slot: The slot number of the event.
        count: The number of decisions; 0 for corrections.
        gained: The sum of reward − default, or of the changes by corrections.
    """

    kind: str
    column: int
    slot: int
    event_slot: int
    count: int
    gained: float


class UnclosedRow(NamedTuple):
    """Decisions of one arm whose window is open, or that wait without a window.

    Attributes:
        column: The column of the arm.
        decisions: The number of decisions.
        rewarded: The number of these that have a reward.
        gained: The sum of reward − default.
    """

    column: int
    decisions: int
    rewarded: int
    gained: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after an event.

    Attributes:
        seq: The sequence number of the event.
        state: The fields of the state.
    """

    seq: int
    state: Record


class KeyedRequest(NamedTuple):
    """A request stored under its key.

    Attributes:
        ids: The ids of its decisions; empty if its caller played a default.
        digest: A digest of the request; `None` if an older version wrote it.
    """

    ids: list[str]
    digest: str | None = None


@dataclass(slots=True)
class Changes:
    """The changes that a transaction writes atomically.

    Attributes:
        counters: The counters of the campaign.
        entries: The new events, numbered without a gap after the last one.
        arms: The new and changed arms.
        made: The new decisions.
        updated: The changed earlier decisions.
        history: Additions to the history, one row per arm and time.
        keys: The request keys, each with its decisions.
        expected: The sums of propensities, if they changed; see `PropensitySums`.
        snapshot: A snapshot to store.
        watch: The state of the shift tests, if it changed.
    """

    counters: Counters
    entries: list[Entry] = field(default_factory=list)
    arms: list[ArmRow] = field(default_factory=list)
    made: list[DecisionRow] = field(default_factory=list)
    updated: list[DecisionRow] = field(default_factory=list)
    history: list[HistoryRow] = field(default_factory=list)
    keys: dict[str, KeyedRequest] = field(default_factory=dict)
    expected: bytes | None = None
    snapshot: Snapshot | None = None
    watch: Record | None = None


def new_arms(labels: Iterable[str], memory: int) -> list[ArmRow]:
    """Return the rows of a new campaign's arms."""
    return [ArmRow(column, label, memory=[0.0] * memory) for column, label in enumerate(labels)]
