"""Store: the contract of what keeps campaigns, and how to open one."""

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
from driftanchor.live.stores.store_rows import (
    ArmRow,
    CampaignRow,
    CohortRow,
    DecisionRow,
    Head,
    HistoryRow,
    KeyedRequest,
    Snapshot,
    UnclosedRow,
)


@dataclass(slots=True)
class Changes:
    """What a transaction writes, all of it or nothing.

    Attributes:
        head: Where the campaign is now.
        entries: The new events, whose places follow the last one without a gap.
        arms: The arms that changed, or that are new.
        made: The new decisions.
        settled: Earlier decisions that changed.
        history: What is added to the history.
        keys: The keys of requests, each with its decisions.
        expected: The sums of propensities, if they changed; see `PropensitySums`.
        snapshot: A snapshot to keep.
        watch: What is kept to watch the promises, if it changed.
    """

    head: Head
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
    """What can be read of one campaign; all of it belongs to the same moment."""

    head: Head

    @abc.abstractmethod
    def named(self, name: str) -> CampaignRow | None:
        """The campaign of this name in the same store, if there is one."""

    @abc.abstractmethod
    def entries(self, after: int, through: int | None = None) -> Iterator[Entry]:
        """The events after one place, in order, through another if that is given."""

    @abc.abstractmethod
    def arms(self) -> list[ArmRow]:
        """All arms, by column."""

    @abc.abstractmethod
    def expected(self) -> bytes:
        """The sums of propensities, as `PropensitySums` has them; empty before the first."""

    @abc.abstractmethod
    def decisions(self, ids: Sequence[str]) -> list[DecisionRow]:
        """Those of the campaign's decisions that have one of these ids."""

    @abc.abstractmethod
    def all_decisions(self, after: int = 0, page: int = 5_000) -> Iterator[DecisionRow]:
        """Every decision after one, in the order of their numbers; `page` are fetched together."""

    @abc.abstractmethod
    def holding(self, units: Sequence[str], epoch: int) -> list[DecisionRow]:
        """The decisions that these units get again in this epoch, at most one for each."""

    @abc.abstractmethod
    def due(self, now: float, most: int) -> list[DecisionRow]:
        """Decisions that wait although their window has ended, the longest first."""

    @abc.abstractmethod
    def keyed(self, keys: Sequence[str], since: float) -> dict[str, KeyedRequest]:
        """The requests that had these keys, of those that came after a time."""

    @abc.abstractmethod
    def all_keyed(self) -> Iterator[tuple[str, KeyedRequest, float]]:
        """Every key of a request that is stored, the request, and when it came."""

    @abc.abstractmethod
    def history(self, since: float | None = None, stretch: float | None = None) -> list[HistoryRow]:
        """What happened to each arm, by stretches of time; longer ones if `stretch` says so."""

    @abc.abstractmethod
    def changes(self, after: int = 0) -> list[Entry]:
        """The events after a place that are neither decisions nor rewards: see `CHANGES`."""

    @abc.abstractmethod
    def corrections(self, after: int, through: int) -> list[Entry]:
        """The events between two places that change a reward: `corrected` and `added`."""

    @abc.abstractmethod
    def reported(self, after: int, decision: int) -> dict[str, int]:
        """How many rewards were reported in time (`rewarded`) and too late (`late`).

        Args:
            after: Count only events after this place.
            decision: Count only rewards of decisions after this number.
        """

    @abc.abstractmethod
    def matured(self, before: float | None = None) -> Entry | None:
        """The last `matured` event: the estimate of live rewards now, or before a time."""

    @abc.abstractmethod
    def cohorts(
        self, after: int, number: int, length: float, default: float, old: int
    ) -> list[CohortRow]:
        """Count decisions and their rewards by the slot of time in which decisions were shown.

        Args:
            after: Count what happened after this event.
            number: How many decisions there were then.
            length: Seconds of a slot.
            default: The reward that is not counted as a report.
            old: Leave out decisions up to this number: they were made under earlier terms.
        """

    @abc.abstractmethod
    def rewards(self, column: int) -> dict[int, float]:
        """All rewards of an arm that count, by the number of their decisions."""

    @abc.abstractmethod
    def unclosed(self, old: int, now: float, default: float) -> list[UnclosedRow]:
        """Count decisions up to a number whose window is open, or that wait without a window."""

    @abc.abstractmethod
    def of_unit(self, unit: str, after: int, through: int) -> list[DecisionRow]:
        """The decisions of a unit, of those whose number is after one and through another."""

    @abc.abstractmethod
    def watch(self) -> Record | None:
        """What is kept to watch the promises; `None` before the first look."""

    @abc.abstractmethod
    def snapshot(self, through: int) -> Snapshot | None:
        """The last snapshot that was taken at this place or before it."""


