"""Store: the interface for storing campaigns, and how to open one."""

from __future__ import annotations

import abc
import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from driftanchor.core.record import Record
from driftanchor.errors import InvalidInput, require
from driftanchor.live.stores.access_keys import KeyRow
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import (
    ArmRow,
    CampaignRow,
    CohortRow,
    Counters,
    DecisionRow,
    HistoryRow,
    KeyedRequest,
    Snapshot,
    UnclosedRow,
)


@dataclass(slots=True)
class Changes:
    """The changes that a transaction writes atomically.

    Attributes:
        counters: The counters of the campaign.
        entries: The new events, numbered without a gap after the last one.
        arms: The new and changed arms.
        made: The new decisions.
        settled: The changed earlier decisions.
        history: Additions to the history.
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


class Reader(abc.ABC):
    """Reads one campaign in a consistent snapshot."""

    counters: Counters

    @abc.abstractmethod
    def named(self, name: str) -> CampaignRow | None:
        """Return the campaign of this name in the same store, if there is one."""

    @abc.abstractmethod
    def entries(self, after: int, through: int | None = None) -> Iterator[Entry]:
        """Return the events after a sequence number, in order, up to another if given."""

    @abc.abstractmethod
    def arms(self) -> list[ArmRow]:
        """Return all arms, by column."""

    @abc.abstractmethod
    def expected(self) -> bytes:
        """Return the sums of propensities, as in `PropensitySums`; empty if there are none."""

    @abc.abstractmethod
    def decisions(self, ids: Sequence[str]) -> list[DecisionRow]:
        """Return the campaign's decisions with these ids."""

    @abc.abstractmethod
    def all_decisions(self, after: int = 0, page: int = 5_000) -> Iterator[DecisionRow]:
        """Yield every decision after a number, in order, fetched `page` at a time."""

    @abc.abstractmethod
    def holding(self, units: Sequence[str], epoch: int) -> list[DecisionRow]:
        """Return the current decisions of these units in this epoch, at most one per unit."""

    @abc.abstractmethod
    def due(self, now: float, most: int) -> list[DecisionRow]:
        """Return pending decisions whose window has ended, longest overdue first."""

    @abc.abstractmethod
    def keyed(self, keys: Sequence[str], since: float) -> dict[str, KeyedRequest]:
        """Return the requests with these keys since a time."""

    @abc.abstractmethod
    def all_keyed(self) -> Iterator[tuple[str, KeyedRequest, float]]:
        """Yield every stored request key with its request and time."""

    @abc.abstractmethod
    def history(self, since: float | None = None, stretch: float | None = None) -> list[HistoryRow]:
        """Return the history of each arm by time interval; `stretch` sets a longer interval."""

    @abc.abstractmethod
    def changes(self, after: int = 0) -> list[Entry]:
        """Return later events that are neither decisions nor rewards: see `CHANGES`."""

    @abc.abstractmethod
    def corrections(self, after: int, through: int) -> list[Entry]:
        """Return the `corrected` and `added` events between two sequence numbers."""

    @abc.abstractmethod
    def reported(self, after: int, decision: int) -> dict[str, int]:
        """Count the rewards reported in time (`rewarded`) and late (`late`).

        Args:
            after: Count only events after this sequence number.
            decision: Count only rewards of decisions after this number.
        """

    @abc.abstractmethod
    def matured(self, before: float | None = None) -> Entry | None:
        """Return the last `matured` event, or the last before a time."""

    @abc.abstractmethod
    def cohorts(
        self, after: int, number: int, length: float, default: float, old: int
    ) -> list[CohortRow]:
        """Count decisions and their rewards by the time slot in which decisions were shown.

        Args:
            after: Count only events after this sequence number.
            number: The number of decisions at that event.
            length: The length of a slot, in seconds.
            default: The default reward; such rewards do not count as reports.
            old: Skip decisions up to this number, which were made under earlier terms.
        """

    @abc.abstractmethod
    def rewards(self, column: int) -> dict[int, float]:
        """Return all rewards of an arm that count, by decision number."""

    @abc.abstractmethod
    def unclosed(self, old: int, now: float, default: float) -> list[UnclosedRow]:
        """Count decisions up to a number whose window is open, or that wait without a window."""

    @abc.abstractmethod
    def of_unit(self, unit: str, after: int, through: int) -> list[DecisionRow]:
        """Return the decisions of a unit in a range of decision numbers."""

    @abc.abstractmethod
    def watch(self) -> Record | None:
        """Return the stored state of the shift tests; `None` before the first test."""

    @abc.abstractmethod
    def snapshot(self, through: int) -> Snapshot | None:
        """Return the last snapshot at or before a sequence number."""


