"""Handle: read access to an open campaign."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple

from driftanchor.core import check, record
from driftanchor.errors import InvalidInput, NotFound, shown
from driftanchor.live.campaigns.arm_requests import SweepAndCheck
from driftanchor.live.campaigns.batch import Request
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.decision import decision_id_text
from driftanchor.live.campaigns.exporting import event_records, export
from driftanchor.live.campaigns.maturing import counts_for
from driftanchor.live.campaigns.past import STRETCH
from driftanchor.live.campaigns.recount import explain_again
from driftanchor.live.campaigns.reward_feed import feed_problems
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.status import Status
from driftanchor.live.campaigns.verify import Verified, verify
from driftanchor.live.campaigns.watching import alarms_of, is_watched
from driftanchor.live.campaigns.write_queue import WriteQueue
from driftanchor.live.campaigns.writer import Writer, load
from driftanchor.live.explanation import Explanation
from driftanchor.live.stores.rows import CampaignRow, DecisionRow, HistoryRow
from driftanchor.live.stores.store import Reader, Store
from driftanchor.live.terms import Terms


class NotCopied(InvalidInput, TypeError):
    """An open campaign has connections and threads, which no copy can share."""


class CampaignReader(NamedTuple):
    """A campaign as one read transaction sees it."""

    reader: Reader
    current: CampaignState
    first: Terms  # the initial terms
    row: CampaignRow
    now: float  # seconds since 1970

    def status(self) -> Status:
        """Return the status of the campaign, from stored data only."""
        problems = feed_problems(self.row.name, self.current, self.reader, self.now)
        alarms = alarms_of(self.reader.watch())
        return Status.of(self.row.name, self.current, alarms, problems=problems)


class Handle:
    """Read access to an open campaign.

    Attributes:
        store: The store that holds the campaign.
        name: Its name.
        queue: The requests that wait to be written.
    """

    def __init__(
        self,
        store: Store,
        row: CampaignRow,
        terms: Terms,
        settings: Settings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use `Campaign.create` or `Campaign.load`."""
        self.store = store
        self.name = row.name
        self._settings = settings  # the initial ones
        self._row, self._first = row, terms
        self._clock = clock
        self.queue = WriteQueue(Writer(store, row, terms, settings, clock).write)

    def status(self) -> Status:
        """Return the current status; nothing in it is random.

        Decisions whose window is over are closed first, and the bounds are checked.
        """
        self.bring_up_to_date()
        with self.at_one_moment() as reading:
            return reading.status()

    def counts(self) -> record.Record:
        """Return the numbers of `status` that are cheap to compute; nothing is written."""
        current = self._current()
        return {
            "name": self.name,
            "policy": current.terms.policy.name,
            "arms": len(current.terms.arms),
            "decisions": current.counters.decisions,
            "rewards": current.state.reward_count,
            "pending": current.state.pending_count,
            "paused": current.counters.paused,
        }

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._current().settings

    @property
    def sticky(self) -> str | None:
        """The setting `sticky`, which never changes."""
        return self._settings.sticky

    @property
    def terms(self) -> Terms:
        """The terms in force, including arms added later."""
        return self._current().terms

    def explain(self, decision_id: str) -> Explanation:
        """Explain a decision by recomputing it from the state in which it was made.

        Raises:
            NotFound: There is no such decision.
            UnreadableState: The recomputed decision differs.
        """
        wanted = decision_id_text(decision_id)
        with self._reading() as reader:
            row = self._found(reader, wanted)
            return explain_again(reader, row, self._first, self._settings)

    def decision(self, decision_id: str) -> DecisionRow:
        """Return a stored decision with its state and reward.

        Raises:
            NotFound: There is no such decision.
        """
        wanted = decision_id_text(decision_id)
        with self._reading() as reader:
            return self._found(reader, wanted)

    def _found(self, reader: Reader, decision_id: str) -> DecisionRow:
        found = reader.decisions([decision_id])
        if not found:
            raise NotFound(f"campaign {self.name!r} has no decision {shown(decision_id)}")
        return found[0]

    def history(self, since: float | None = None, stretch: float | None = None) -> list[HistoryRow]:
        """Return the decisions and rewards of each arm in intervals of 15 minutes.

        Args:
            since: The start, in seconds since 1970.
            stretch: The length of longer intervals, in seconds.
        """
        start = None if since is None else check.number(since, "since")
        longer = None if stretch is None else check.number(stretch, "stretch", low=STRETCH)
        with self._reading() as reader:
            return reader.history(start, longer)

    def events(self, after: int = 0, most: int = 1_000) -> list[record.Record]:
        """Return events in order, decisions with their propensities; events never change.

        Args:
            after: Return events after this sequence number.
            most: The maximum number of events.
        """
        start = check.whole(after, "after", low=0, high=2**62)
        count = check.whole(most, "most", low=1, high=2**31)
        with self._reading() as reader:
            arms = load(reader, self._first, self._settings).terms.arms
            return event_records(reader, arms, start, count)

    def export(
        self,
        path: str | os.PathLike[str],
        what: str = "decisions",
        *,
        escape_formulas: bool = True,
    ) -> int:
        """Write all decisions with their propensities, or all events, to a file.

        Args:
            path: The file; its extension selects the format: .csv, .jsonl or .parquet.
            what: `"decisions"` or `"events"`.
            escape_formulas: In CSV, put an apostrophe before text that looks like a formula.

        Returns:
            The number of rows written.
        """
        with self._reading() as reader:
            arms = load(reader, self._first, self._settings).terms.arms
            return export(reader, arms, path, what, escape_formulas=escape_formulas)

    def verify(self) -> Verified:
        """Replay all events and compare the result with the stored data.

        Raises:
            UnreadableState: The data differ; the message says where.
        """
        with self._reading() as reader:
            return verify(reader, self._first, self._settings)

    def close(self) -> None:
        """Write queued requests and close the connections; the next call opens new ones."""
        self.queue.finish()
        self.store.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name}>"

    def __reduce__(self) -> str:
        raise NotCopied(
            f"campaign {self.name!r} is open and cannot be copied or pickled: load it again by its "
            "name, with Campaign.load, where it is needed"
        )

    @contextmanager
    def at_one_moment(self) -> Iterator[CampaignReader]:
        """Read the campaign in one consistent snapshot, without writing.

        Unlike `status` this neither closes decisions nor checks bounds.
        """
        with self._reading() as reader:
            current = load(reader, self._first, self._settings)
            yield CampaignReader(reader, current, self._first, self._row, self._now())

    def prepare(self) -> None:
        """Compile the policy in the background, or load its kernels from disk.

        Calling this is optional, because the first decisions trigger it too. It saves them some
        tenths of a second each.
        """
        current = self._current()
        if not current.counters.paused:
            current.decider.start_compiling()
            current.propensities.start_compiling(current.decider.situation()[0])

    def bring_up_to_date(self, since: int = -1) -> int:
        """Close decisions whose window is over, estimate delayed rewards, and check bounds.

        No-op if nothing is due.

        Args:
            since: The return value of the last call; bounds are checked only if events are new.

        Returns:
            The sequence number of the last event before this call.
        """
        now = self._now()
        with self._reading() as reader:
            seq = reader.counters.seq
            current = load(reader, self._first, self._settings)
            is_due = current.windowed and bool(reader.due(now, 1))
            counts = counts_for(current, None)
            if counts is None:
                is_due = is_due or current.state.live is not None  # an estimate to drop
            else:
                is_due = is_due or counts.is_due(now, current.matured_at)
            if not is_due and seq != since:
                is_due = is_watched(current)
        if is_due:
            self._sweep()
        return seq

    def submit(self, requests: Sequence[Request]) -> list[Any]:
        """Execute many requests together; return an answer or exception for each.

        Raises:
            StoreUnavailable: The store cannot be written; nothing was done.
        """
        return self.queue.submit(requests)

    def enqueue(self, request: Request) -> Future[Any]:
        """Return a future for one request: its answer after the commit, or the exception.

        Cancelling the future drops the request, unless its transaction has started.

        Raises:
            Overloaded: Too many requests wait for the store.
        """
        return self.queue.enqueue(request)

    def _sweep(self) -> int:
        """Close all decisions whose window is over, check bounds, and return how many closed."""
        swept = 0
        while found := self._do(SweepAndCheck()):
            swept += found
        return swept

    def _now(self) -> float:
        return check.clock_time(self._clock)

    def _current(self) -> CampaignState:
        with self._reading() as reader:
            return load(reader, self._first, self._settings)

    @contextmanager
    def _reading(self) -> Iterator[Reader]:
        with self.store.reading(self._row.id) as reader:
            yield reader

    def _do(self, request: Request) -> Any:
        """Execute one request, and return its answer or raise its exception."""
        return self.enqueue(request).result()
