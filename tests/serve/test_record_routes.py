from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_app import App, running_app

from driftanchor.serve import record_routes


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("store")
    with running_app(f"sqlite:///{folder / 'store.db'}") as running:
        running.create("c")
        made = [running.ask("c") for _ in range(6)]
        for decision in made[:4]:
            running.http.put(f"/v1/decisions/{decision['id']}/reward", json={"value": 1})
        running.http.patch("/v1/campaigns/c", json={"add": {"D": {}}})
        yield running


def test_events_come_in_order_with_propensities(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_routes, "AT_ONCE", 4)
    answer = app.http.get("/v1/campaigns/c/events")
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [event["seq"] for event in found] == list(range(1, 12))
    kinds = [event["kind"] for event in found]
    assert kinds == ["decided"] * 6 + ["rewarded"] * 4 + ["arm_added"]
    assert all(0 < event["propensity"] <= 1 for event in found[:6])
    assert found[10]["detail"]["label"] == "D"
    later = app.http.get("/v1/campaigns/c/events?after=9").text
    assert [json.loads(line)["seq"] for line in later.splitlines()] == [10, 11]
    assert app.http.get("/v1/campaigns/c/events?after=11").text == ""


def test_the_history_adds_up(app: App) -> None:
    found = app.http.get("/v1/campaigns/c/history").json()
    assert found["seconds"] == 900
    assert sum(row["decisions"] for row in found["history"]) == 6
    assert sum(row["total"] for row in found["history"]) == 4
    assert {row["start"] for row in found["history"]} == {900.0}
    assert app.http.get("/v1/campaigns/c/history?since=1e9").json()["history"] == []


@pytest.mark.parametrize(
    "query", ["events?after=-1", "events?after=x", "events?after=1e400", "history?since=nan"]
)
def test_a_wrong_query_is_refused(app: App, query: str) -> None:
    answer = app.http.get(f"/v1/campaigns/c/{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_there_is_nothing_of_a_campaign_that_is_not_there(app: App) -> None:
    for what in ("events", "history"):
        assert app.http.get(f"/v1/campaigns/none/{what}").status_code == 404