class Store(abc.ABC):
    """The contract of a store; one test suite checks it on SQLite and PostgreSQL.

    - Transactions are atomic even if a process dies, and are on disk when `transact` returns.
    - Transactions that write to one campaign are serialized. Writers wait in turn, and none
      starves. Each sees the result of the transactions before it.
    - `reading` sees a consistent snapshot, does not wait for writers, and changes nothing.
    - The events of a campaign are numbered 1, 2, 3, … without a gap. They are never changed or
      removed.
    - A unit has at most one current decision per epoch of a campaign, and numbers and ids of
      decisions are unique. A transaction that violates this is refused as a whole.
    - A request key is stored for at least `KEY_SECONDS`. Each snapshot removes some older keys.
    - Numbers are stored exactly, to the last bit.
    - `StoreUnavailable` is raised if the store cannot be reached, read or written. Then nothing was
      written, and the call can be retried later. A transaction whose connection breaks is first
      retried for a few seconds. If the connection breaks during the commit, the store checks
      whether the commit succeeded, so that it never happens twice. Only if the store stays
      unreachable is the outcome unknown; rewards, and requests with a unit or a key, are safe to
      retry.
    - A store is thread-safe, and a process may be forked while one is open.
    """

    @abc.abstractmethod
    def create(self, row: CampaignRow, arms: Sequence[ArmRow]) -> CampaignRow:
        """Insert a campaign, which gets its id here; raise `Conflict` if its name is taken."""

    @abc.abstractmethod
    def find(self, name: str) -> CampaignRow | None:
        """Return the campaign of this name, if there is one."""

    @abc.abstractmethod
    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""

    @abc.abstractmethod
    def counters(self) -> dict[str, Counters]:
        """Return the counters of each campaign by name, in one query."""

    @abc.abstractmethod
    def owner(self, decision_id: str) -> str | None:
        """Return the name of the campaign that made a decision, if the decision exists."""

    @abc.abstractmethod
    def reading(self, campaign: int) -> AbstractContextManager[Reader]:
        """Read one campaign in a consistent snapshot."""

    @abc.abstractmethod
    def transact(self, campaign: int, work: Callable[[Reader], Changes | None]) -> None:
        """Write to one campaign, exclusively.

        Args:
            campaign: Its id.
            work: Reads, and returns the changes to write, or `None`. If it raises, nothing is
                written and the exception propagates. It is called again if the connection breaks,
                so it must depend only on what it reads.
        """

    @abc.abstractmethod
    def add_key(self, row: KeyRow) -> None:
        """Insert a new server key; raise `Conflict` if its id is taken."""

    @abc.abstractmethod
    def keys(self) -> list[KeyRow]:
        """Return all server keys, including revoked and expired ones, oldest first."""

    @abc.abstractmethod
    def key_counts(self) -> tuple[int, int, float]:
        """Return the number of keys and of revoked keys, and when the last was created.

        Every change of the keys changes this result, which is faster to read than the keys.
        """

    @abc.abstractmethod
    def revoke_key(self, key_id: str, at: float) -> KeyRow:
        """Revoke a key; raise `NotFound` if there is none. Revoking again keeps the first time."""

    @abc.abstractmethod
    def generation(self) -> int:
        """Return a number that changes if the store may have been replaced."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close all connections; the next call opens new ones."""


def open_store(store: str | Store) -> Store:
    """The store at an address: `"sqlite:///bandit.db"`, `"bandit.db"` alone, or `"postgresql://…"`.

    An SQLite file that is not there yet is created, and so are the tables of an empty database.

    Raises:
        StoreMismatch: The tables are older or newer than this program.
        StoreUnavailable: The store cannot be reached or read.
    """
    if isinstance(store, Store):
        return store
    if not isinstance(store, str):
        raise InvalidInput(
            f"must be an address such as 'sqlite:///bandit.db', got {store!r}", argument="store"
        )
    require_sql(store)
    opened: Store = importlib.import_module("driftanchor.live.stores.sql.sql_store").open_sql(store)
    return opened


def require_sql(store: str) -> None:
    """See that what a store at this address needs is installed; the error names the extra."""
    extra = "postgres" if store.startswith("postgres") else "live"
    require("sqlalchemy", extra=extra, why="a store of campaigns")


@contextlib.contextmanager
def opening(store: str | Store) -> Iterator[Store]:
    """As `open_store`; a store that was opened here is closed again if the block fails."""
    opened = open_store(store)
    try:
        yield opened
    except BaseException:
        if opened is not store:
            opened.close()
        raise


def first_rows(labels: Iterable[str], memory: int) -> list[ArmRow]:
    """The rows of the arms of a new campaign."""
    return [ArmRow(column, label, memory=[0.0] * memory) for column, label in enumerate(labels)]
