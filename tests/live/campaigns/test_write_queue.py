"""Requests of many threads in one transaction, and one that fails among them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from campaign_parts import Clock, create
from interrupt import Interrupt

from driftanchor import Campaign, InvalidInput, StoreUnavailable
from driftanchor.live.campaigns import write_queue, writer
from driftanchor.live.campaigns.batch import NOTHING, Batch, Request
from driftanchor.live.campaigns.requests import Ask
from driftanchor.live.campaigns.write_queue import Overloaded, WriteQueue


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    opened = create(f"sqlite:///{tmp_path / 'store.db'}")
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


class Slow:
    """A request that keeps its thread busy until `go_on` is set."""

    needs = NOTHING

    def __init__(self) -> None:
        self.started, self.go_on = threading.Event(), threading.Event()

    def __call__(self, batch: Batch) -> None:
        self.started.set()
        self.go_on.wait(60)


def hold_up(campaign: Campaign) -> Slow:
    """Start a transaction that lasts until `go_on` is set."""
    slow = Slow()
    campaign.enqueue(slow)
    slow.started.wait(60)
    return slow


def test_an_interrupted_caller_leaves_no_lock_taken(campaign: Campaign) -> None:
    place = left = 0
    while left <= 0:  # interrupt at the return of each function in turn
        place += 1
        left = place

        def trace(frame: FrameType, kind: str, _: object) -> Any:
            nonlocal left
            left -= kind == "return"
            if kind == "return" and left == 0:
                raise KeyboardInterrupt
            return trace

        slow = hold_up(campaign)
        timer = threading.Timer(0.02, slow.go_on.set)
        timer.start()
        before = sys.gettrace()
        with contextlib.suppress(KeyboardInterrupt):
            try:
                sys.settrace(trace)
                campaign.ask()
            finally:
                sys.settrace(before)
        timer.join()
        other = threading.Thread(target=campaign.ask, daemon=True)
        other.start()
        other.join(10)
        assert not other.is_alive(), f"blocked since an interrupt at return {place}"


def test_a_request_that_fails_spoils_no_other(campaign: Campaign) -> None:
    outcomes = campaign.submit([Ask(), Refused(), Ask(), Halfway(), Ask()])
    kinds = [type(x).__name__ for x in outcomes]
    assert kinds == ["list", "ZeroDivisionError", "list", "ZeroDivisionError", "list"]
    status = campaign.status()
    assert (status.decisions, status.paused) == (3, False)
    campaign.verify()


def test_a_policy_that_exits_leaves_the_queue_working(campaign: Campaign) -> None:
    class Exits(Refused):
        def __call__(self, batch: Batch) -> None:
            raise SystemExit

    with pytest.raises(SystemExit):
        campaign.enqueue(Exits()).result()
    assert campaign.ask().number == 1


def test_slow_requests_are_spread_over_transactions(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other campaigns of an SQLite store get their turn between these transactions."""
    monkeypatch.setattr(writer, "MAX_SECONDS", 0.0)
    seen: list[int] = []

    class Seen:
        """A request that notes how many decisions are on disk already."""

        needs = NOTHING

        def __call__(self, batch: Batch) -> None:
            with Campaign.load("c", store=campaign.store).at_one_moment() as reading:
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


def test_threads_share_transactions(campaign: Campaign) -> None:
    """While one transaction is held up, all others queue for the next one."""
    sizes: list[int] = []
    campaign.queue.on_batch = lambda size, _: sizes.append(size)
    slow = hold_up(campaign)
    futures = [campaign.enqueue(Ask(f"u{i}")) for i in range(7)]
    assert campaign.queue.waiting == 8
    slow.go_on.set()
    assert {future.result()[0].number for future in futures} == set(range(1, 8))
    campaign.queue.finish()
    assert sizes == [1, 7]
    assert campaign.queue.waiting == 0
    assert campaign.verify().decisions == 7


def test_a_cancelled_request_is_dropped(campaign: Campaign) -> None:
    slow = hold_up(campaign)
    cancelled, other = campaign.enqueue(Ask()), campaign.enqueue(Ask("u"))
    assert cancelled.cancel()
    slow.go_on.set()
    assert other.result()[0].number == 1
    campaign.queue.finish()
    assert campaign.queue.waiting == 0


