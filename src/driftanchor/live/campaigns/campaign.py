"""Campaign: durable decisions and rewards, shared by any number of processes."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Self, overload

from driftanchor.core import check, record
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.errors import Conflict, InvalidInput, NotFound, shown
from driftanchor.live.campaigns import change_requests, creating
from driftanchor.live.campaigns.batch import HISTORY_SECONDS, Request
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.change_requests import ChangeTerms, SweepAndCheck, valid_reason
from driftanchor.live.campaigns.decision import Decision, Receipt, decision_id_text, reward_pairs
from driftanchor.live.campaigns.explain import explain_decision
from driftanchor.live.campaigns.exporting import event_records, export
from driftanchor.live.campaigns.maturing import counts_for
from driftanchor.live.campaigns.requests import Ask, Correct, Expose, Tell
from driftanchor.live.campaigns.reward_feed import feed_problems
from driftanchor.live.campaigns.settings import KEEP, Keep, Settings
from driftanchor.live.campaigns.status import Status
from driftanchor.live.campaigns.verify import Verified, verify
from driftanchor.live.campaigns.watching import alarms_of, is_watched
from driftanchor.live.campaigns.write_queue import WriteQueue
from driftanchor.live.campaigns.writer import Writer
from driftanchor.live.explanation import Explanation
from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.rows import CampaignRow, DecisionRow, HistoryRow
from driftanchor.live.stores.store import Store, opening
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy

STORE = "sqlite:///driftanchor.db"


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


class Campaign:
    """A durable bandit: an acknowledged decision or reward is never lost or counted twice.

    Everything is in a store, SQLite or PostgreSQL. Any number of processes and threads can use the
    same campaign at the same time, and each may crash at any moment. Events are totally ordered,
    and the noise of decision n depends only on the seed and n. So any decision can be recomputed
    and explained later.

    A reward is reported with the id of its decision. Reporting it twice is harmless, so retry if
    you are not sure whether it arrived.

    Attributes:
        store: The store that holds the campaign.
        name: Its name.
        queue: The requests that wait to be written.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> offline = OfflineData.from_summary({"A": (200, 0.51, 0.25), "B": (200, 0.48, 0.25)})
        >>> place = f"sqlite:///{folder.name}/bandit.db"
        >>> campaign = Campaign.create("checkout", offline=offline, bias_bound=0.05, store=place)
        >>> decision = campaign.ask(unit="user-1")
        >>> campaign.tell(decision.id, 1.0).status, campaign.tell(decision.id, 1.0).status
        ('recorded', 'replayed')
        >>> campaign.status()
        <Status: checkout, guarded-anchor-ts, 2 arms, 1 decision, 1 reward, 0 pending>
        >>> campaign.close()
        >>> folder.cleanup()
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

    @classmethod
    def create(
        cls,
        name: str,
        *,
        offline: OfflineData | None = None,
        arms: Iterable[str] | None = None,
        policy: Policy | None = None,
        bias_bound: object = None,
        relative_bound: object = None,
        bias_bound_source: str | None = None,
        reward_range: object = None,
        reward: str | None = None,
        reward_window: float | None = None,
        default_reward: float | None = None,
        late: str = "ignore",
        sticky: str | None = "decision",
        exposure: str = "ask",
        floor: float = 0.0,
        control: Mapping[str, float] | None = None,
        on_alarm: str = "report",
        matters: float | None = None,
        allow_outside: bool = False,
        seed: int | None = None,
        store: str | Store = STORE,
        if_exists: str = "error",
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Create a campaign.

        Args:
            name: Its name in the store.
            offline: As for `Learner`, like `arms`, `policy`, `bias_bound`, `relative_bound`,
                `bias_bound_source`, `reward_range` and `seed`.
            arms: The labels.
            policy: The rule; by default the guarded rule in the units of the logs.
            bias_bound: V, how far an arm's online mean may be from its offline mean.
            relative_bound: W, how far an arm may have moved relative to a move all arms share.
            bias_bound_source: Where the bounds come from.
            reward_range: The lowest and highest possible reward; others are refused.
            reward: As in `Settings`, like the arguments up to `allow_outside`. By default
                `"binary"` if all logged rewards are 0 or 1, else `"number"`.
            reward_window: Seconds within which a reward counts.
            default_reward: The reward to count if none arrives.
            late: How to treat a reward after the window.
            sticky: Which decision a returning unit gets.
            exposure: When a decision starts to wait for its reward.
            floor: The minimum probability of each arm.
            control: Arms with a larger floor.
            on_alarm: How to react to a shift alarm.
            matters: The smallest difference that matters.
            allow_outside: Accept rewards far outside the range of the logged rewards.
            seed: The seed of all noise; by default drawn at random and stored.
            store: The address of the store, or an open store.
            if_exists: `"error"`, or `"load"` to continue an existing campaign of this name that was
                created with the same arguments.
            clock: Returns the time, in seconds since 1970.

        Raises:
            Conflict: The name is taken; with `"load"`, by a campaign with other arguments.
        """
        check.choice(if_exists, "if_exists", ("error", "load"))
        check.function(clock, "clock")
        creating.valid_name(name)
        kind = reward
        if kind is None:
            kind = creating.inferred_kind(offline, reward_range, default_reward)
        declared: Any = {
            "offline": offline,
            "arms": arms,
            "bias_bound": bias_bound,
            "relative_bound": relative_bound,
            "bias_bound_source": bias_bound_source,
            "seed": seed,
        }
        ends = creating.range_of(kind, reward_range)
        terms = Terms.declare(policy, reward_range=ends, **declared)
        if reward is None and kind == "binary" and terms.reasons:
            terms = dataclasses.replace(terms, reasons=(*terms.reasons, creating.BINARY))
        creating.check_live(terms.policy)
        settings = Settings(
            reward=kind,
            reward_window=reward_window,
            default_reward=default_reward,
            late=late,
            sticky=sticky,
            exposure=exposure,
            floor=floor,
            control={} if control is None else control,
            on_alarm=on_alarm,
            matters=matters,
            allow_outside=allow_outside,
        ).checked(terms.arms, terms.reward_range)
        with opening(store) as opened:
            try:
                now = check.clock_time(clock)
                row = creating.insert_campaign(opened, name, terms, settings, now)
            except Conflict:
                if if_exists == "error":
                    raise
                row = creating.find_campaign(opened, name)
                kept = creating.read_campaign(row, creating.custom(policy))
                # Older versions did not infer the kind.
                if reward is None and kept[1].reward != kind:
                    settings = dataclasses.replace(settings, reward=kept[1].reward)
                    ends = creating.range_of(settings.reward, reward_range)
                    terms = Terms.declare(policy, reward_range=ends, **declared)
                campaign = cls(opened, row, *kept, clock)
                in_force = campaign.terms, campaign.settings
                creating.check_same(name, kept, in_force, (terms, settings), seed=seed is not None)
                return campaign
            return cls(opened, row, terms, settings, clock)

    @classmethod
    def load(
        cls,
        name: str,
        *,
        store: str | Store = STORE,
        policy: Policy | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Campaign:
        """Load an existing campaign, created by any process.

        Args:
            name: Its name.
            store: As for `create`, like `clock`.
            policy: The policy it was created with, if it is a custom one.
            clock: Returns the time.
        """
        check.function(clock, "clock")
        with opening(store) as opened:
            row = creating.find_campaign(opened, name)
            return cls(opened, row, *creating.read_campaign(row, policy), clock)

    @overload
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: None = None,
        peek: bool = False,
        key: str | None = None,
    ) -> Decision: ...
    @overload
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: int,
        peek: bool = False,
        key: str | None = None,
    ) -> list[Decision]: ...
    def ask(
        self,
        unit: str | None = None,
        *,
        exclude: Iterable[str] = (),
        n: int | None = None,
        peek: bool = False,
        key: str | None = None,
    ) -> Decision | list[Decision]:
        """Ask which arm to play. The decision is on disk when this returns.

        Args:
            unit: The user or session that the decision is for. A returning unit gets the same
                decision while it waits for its reward, or as `sticky` says. Without a unit every
                call is a new decision.
            exclude: Arms that cannot be played this time. A unit whose arm is excluded, or was
                archived since, gets a new decision, and `note` says why.
            n: The number of decisions; `ask` then returns a list.
            peek: Return what would be decided now, and record nothing.
            key: An idempotency key: for 24 hours the same key returns the same decisions, so that
                a request without a unit is safe to retry.

        Raises:
            Conflict: The key was used with another `unit`, `exclude`, `n` or `peek`.
            Conflict: The campaign is paused, and the unit has no decision.
            StoreUnavailable: The store cannot be written; nothing was decided.
        """
        ask = Ask.checked(unit, exclude, n, peek, key)
        answers: list[Decision] = self._do(ask)
        return answers[0] if n is None else answers

    def tell(self, decision_id: str, reward: float, *, allow_outside: bool = False) -> Receipt:
        """Report the reward of a decision. It is on disk when this returns. Safe to retry.

        Args:
            decision_id: The decision.
            reward: Its reward.
            allow_outside: Accept a reward far outside the range of the logged rewards.

        Raises:
            Conflict: The decision already has a different reward, which is kept.
            NotFound: There is no such decision.
            InvalidInput: The reward is not a number, not in `reward_range`, or far outside the
                logged rewards.
        """
        outside = check.flag(allow_outside, "allow_outside")
        receipt: Receipt = self._do(Tell(decision_id, reward, outside))
        return receipt

    def tell_many(
        self, rewards: Iterable[tuple[str, float]], *, allow_outside: bool = False
    ) -> list[Receipt | Exception]:
        """Report many rewards; return a receipt for each, or the error that `tell` would raise.

        Valid rewards are recorded even if others are refused.

        Args:
            rewards: Pairs of a decision and its reward.
            allow_outside: As for `tell`.
        """
        outside = check.flag(allow_outside, "allow_outside")
        tells = [Tell(one, reward, outside) for one, reward in reward_pairs(rewards)]
        return self.queue.submit(tells)

    def correct(
        self,
        decision_id: str,
        reward: float,
        *,
        before: float,
        reason: str | None = None,
        allow_outside: bool = False,
    ) -> Receipt:
        """Correct a reported reward, for example after a refund.

        The original reward stays in the history as an event; sums, alarms and exports use the
        corrected one. Safe to retry.

        Args:
            decision_id: The decision.
            reward: The right reward.
            before: The reward currently recorded.
            reason: The reason, recorded in the history.
            allow_outside: As for `tell`.

        Raises:
            Conflict: The recorded reward is not `before`, or no reported reward counts.
            NotFound: There is no such decision.
            InvalidInput: As for `tell`.
        """
        why = None if reason is None else valid_reason(reason)
        outside = check.flag(allow_outside, "allow_outside")
        receipt: Receipt = self._do(Correct(decision_id, reward, before, why, outside))
        return receipt

    def expose(self, decision_id: str) -> Receipt:
        """Report that a decision was shown; with `exposure="report"`, its window starts now."""
        receipt: Receipt = self._do(Expose(decision_id_text(decision_id)))
        return receipt

    def sweep(self) -> int:
        """Close all decisions whose window is over; return how many there were.

        Each `ask` and `tell` closes some of them, and `status` closes all, so you rarely need this.
        """
        swept = 0
        while closed := self._do(SweepAndCheck()):
            swept += closed
        return swept

    def pause(self) -> None:
        """Pause the campaign: make no new decisions, but still learn from rewards."""
        self._do(change_requests.SetPaused(True))

    def resume(self) -> None:
        """Resume making decisions."""
        self._do(change_requests.SetPaused(False))

    def new_epoch(self) -> int:
        """Start a new epoch, in which every unit gets a new decision; return its number."""
        epoch: int = self._do(change_requests.NextEpoch())
        return epoch

    def change(
        self,
        reason: str,
        *,
        reward_window: float | Keep | None = KEEP,
        default_reward: float | Keep | None = KEEP,
        floor: float | Keep = KEEP,
        control: Mapping[str, float] | Keep = KEEP,
        allow_outside: bool | Keep = KEEP,
        bias_bound: object = KEEP,
        relative_bound: object = KEEP,
    ) -> None:
        """Change settings or bounds from now on; values already in force change nothing.

        Earlier decisions keep their window and default reward, and `explain` uses the floors and
        bounds of their time. The change is recorded as an event with its reason, and `status`
        shows it.

        Args:
            reason: The reason, recorded in the history.
            reward_window: Seconds within which a reward counts; `None` to wait forever.
            default_reward: The reward to count if none arrives; `None` to count nothing.
            floor: The minimum probability of each arm.
            control: Arms with a larger floor; replaces the earlier ones.
            allow_outside: Whether rewards far outside the logged ones are accepted.
            bias_bound: V, as for `Campaign.create`; `inf` for no bound.
            relative_bound: W, as for `Campaign.create`; `inf` for no bound.

        Raises:
            InvalidInput: Nothing is given, a value is wrong, or the reason is missing.
        """
        self._do(
            ChangeTerms.checked(
                reason,
                reward_window=reward_window,
                default_reward=default_reward,
                floor=floor,
                control=control,
                allow_outside=allow_outside,
                bias_bound=bias_bound,
                relative_bound=relative_bound,
            )
        )

    def add_arm(
        self,
        label: str,
        offline: Summary = (0,),
        bias_bound: float | None = None,
        relative_bound: float | None = None,
    ) -> None:
        """Add an arm; the arguments are those of `Learner.add_arm`."""
        logs: Any = tuple(check.items(offline, "offline"))
        self._do(change_requests.AddArm(label, logs, bias_bound, relative_bound))

    def pause_arm(self, label: str) -> None:
        """Stop drawing this arm; units that have a decision for it keep it."""
        self._do(change_requests.SetArm(label, "paused"))

    def archive_arm(self, label: str) -> None:
        """Stop playing this arm; units that have a decision for it get a new one."""
        self._do(change_requests.SetArm(label, "archived"))

    def restore_arm(self, label: str) -> None:
        """Play a paused or archived arm again, with everything learned about it."""
        self._do(change_requests.SetArm(label, "active"))

    def distrust_arm(self, label: str) -> None:
        """Ignore the logs of this arm from now on, as after a shift alarm."""
        self._do(change_requests.Distrust(label))

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
        with self.store.reading(self._row.id) as reader:
            row = self._row_of(reader, wanted)
            return explain_decision(reader, row, self._first, self._settings)

    def decision(self, decision_id: str) -> DecisionRow:
        """Return a stored decision with its state and reward.

        Raises:
            NotFound: There is no such decision.
        """
        wanted = decision_id_text(decision_id)
        with self.store.reading(self._row.id) as reader:
            return self._row_of(reader, wanted)

    def _row_of(self, reader: Reader, decision_id: str) -> DecisionRow:
        rows = reader.decisions([decision_id])
        if not rows:
            raise NotFound(f"campaign {self.name!r} has no decision {shown(decision_id)}")
        return rows[0]

    def history(self, since: float | None = None, stretch: float | None = None) -> list[HistoryRow]:
        """Return the decisions and rewards of each arm in intervals of 15 minutes.

        Args:
            since: The start, in seconds since 1970.
            stretch: Return longer intervals, of this many seconds.
        """
        start = None if since is None else check.number(since, "since")
        longer = None if stretch is None else check.number(stretch, "stretch", low=HISTORY_SECONDS)
        with self.store.reading(self._row.id) as reader:
            return reader.history(start, longer)

    def events(self, after: int = 0, most: int = 1_000) -> list[record.Record]:
        """Return events in order, decisions with their propensities; events never change.

        Args:
            after: Return events after this sequence number.
            most: The maximum number of events.
        """
        start = check.whole(after, "after", low=0, high=2**62)
        count = check.whole(most, "most", low=1, high=2**31)
        with self.store.reading(self._row.id) as reader:
            arms = self._load(reader).terms.arms
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
        with self.store.reading(self._row.id) as reader:
            arms = self._load(reader).terms.arms
            return export(reader, arms, path, what, escape_formulas=escape_formulas)

    def verify(self) -> Verified:
        """Replay all events and compare the result with the stored data.

        Raises:
            UnreadableState: The data differ; the message says where.
        """
        with self.store.reading(self._row.id) as reader:
            return verify(reader, self._first, self._settings)

    def close(self) -> None:
        """Write queued requests and close the connections; the next call opens new ones."""
        self.queue.finish()
        self.store.close()

    def __enter__(self) -> Self:
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
        with self.store.reading(self._row.id) as reader:
            current = self._load(reader)
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
        now, last = self._now(), check.whole(since, "since", low=-1)
        with self.store.reading(self._row.id) as reader:
            seq = reader.counters.seq
            current = self._load(reader)
            is_due = current.windowed and bool(reader.due(now, 1))
            counts = counts_for(current, None)
            if counts is None:
                is_due = is_due or current.state.live is not None  # an estimate to drop
            else:
                is_due = is_due or counts.is_due(now, current.matured_at)
            if not is_due and seq != last:
                is_due = is_watched(current)
        if is_due:
            self.sweep()
        return seq

    def submit(self, requests: Sequence[Request]) -> list[Any]:
        """Execute many requests together; return an answer or exception for each.

        Raises:
            StoreUnavailable: The store cannot be written; nothing was done.
        """
        return self.queue.submit([_request(x) for x in check.items(requests, "requests")])

    def enqueue(self, request: Request) -> Future[Any]:
        """Return a future for one request: its answer after the commit, or the exception.

        Cancelling the future drops the request, unless its transaction has started. Its callbacks
        run in the thread that writes, so they must not wait for this campaign.

        Raises:
            Overloaded: Too many requests wait for the store.
        """
        return self.queue.enqueue(_request(request))

    def _now(self) -> float:
        return check.clock_time(self._clock)

    def _load(self, reader: Reader) -> CampaignState:
        return CampaignState.load(reader, self._first, self._settings)

    def _current(self) -> CampaignState:
        with self.store.reading(self._row.id) as reader:
            return self._load(reader)

    def _do(self, request: Request) -> Any:
        """Execute one request, and return its answer or raise its exception."""
        [outcome] = self.queue.submit([request])
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def _request(value: Any) -> Request:
    """Return a request; refuse anything else before it reaches the queue."""
    if not (callable(value) and hasattr(type(value), "needs")):
        raise InvalidInput(
            f"must be a request of this package, such as Ask, got {shown(value)}",
            argument="request",
        )
    request: Request = value
    return request
