"""Stored rows, and the changes that a transaction writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from driftanchor.core.record import Record
from driftanchor.live.stores.journal import Detail, Entry

WAITING = "open"  # the one state in which a decision waits for its reward
KEY_SECONDS = 86_400.0  # how long a request key is stored


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """What does not change after a campaign was created.

    Attributes:
        id: Its number in this store.
        name: Its name.
        created_at: When it was created, in seconds since 1970.
        terms: The terms it started with; arms that were added later are not in them.
        settings: Its settings.
    """

    id: int
    name: str
    created_at: float
    terms: Record
    settings: Record


@dataclass(slots=True)
class Counters:
    """Where a campaign is: the row that a writer locks.

    Attributes:
        seq: The place of the last event.
        decisions: How many decisions were made.
        epoch: The epoch.
        paused: Whether the campaign is paused.
        snapshot: The place of the last snapshot.
        late: How many rewards came after their window and do not count.
        checksum: Of all events; `None` if the first ones are older than checksums.
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
    """The sums of one arm.

    Attributes:
        column: Its column.
        label: Its label.
        state: `"active"`, `"paused"` or `"archived"`.
        decisions: How many decisions chose it.
        pulls: How many rewards count.
        total: Their sum.
        squares: The sum of their squared distances from a centre that does not change.
        pending: How many of its decisions wait for a reward.
        memory: What the policy keeps for it.
        added_seq: The place of the event that added it; 0 for the first arms.
        added: What that event says.
        distrusted_seq: The place of the event since which its logs do not count.
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
        id: Its name for callers; random.
        number: 1 for the first of the campaign.
        seq: The place of the event that made it.
        column: The arm.
        unit: Who it is for.
        holds: The unit that gets this decision again when it asks; `None` if none does.
        epoch: The epoch it was made in.
        propensity: How likely the arm was.
        state: `"assigned"` (not shown yet), `"open"` (waits for its reward), `"rewarded"`,
            `"defaulted"` or `"expired"`.
        asked_at: When it was made.
        exposed_at: When it was shown.
        due_at: When its window ends.
        settled_at: When it stopped waiting.
        reward: What counts.
        reported: What the caller reported, in time or late.
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
    """What happened to one arm in one stretch of time.

    Attributes:
        start: When the stretch starts, in seconds since 1970.
        column: The arm.
        decisions: How many decisions chose it.
        rewards: How many rewards were counted.
        total: Their sum.
    """

    start: float
    column: int
    decisions: int = 0
    rewards: int = 0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class CohortRow:
    """Decisions of one arm and slot that had the same kind of event in the same slot.

    Attributes:
        kind: `"shown"` or the kind of the event: `"exposed"`, `"expired"`, `"rewarded"` with a
            reward other than the default, or `"corrected"`.
        column: The arm.
        slot: The slot number in which the decisions were shown.
        came: The slot number of the event.
        count: The number of decisions; 0 for corrections.
        gained: The sum of reward − default, or of the changes by corrections.
    """

    kind: str
    column: int
    slot: int
    came: int
    count: int
    gained: float


class UnclosedRow(NamedTuple):
    """Decisions of one arm whose window is open, or that wait without a window.

    Attributes:
        column: The arm.
        decisions: How many.
        settled: How many of them have a reward.
        gained: Sum of reward − default.
    """

    column: int
    decisions: int
    settled: int
    gained: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state as it was after an event.

    Attributes:
        seq: The place of the event.
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
        settled: The changed earlier decisions.
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
    settled: list[DecisionRow] = field(default_factory=list)
    history: list[HistoryRow] = field(default_factory=list)
    keys: dict[str, KeyedRequest] = field(default_factory=dict)
    expected: bytes | None = None
    snapshot: Snapshot | None = None
    watch: Record | None = None


def first_rows(labels: Iterable[str], memory: int) -> list[ArmRow]:
    """Return the rows of the arms of a new campaign."""
    return [ArmRow(column, label, memory=[0.0] * memory) for column, label in enumerate(labels)]