def test_an_interrupted_caller_leaves_the_transaction_alone(campaign: Campaign) -> None:
    slow, main = hold_up(campaign), threading.main_thread().ident
    assert main is not None
    threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        campaign.ask("u")
    slow.go_on.set()
    campaign.queue.finish()
    assert campaign.verify().decisions == 1
    assert campaign.ask("u").replayed


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_leaves_the_queue_working(campaign: Campaign) -> None:
    """With the thread of the last request still there, and without it."""
    interrupted = 0
    for place in range(1, 100):
        for pause in (0.0, 5 * write_queue.LINGER):
            threading.Event().wait(pause)
            interrupt = Interrupt(place, write_queue.__file__)
            interrupted += interrupt.during(campaign.ask) is not None
            assert campaign.enqueue(Ask()).result(60)
        if interrupt.left > 0:
            break
    assert interrupted > 20
    campaign.queue.finish()
    assert campaign.verify().decisions == campaign.ask().number - 1


def test_a_full_queue_refuses_requests(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "MAX_WAITING", 1)
    slow = hold_up(campaign)
    with pytest.raises(Overloaded, match="wait for the store"):
        campaign.ask()
    slow.go_on.set()
    campaign.queue.finish()
    assert campaign.ask().number == 1


def test_closing_writes_all_that_waits(campaign: Campaign) -> None:
    futures = [campaign.enqueue(Ask()) for _ in range(3)]
    campaign.close()
    assert all(future.done() for future in futures)


def test_one_failure_does_not_hit_the_others(tmp_path: Path) -> None:
    class Broken(Clock):
        failures = 0

        def __call__(self) -> float:
            self.failures -= 1
            if self.failures >= 0:
                raise ZeroDivisionError
            return self.now

    clock = Broken()
    with create(f"sqlite:///{tmp_path / 'store.db'}", clock=clock) as campaign:
        for failures, kinds in ((1, [list, list]), (2, [ZeroDivisionError, list])):
            clock.failures = failures
            assert [type(x) for x in campaign.submit([Ask(), Ask()])] == kinds
        assert campaign.verify().decisions == 3


def test_an_unavailable_store_fails_all(tmp_path: Path, campaign: Campaign) -> None:
    failures: list[object] = []
    campaign.queue.on_batch = lambda size, error: failures.append((size, type(error)))
    campaign.store.close()
    (tmp_path / "store.db").rename(tmp_path / "away")
    for calls in (lambda: campaign.submit([Ask()] * 4), campaign.ask):
        with pytest.raises(StoreUnavailable):
            calls()
    assert failures == [(4, StoreUnavailable), (1, StoreUnavailable)]
    (tmp_path / "away").rename(tmp_path / "store.db")
    assert campaign.ask().number == 1


def test_more_campaigns_than_threads_take_turns() -> None:
    """Each queue writes one batch per turn, and threads end when nothing waits."""
    running, peak, lock = 0, 0, threading.Lock()

    def write(requests: Sequence[Request]) -> list[Any]:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1
        return [threading.current_thread()]

    queues = [WriteQueue(write) for _ in range(3 * write_queue.MAX_THREADS)]
    futures = [queue.enqueue(Ask()) for queue in queues for _ in range(2)]
    threads = {future.result() for future in futures}
    assert 1 < peak <= write_queue.MAX_THREADS
    for thread in threads:
        thread.join(60)
    assert queues[0].submit([Ask(), Ask()])


def test_a_forked_process_has_a_queue_of_its_own(campaign: Campaign) -> None:
    slow = hold_up(campaign)
    child = os.fork()
    if child == 0:
        os._exit(0 if WriteQueue(lambda requests: [1, 2]).submit([Ask(), Ask()]) == [1, 2] else 1)
    assert os.waitpid(child, 0)[1] == 0
    slow.go_on.set()


def test_a_worker_that_was_left_behind_loads_the_sums(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_EVENTS", 5)
    other = Campaign.load("c", store=campaign.store, clock=Clock())
    for count in (1, 3, 9):
        campaign.ask(n=count)
        peeked = other.ask(peek=True)
        expected = campaign.status().decisions + 1, campaign.ask(peek=True).arm
        assert (peeked.number, peeked.arm) == expected
    other.ask()
    assert campaign.status().to_json() == other.status().to_json()
    campaign.verify()


@pytest.mark.parametrize("junk", [3, None, "ask", [3], [None], object])
def test_only_requests_are_queued(tmp_path: Path, junk: Any) -> None:
    with Campaign.create("c", arms=["A", "B"], store=str(tmp_path / "c.db"), seed=1) as campaign:
        for call in (campaign.submit, campaign.enqueue):
            with pytest.raises(InvalidInput, match="must be"):
                call(junk)
        assert campaign.queue.waiting == 0
