"""Routes of campaigns, their history and their events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_app import App, running_app

from driftanchor import ArtificialReplay
from driftanchor.serve import campaign_routes

LOGGED = {"A": {"n": 200, "mean": 0.5, "variance": 0.25}, "B": {"n": 200, "mean": 0.4}}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("store")
    with running_app(f"sqlite:///{folder / 'store.db'}") as running:
        yield running


def sent(**more: Any) -> dict[str, Any]:
    return {"name": "logged", "offline": LOGGED, "bias_bound": 0.1, "seed": 1, **more}


def test_a_campaign_is_created_once(app: App) -> None:
    answers = [
        app.http.post("/v1/campaigns", json=body)
        for body in (sent(), sent(), sent(bias_bound=0.2), sent(floor=0.1))
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 409, 409]
    assert answers[0].json()["arms"]["A"]["logs_n"] == 200
    assert app.ask("logged", unit="u")["arm"] in ("A", "B")
    listed = app.http.get("/v1/campaigns").json()["campaigns"]
    assert [row["name"] for row in listed if row["name"] == "logged"] == ["logged"]


@pytest.mark.parametrize(
    "more",
    [
        {"name": "'; DROP TABLE"},
        {"name": "../../etc/passwd"},
        {"name": "a\x00b"},
        {"name": "\u202esecret"},
        {"name": "a" * 10_000},
        {"name": "__proto__"},
        {"name": ""},
        {"arms": ["A"]},
        {"offline": None},
        {"offline": {}},
        {"offline": {"A": {"n": -1}}},
        {"offline": {"A": {"n": 10, "mean": None}, "B": {"n": 1, "mean": 1}}},
        {"policy": "os:system"},
        {"policy": "secret"},
        {"policy": "ts", "parameters": {"secret": 1}},
        {"parameters": {"noise": 1}},
        {"bias_bound": -1},
        {"bias_bound": {"Z": 1}},
        {"bias_bound": None},
        {"reward_range": [1, 0]},
        {"reward_range": [0]},
        {"floor": 0.9},
        {"default_reward": 0},
        {"seed": -1},
        {"seed": 1.5},
        {"sticky": "secret"},
        {"control": {"A": 2}},
    ],
)
def test_what_cannot_be_a_campaign_is_refused(app: App, more: dict[str, Any]) -> None:
    answer = app.http.post("/v1/campaigns", json=sent(name="bad") | more)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert app.http.get("/v1/campaigns/bad").status_code == 404


def test_names_are_checked_in_addresses_too(app: App) -> None:
    unknown = app.http.get("/v1/campaigns/none")
    assert unknown.status_code == 404
    assert unknown.json()["detail"] == "there is no campaign of this name"
    for name in ("%27;%20DROP", "a%00b", "%E2%80%AEx", "a" * 10_000, "__proto__"):
        assert app.http.get(f"/v1/campaigns/{name}").status_code == 422


def test_a_campaign_is_changed_as_a_whole(app: App) -> None:
    app.create("changing")
    before = app.http.get("/v1/campaigns/changing").headers["etag"]
    app.ask("changing")
    assert app.http.get("/v1/campaigns/changing").headers["etag"] == before
    body = {
        "paused": True,
        "add": {"D": {"n": 0}},
        "arms": {"A": "archived", "B": "paused"},
        "distrust": ["C"],
        "new_epoch": True,
    }
    changed = app.http.patch("/v1/campaigns/changing", json=body, headers={"If-Match": before})
    assert changed.status_code == 200, changed.text
    found = changed.json()
    states = {label: arm["state"] for label, arm in found["arms"].items()}
    assert states == {"A": "archived", "B": "paused", "C": "active", "D": "active"}
    assert (found["paused"], found["epoch"], found["arms"]["C"]["logs_count"]) == (True, 1, False)
    assert changed.headers["etag"] != before
    again = app.http.patch("/v1/campaigns/changing", json=body, headers={"If-Match": before})
    assert (again.status_code, again.json()["code"]) == (412, "changed_meanwhile")
    paused = app.http.post("/v1/campaigns/changing/decisions", json={})
    assert (paused.status_code, paused.json()["code"]) == (409, "campaign_paused")


def test_a_change_that_is_half_right_changes_nothing(app: App) -> None:
    app.create("half")
    before = app.http.get("/v1/campaigns/half")
    for body, status in (
        ({"arms": {"A": "archived", "Z": "paused"}}, 422),
        ({"arms": {"A": "archived", "B": "archived", "C": "archived"}}, 422),
        ({"add": {"D": {}, "A": {}}}, 422),
        ({"paused": True, "distrust": ["Z"]}, 422),
        ({"paused": 1}, 422),
    ):
        answer = app.http.patch("/v1/campaigns/half", json=body)
        assert answer.status_code == status, answer.text
        now = app.http.get("/v1/campaigns/half")
        assert (now.headers["etag"], now.json()) == (before.headers["etag"], before.json())


def test_arms_may_change_places(app: App) -> None:
    app.create("places")
    app.http.patch("/v1/campaigns/places", json={"arms": {"A": "paused", "B": "paused"}})
    swapped = {"C": "paused", "A": "active"}
    assert app.http.patch("/v1/campaigns/places", json={"arms": swapped}).status_code == 200


def test_settings_and_bounds_change_with_a_reason(app: App) -> None:
    app.create("terms", reward_window=60.0, default_reward=0.0)
    before = app.http.get("/v1/campaigns/terms").headers["etag"]
    body = {"reward_window": 600, "default_reward": None, "reason": "orders take longer"}
    path = "/v1/campaigns/terms"
    refused = app.http.patch(path, json={"reward_window": 600})
    assert (refused.status_code, refused.json()["argument"]) == (422, "reason")
    changed = app.http.patch(path, json=body, headers={"If-Match": before})
    assert changed.status_code == 200, changed.text
    found = changed.json()
    assert (found["settings"]["reward_window"], found["settings"]["default_reward"]) == (600, None)
    assert found["changes"][0]["reason"] == "orders take longer"
    assert changed.headers["etag"] != before
    late = app.http.patch(path, json={**body, "floor": 0.1}, headers={"If-Match": before})
    assert (late.status_code, late.json()["code"]) == (412, "changed_meanwhile")
    half = app.http.patch(path, json={"reason": "x", "floor": 0.1, "arms": {"Z": "paused"}})
    assert half.status_code == 422
    assert app.http.get(path).json()["settings"]["floor"] == 0.0


def test_a_null_bound_promises_nothing(app: App) -> None:
    app.http.post("/v1/campaigns", json=sent(name="bounds"))
    path, why = "/v1/campaigns/bounds", {"reason": "new prices"}
    for bound, after in (
        (0.3, [0.3, 0.3]),
        ({"A": 0.2, "B": None}, [0.2, "inf"]),
        (None, ["inf"] * 2),
    ):
        found = app.http.patch(path, json={**why, "bias_bound": bound})
        assert found.status_code == 200, found.text
        assert found.json()["changes"][-1]["after"]["bias_bound"] == after


def test_a_policy_that_is_not_made_for_live_use_is_refused(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    body: dict[str, Any] = {
        "name": "replaying",
        "offline": {x: {"n": 1_000, "mean": 0.5} for x in "AB"},
        "bias_bound": 0.1,
        "policy": "artificial-replay",
    }
    answer = app.http.post("/v1/campaigns", json=body)
    assert (answer.status_code, answer.json()["argument"]) == (422, "policy")
    assert "is not made for campaigns" in answer.json()["detail"]
    with monkeypatch.context() as earlier:  # earlier versions created such campaigns
        earlier.setattr(ArtificialReplay, "not_live", None)
        assert app.http.post("/v1/campaigns", json=body).status_code == 201
    answer = app.http.post("/v1/campaigns/replaying/decisions", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert "not made for live use" in answer.json()["detail"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("store")
    with running_app(f"sqlite:///{folder / 'store.db'}") as running:
        running.create("c")
        made = [running.ask("c") for _ in range(6)]
        for decision in made[:4]:
            running.http.put(f"/v1/decisions/{decision['id']}/reward", json={"value": 1})
        running.http.patch("/v1/campaigns/c", json={"add": {"D": {}}})
        yield running


def test_events_come_in_order_with_propensities(
    recorded: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_routes, "PAGE", 4)
    answer = recorded.http.get("/v1/campaigns/c/events")
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [event["seq"] for event in found] == list(range(1, 12))
    kinds = [event["kind"] for event in found]
    assert kinds == ["decided"] * 6 + ["rewarded"] * 4 + ["arm_added"]
    assert all(0 < event["propensity"] <= 1 for event in found[:6])
    assert found[10]["detail"]["label"] == "D"
    later = recorded.http.get("/v1/campaigns/c/events?after=9").text
    assert [json.loads(line)["seq"] for line in later.splitlines()] == [10, 11]
    assert recorded.http.get("/v1/campaigns/c/events?after=11").text == ""


def test_the_history_adds_up(recorded: App) -> None:
    found = recorded.http.get("/v1/campaigns/c/history").json()
    assert found["seconds"] == 900
    assert sum(row["decisions"] for row in found["history"]) == 6
    assert sum(row["total"] for row in found["history"]) == 4
    assert {row["start"] for row in found["history"]} == {900.0}
    assert recorded.http.get("/v1/campaigns/c/history?since=1e9").json()["history"] == []


@pytest.mark.parametrize(
    "query", ["events?after=-1", "events?after=x", "events?after=1e400", "history?since=nan"]
)
def test_a_wrong_query_is_refused(recorded: App, query: str) -> None:
    answer = recorded.http.get(f"/v1/campaigns/c/{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_there_is_nothing_of_a_campaign_that_is_not_there(recorded: App) -> None:
    for what in ("events", "history"):
        assert recorded.http.get(f"/v1/campaigns/none/{what}").status_code == 404