class Store(abc.ABC):
    """Keeps campaigns: SQLite and PostgreSQL follow this contract, and one suite tests it on both.

    - A transaction happens as a whole or not at all, whatever dies, and when `transact` returns
      it is on disk.
    - Transactions that write to one campaign happen one after the other. A writer waits for its
      turn, and none starves. What it reads is what the transactions before it left.
    - `reading` sees one moment, does not wait for writers, and changes nothing.
    - The events of a campaign have the places 1, 2, 3, … without a gap. They are never changed and
      never removed.
    - A unit holds at most one decision in an epoch of a campaign, and a decision has one number
      and one id. A transaction that breaks this is refused as a whole.
    - The key of a request is stored for at least `KEY_SECONDS`. Each snapshot removes some older
      ones.
    - Numbers come back as they were written, to the last bit.
    - `StoreUnavailable` is raised when the store cannot be reached, read or written. Nothing was
      written then, and the same call works again once the cause is gone. A transaction whose
      connection breaks is tried again for a few seconds first. If it breaks while the transaction
      ends, the store looks whether it happened, so that it never happens twice. Only if the store
      does not come back in that time is it unknown whether the transaction happened; what asks
      with a unit or a key, and what tells, may be repeated.
    - Threads may share a store, and a process may be forked while one is open.
    """

    @abc.abstractmethod
    def create(self, row: CampaignRow, arms: Sequence[ArmRow]) -> CampaignRow:
        """Keep a new campaign; `Conflict` if its name is taken. The store gives it its id."""

    @abc.abstractmethod
    def find(self, name: str) -> CampaignRow | None:
        """The campaign of this name, if there is one."""

    @abc.abstractmethod
    def names(self) -> list[str]:
        """The names of all campaigns, sorted."""

    @abc.abstractmethod
    def heads(self) -> dict[str, Head]:
        """Where each campaign is, by name: one query, however many there are."""

    @abc.abstractmethod
    def owner(self, decision_id: str) -> str | None:
        """The name of the campaign that made a decision, if there is such a decision."""

    @abc.abstractmethod
    def reading(self, campaign: int) -> AbstractContextManager[Reader]:
        """Read one campaign at one moment."""

    @abc.abstractmethod
    def transact(self, campaign: int, work: Callable[[Reader], Changes | None]) -> None:
        """Write to one campaign, alone.

        Args:
            campaign: Its id.
            work: Reads, and gives what to write; `None` for nothing. What it raises is raised, and
                nothing is written. It is called again if the connection broke, so it must depend
                on nothing but what it reads.
        """

    @abc.abstractmethod
    def add_key(self, row: KeyRow) -> None:
        """Keep a new key of the server; `Conflict` if its id is taken."""

    @abc.abstractmethod
    def keys(self) -> list[KeyRow]:
        """All keys of the server, also the revoked and the expired ones, the oldest first."""

    @abc.abstractmethod
    def key_counts(self) -> tuple[int, int, float]:
        """How many keys there are and are revoked, and when the last was made.

        Every change of the keys changes this, which is quicker to read than the keys.
        """

    @abc.abstractmethod
    def revoke_key(self, key_id: str, at: float) -> KeyRow:
        """Revoke a key; `NotFound` if there is none. The first time it was revoked stays."""

    @abc.abstractmethod
    def generation(self) -> int:
        """A number that changes when the store may be another one than before."""

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
