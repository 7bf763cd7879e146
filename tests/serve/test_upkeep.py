"""Upkeep: what the server writes between requests."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from served_app import running_app

from driftanchor.serve.upkeep import Upkeep


def test_a_damaged_campaign_is_logged_once_and_stops_no_other(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with running_app(f"sqlite:///{file}") as app:
        for name in ("a", "b"):
            app.create(name, reward_window=60.0, default_reward=0.0)
            app.ask(name, unit="u")
        with sqlite3.connect(file) as store:
            store.execute("UPDATE arms SET memory = 'x' WHERE campaign_id = 1")
        store.close()
        app.served.forget("a")
        app.clock.now += 61.0
        upkeep = Upkeep(app.served)
        for _ in range(3):
            upkeep.once()
        assert app.served.campaign("b").counts()["pending"] == 0
        app.served.log.close()
    lines = [x for x in app.log.getvalue().splitlines() if "upkeep failed" in x]
    assert len(lines) == 1
    assert '"campaign": "a"' in lines[0]
    assert "UnreadableState" in lines[0]


def test_a_campaign_without_news_is_not_touched(tmp_path: Path) -> None:
    """The second round finds nothing due, so it takes no turn to write."""
    with running_app(f"sqlite:///{tmp_path / 'store.db'}") as app:
        app.create("c", reward_window=60.0, default_reward=0.0)
        app.ask("c", unit="u")
        upkeep = Upkeep(app.served)
        app.clock.now += 61.0
        upkeep.once()
        before = app.served.store.counters()["c"].seq
        upkeep.once()
        assert app.served.store.counters()["c"].seq == before == 3
