"""Reads and writes of a server."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import create

from driftanchor import Campaign, Decision, NotFound, StoreUnavailable
from driftanchor.live.campaigns import write_queue
from driftanchor.live.campaigns.batch import NOTHING, Batch
from driftanchor.live.campaigns.requests import Ask, Expose
from driftanchor.live.campaigns.write_queue import Overloaded
from driftanchor.live.stores.store import open_store
from driftanchor.serve import app_state
from driftanchor.serve.app_state import AppState
from driftanchor.serve.request_log import Log


@pytest.fixture
def state(tmp_path: Path) -> Iterator[AppState]:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    create(address).close()
    opened = AppState(open_store(address), log=Log(io.StringIO()))
    yield opened
    opened.close()


def write(state: AppState, *requests: Any) -> list[Any]:
    """The answers to requests that are sent at once, or what they raised."""

    async def all_of_them() -> list[Any]:
        campaign = await state.opened("c")
        work = (state.write(campaign, request) for request in requests)
        return list(await asyncio.gather(*work, return_exceptions=True))

    return asyncio.run(all_of_them())


def test_each_request_gets_its_own_answer(state: AppState) -> None:
    (first,), wrong, (second,) = write(state, Ask("u"), Expose("nobody"), Ask("v"))
    assert isinstance(wrong, NotFound)
    assert {first.number, second.number} == {1, 2}
    assert state.waiting == 0


def test_requests_share_transactions_and_are_counted(state: AppState) -> None:
    answers = write(state, *(Ask(f"u{i}") for i in range(50)))
    assert {made.number for (made,) in answers} == set(range(1, 51))
    shown = state.metrics.text().decode()
    assert "driftanchor_transaction_requests_sum 50.0" in shown
    count = float(shown.partition("driftanchor_transaction_requests_count ")[2].split()[0])
    assert 1 <= count < 50


def test_a_store_that_is_away_answers_all(state: AppState, tmp_path: Path) -> None:
    state.campaign("c")
    (tmp_path / "store.db").rename(tmp_path / "away")
    answers = write(state, Ask(), Ask(), Ask())
    assert [type(error) for error in answers] == [StoreUnavailable] * 3
    assert b"driftanchor_store_failures_total 0.0" not in state.metrics.text()


def test_too_many_requests_are_refused(state: AppState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "MAX_WAITING", 0)
    (error,) = write(state, Ask())
    assert isinstance(error, Overloaded)


def test_a_request_whose_deadline_passed_in_the_queue_is_not_done(state: AppState) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        """A request that keeps the thread busy."""

        needs = NOTHING

        def __call__(self, batch: Batch) -> None:
            begun.set()
            go_on.wait()

    async def ask(campaign: Campaign) -> int:
        slow = asyncio.create_task(state.write(campaign, Slow()))
        await asyncio.to_thread(begun.wait)
        gone = asyncio.create_task(state.write(campaign, Ask("gone")))
        await asyncio.sleep(0)
        for task in (slow, gone):
            task.cancel()
        await asyncio.wait([slow, gone])
        go_on.set()
        (made,) = await state.write(campaign, Ask("here"))
        number: int = made.number
        return number

    assert asyncio.run(ask(state.campaign("c"))) == 1
    assert state.waiting == 0


def test_the_campaigns_of_recent_decisions_are_cached(
    state: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_state, "MAX_OWNERS", 2)
    looked_up: list[str] = []
    find = state.store.owner

    def owner(decision_id: str) -> str | None:
        looked_up.append(decision_id)
        return find(decision_id)

    monkeypatch.setattr(state.store, "owner", owner)
    made: list[Decision] = [found for (found,) in write(state, Ask(), Ask(), Ask())]
    state.decided("c", made)
    for decision in made:
        assert asyncio.run(state.owner(str(decision.id))).name == "c"
    assert looked_up == [made[0].id]
    with pytest.raises(NotFound, match="no such decision"):
        asyncio.run(state.owner("4"))
