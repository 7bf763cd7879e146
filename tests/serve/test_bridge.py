from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import create

from driftanchor import NotFound, StoreUnavailable
from driftanchor.live.campaigns.asking import Ask
from driftanchor.live.campaigns.batch import NOTHING, Batch
from driftanchor.live.campaigns.telling import Expose
from driftanchor.serve import bridge as bridging
from driftanchor.serve.bridge import Bridge
from driftanchor.serve.metrics import Metrics


def test_what_waits_is_written_together(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}")
    groups: list[int] = []
    submit, first = campaign.submit, threading.Event()

    def slowly(requests: Any) -> Any:
        groups.append(len(requests))
        first.wait(60)  # until the others wait too
        return submit(requests)

    campaign.submit = slowly  # type: ignore[method-assign]

    async def ask() -> list[Any]:
        bridge = Bridge(Metrics())
        asks = [bridge.do(campaign, Ask(f"u{i}")) for i in range(20)]
        while not groups:
            await asyncio.sleep(0.001)
        assert bridge.waiting == 20
        first.set()
        found = await asyncio.gather(*asks)
        assert bridge.waiting == 0
        bridge.close()
        return found

    found = asyncio.run(ask())
    assert {made.number for (made,) in found} == set(range(1, 21))
    assert sum(groups) == 20
    assert len(groups) <= 2
    campaign.close()


def test_those_who_came_together_are_waited_for_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridging, "STEP", 600.0)
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}")
    groups: list[int] = []
    submit, others = campaign.submit, threading.Event()

    def noted(requests: Any) -> Any:
        groups.append(len(requests))
        others.wait(60)
        return submit(requests)

    campaign.submit = noted  # type: ignore[method-assign]

    async def ask() -> None:
        bridge = Bridge(Metrics())
        asks = [bridge.do(campaign, Ask("first"))]
        while not groups:
            await asyncio.sleep(0.001)
        asks += [bridge.do(campaign, Ask(f"u{i}")) for i in range(19)]
        others.set()
        await asyncio.gather(*asks)
        await asyncio.gather(*[bridge.do(campaign, Ask(f"v{i}")) for i in range(19)])
        monkeypatch.setattr(bridging, "STEP", 0.001)
        await bridge.do(campaign, Ask("alone"))
        bridge.close()

    asyncio.run(ask())
    assert groups == [1, 19, 19, 1]
    campaign.close()


def test_each_request_gets_what_became_of_it(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}")

    async def ask() -> list[Any]:
        bridge = Bridge(Metrics())
        requests = (Ask("u"), Expose("nobody"), Ask("v"))
        work = (bridge.do(campaign, request) for request in requests)
        found = await asyncio.gather(*work, return_exceptions=True)
        bridge.close()
        return list(found)

    first, wrong, second = asyncio.run(ask())
    assert isinstance(wrong, NotFound)
    assert {first[0].number, second[0].number} == {1, 2}
    campaign.close()


def test_a_store_that_is_away_answers_all(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}")
    (tmp_path / "store.db").rename(tmp_path / "away")
    metrics = Metrics()

    async def ask() -> list[Any]:
        bridge = Bridge(metrics)
        work = (bridge.do(campaign, Ask()) for _ in range(3))
        found = await asyncio.gather(*work, return_exceptions=True)
        bridge.close()
        return list(found)

    found = asyncio.run(ask())
    assert [type(error) for error in found] == [StoreUnavailable] * 3
    assert b"driftanchor_store_failures_total 0.0" not in metrics.text()
    campaign.close()


def test_there_is_no_use_in_waiting_behind_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridging, "MOST_WAITING", 0)
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}")

    async def ask() -> None:
        await Bridge(Metrics()).do(campaign, Ask())

    with pytest.raises(bridging.Overloaded, match="wait for the store"):
        asyncio.run(ask())
    campaign.close()


def test_who_has_gone_gets_no_answer_and_holds_up_nobody(tmp_path: Path) -> None:
    """A request whose deadline is over while it waits is not done at all."""
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}")
    taken, go_on = threading.Event(), threading.Event()

    class Slow:
        """A request that keeps the thread busy."""

        needs = NOTHING

        def __call__(self, batch: Batch) -> None:
            taken.set()
            go_on.wait()

    async def ask() -> int:
        bridge = Bridge(Metrics())
        slow = bridge.do(campaign, Slow())
        await asyncio.to_thread(taken.wait)
        gone = bridge.do(campaign, Ask("gone"))
        for future in (slow, gone):
            future.cancel()
        go_on.set()
        (made,) = await bridge.do(campaign, Ask("here"))
        assert bridge.waiting == 0
        bridge.close()
        number: int = made.number
        return number

    assert asyncio.run(ask()) == 1
    campaign.close()
