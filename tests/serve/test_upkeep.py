"""Upkeep, and warming up."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path

import pytest
from served_app import running_app

from driftanchor import Campaign, StoreUnavailable
from driftanchor.live import compiling
from driftanchor.live.propensities import Propensities
from driftanchor.live.stores.store import open_store
from driftanchor.serve.app_state import AppState, ServeSettings
from driftanchor.serve.request_log import Log
from driftanchor.serve.upkeep import Upkeep, warm_up


def test_a_damaged_campaign_is_logged_once_and_stops_no_other(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with running_app(f"sqlite:///{file}") as app:
        for name in ("a", "b"):
            app.create(name, reward_window=60.0, default_reward=0.0)
            app.ask(name, unit="u")
        with sqlite3.connect(file) as store:
            store.execute("UPDATE arms SET memory = 'x' WHERE campaign_id = 1")
        store.close()
        app.clock.now += 61.0
        state = AppState(app.state.store, clock=app.clock, log=app.state.log)
        upkeep = Upkeep(state)
        for _ in range(3):
            upkeep.once()
        assert app.state.campaign("b").counts()["pending"] == 0
        app.state.log.close()
    lines = [x for x in app.log.getvalue().splitlines() if "upkeep failed" in x]
    assert len(lines) == 1
    assert '"campaign": "a"' in lines[0]
    assert "UnreadableState" in lines[0]


def test_a_campaign_without_news_is_not_touched(tmp_path: Path) -> None:
    """The second round finds nothing due, so it takes no turn to write."""
    with running_app(f"sqlite:///{tmp_path / 'store.db'}") as app:
        app.create("c", reward_window=60.0, default_reward=0.0)
        app.ask("c", unit="u")
        upkeep = Upkeep(app.state)
        app.clock.now += 61.0
        upkeep.once()
        before = app.state.store.counters()["c"].seq
        upkeep.once()
        assert app.state.store.counters()["c"].seq == before == 3


def serving(path: Path, seconds: float) -> AppState:
    store = open_store(f"sqlite:///{path}")
    return AppState(store, ServeSettings(warm_up=seconds), log=Log(io.StringIO()))


def test_kernels_are_there_before_the_first_request(tmp_path: Path) -> None:
    state = serving(tmp_path / "store.db", 300.0)
    Campaign.create("c", arms=["A", "B"], store=state.store, seed=1)
    warm_up(state)
    with state.campaign("c").at_one_moment() as reading:
        current = reading.current
        assert current.decider.prepare()
        assert len(compiling._rules) >= 2
    state.close()


def test_a_paused_campaign_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = serving(tmp_path / "store.db", 300.0)
    Campaign.create("c", arms=["A", "B"], store=state.store, seed=1).pause()
    monkeypatch.setattr(Propensities, "start_compiling", lambda *_: pytest.fail("it is paused"))
    warm_up(state)
    state.close()


def test_it_takes_no_longer_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = serving(tmp_path / "store.db", 0.0)
    Campaign.create("c", arms=["A", "B"], store=state.store, seed=1)
    monkeypatch.setattr(Campaign, "prepare", lambda _: pytest.fail("the time was over"))
    monkeypatch.setattr(compiling, "finish", lambda _: pytest.fail("the time was over"))
    warm_up(state)
    state.close()


def test_a_store_that_is_away_is_left_to_the_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = serving(tmp_path / "store.db", 300.0)

    def away() -> list[str]:
        raise StoreUnavailable("the store is away")

    monkeypatch.setattr(state, "names", away)
    warm_up(state)
    state.close()


def test_a_campaign_that_cannot_be_prepared_is_logged_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    state = AppState(store, ServeSettings(warm_up=300.0), log=Log(stream))
    for name in ("a", "b"):
        Campaign.create(name, arms=["A", "B"], store=store, seed=1)
    prepared: list[str] = []

    def prepare(campaign: Campaign) -> None:
        prepared.append(campaign.name)
        if campaign.name == "a":
            raise RuntimeError("no such kernel")

    monkeypatch.setattr(Campaign, "prepare", prepare)
    warm_up(state)
    state.close()
    assert prepared == ["a", "b"]
    assert '"campaign": "a", "error": "RuntimeError", "message": "no such' in stream.getvalue()
