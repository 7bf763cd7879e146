"""Requests of many threads in one transaction, and what one that fails does to the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from campaign_parts import Clock, create
from interrupt import Interrupt

from driftanchor import Campaign, StoreUnavailable
from driftanchor.live.campaigns import group_commit
from driftanchor.live.campaigns.asking import Ask
from driftanchor.live.campaigns.batch import NOTHING, Batch
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql
from driftanchor.live.stores.store import Changes, Reader


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    opened = open_sql(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


class Halfway:
    """A request that changes something and then fails."""

    needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        batch.record("paused")
        raise ZeroDivisionError


class Refused:
    """A request that fails before it changes anything."""

    needs = NOTHING

    def __call__(self, batch: Batch) -> None:
        raise ZeroDivisionError


def test_a_request_that_fails_spoils_no_other(store: SqlStore) -> None:
    campaign = create(store)
    outcomes = campaign._requests.submit([Ask(), Refused(), Ask(), Halfway(), Ask()])
    kinds = [type(x).__name__ for x in outcomes]
    assert kinds == ["list", "ZeroDivisionError", "list", "ZeroDivisionError", "list"]
    status = campaign.status()
    assert (status.decisions, status.paused) == (3, False)
    campaign.verify()


def test_slow_requests_are_spread_over_transactions(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other campaigns of an SQLite store get their turn between these transactions."""
    monkeypatch.setattr(group_commit, "LONGEST", 0.0)
    campaign = create(store)
    seen: list[int] = []

    class Seen:
        """A request that notes how many decisions are on disk already."""

        needs = NOTHING

        def __call__(self, batch: Batch) -> None:
            with Campaign.load("c", store=store).at_one_moment() as reading:
                seen.append(reading.current.counters.decisions)

    outcomes = campaign.submit([Ask(), Seen(), Ask(), Ask(), Seen(), Halfway(), Ask(), Seen()])
    kinds = [type(x).__name__ for x in outcomes]
    assert [kind for kind in kinds if kind != "NoneType"] == [
        *["list"] * 3,
        "ZeroDivisionError",
        "list",
    ]
    assert seen == [1, 3, 4]
    assert campaign.verify().decisions == 4


def test_threads_share_transactions(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one transaction is held up, all others queue for the next one."""
    campaign, count = create(store), 8
    sizes, first, go_on = list[int](), threading.Event(), threading.Event()
    transact = SqlStore.transact

    def slowly(self: SqlStore, number: int, work: Callable[[Reader], Changes | None]) -> None:
        def counted(reader: Reader) -> Changes | None:
            changes = work(reader)
            sizes.append(0 if changes is None else len(changes.made))
            return changes

        if not first.is_set():
            first.set()
            go_on.wait(60)
        transact(self, number, counted)

    monkeypatch.setattr(SqlStore, "transact", slowly)
    threads = [threading.Thread(target=campaign.ask) for _ in range(count)]
    threads[0].start()
    first.wait(60)
    for thread in threads[1:]:
        thread.start()
    while len(campaign._requests._waiting) < count - 1:
        pass
    go_on.set()
    for thread in threads:
        thread.join()
    assert sizes == [1, count - 1]
    assert campaign.verify().decisions == count


def test_a_thread_that_is_interrupted_holds_nobody_up(store: SqlStore) -> None:
    """It leaves while it waits, or just as it is to write."""
    campaign = create(store)
    requests = campaign._requests
    for leads in (False, True):
        job = group_commit._Job([Ask()])
        other = group_commit._Job([Ask()])
        other.turn = threading.Event()
        writer = job if leads else group_commit._Job([Ask()])
        requests._waiting, requests._leader = [job, other], writer
        requests._leave(job)
        requests._leave(job)  # once more, because it was interrupted while it left
        assert requests._waiting == [other]
        assert requests._leader is (other if leads else writer)
        assert other.turn.is_set() == leads
        requests._waiting, requests._leader = [], None
    assert campaign.ask().number == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_holds_nobody_up(store: SqlStore) -> None:
    campaign = create(store)
    campaign.ask()
    requests, interrupted = campaign._requests, 0
    for place in range(1, 1_000):
        interrupt = Interrupt(place, group_commit.__file__, "with self._mutex:")
        error = interrupt.during(campaign.ask)  # kept, as a shell keeps it
        interrupted += error is not None
        assert (requests._leader, requests._waiting) == (None, [])
        if interrupt.left > 0:
            break
    assert interrupted > 40
    assert campaign.verify().decisions == campaign.ask().number - 1


def test_what_one_thread_meets_is_not_the_fate_of_the_others(store: SqlStore) -> None:
    class Broken(Clock):
        failures = 0

        def __call__(self) -> float:
            self.failures -= 1
            if self.failures >= 0:
                raise ZeroDivisionError
            return self.now

    clock = Broken()
    campaign = create(store, clock=clock)
    for failures, kinds in ((1, [list, list]), (2, [ZeroDivisionError, list])):
        clock.failures = failures
        jobs = [group_commit._Job([Ask()]) for _ in range(2)]
        campaign._requests._write_all(jobs)
        assert [job.done for job in jobs] == [True, True]
        assert [type(job.outcomes[0]) for job in jobs] == kinds
    assert campaign.verify().decisions == 3


def test_all_hear_of_a_store_that_is_away(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = create(store)

    def fail(self: SqlStore, number: int, work: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(SqlStore, "transact", fail)
        errors = []

        def ask() -> None:
            try:
                campaign.ask()
            except StoreUnavailable as error:
                errors.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(errors) == 4
    assert campaign.ask().number == 1


def test_a_worker_that_was_left_behind_loads_the_sums(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MOST_EVENTS", 5)
    one = create(store, floor=0.1)
    other = Campaign.load("c", store=store, clock=Clock())
    for count in (1, 3, 9):
        one.ask(n=count)
        seen = other.ask(peek=True)
        assert (seen.number, seen.arm) == (one.status().decisions + 1, one.ask(peek=True).arm)
    other.ask()
    assert one.status().to_json() == other.status().to_json()
    one.verify()
