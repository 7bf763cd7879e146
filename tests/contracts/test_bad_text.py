"""Text that PostgreSQL cannot hold: both stores refuse it with 4xx, and the rest goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from served_app import App, running_app

from driftanchor import Campaign, InvalidInput

BAD = ["\0", "a\0b", "\x01", "a\nb", "\x7f", "\u202e"]


@pytest.fixture
def app(store_url: str) -> Iterator[App]:
    with running_app(store_url) as running:
        running.create("c")
        yield running


def path_of(text: str) -> str:
    """A text as a part of a path."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


@pytest.mark.parametrize("text", BAD)
def test_bad_text_is_refused_wherever_it_is_sent(app: App, text: str) -> None:
    place = path_of(text)
    requests: list[tuple[str, str, Any, int]] = [
        ("PUT", f"/v1/decisions/{place}/reward", {"value": 1.0}, 422),
        ("POST", f"/v1/decisions/{place}/exposure", None, 422),
        ("GET", f"/v1/decisions/{place}", None, 422),
        ("POST", "/v1/campaigns/c/decisions", {"unit": text}, 422),
        ("POST", "/v1/campaigns/c/decisions", {"exclude": [text]}, 422),
        ("POST", f"/v1/campaigns/{place}/decisions", {}, 422),
        ("GET", f"/v1/campaigns/{place}", None, 422),
        ("GET", f"/v1/campaigns/{place}/history", None, 422),
        ("GET", f"/v1/campaigns/{place}/events", None, 422),
        ("POST", "/v1/campaigns", {"name": text, "arms": ["A", "B"]}, 422),
        ("POST", "/v1/campaigns", {"name": "d", "arms": [text, "B"]}, 422),
        ("POST", "/v1/campaigns", {"name": "d", "arms": ["A"], "policy": text}, 422),
        ("POST", "/v1/campaigns", {"name": "d", "arms": ["A"], "bias_bound_source": text}, 422),
        ("PATCH", "/v1/campaigns/c", {"add": {text: {}}}, 422),
        ("PATCH", "/v1/campaigns/c", {"arms": {text: "paused"}}, 422),
        ("PATCH", "/v1/campaigns/c", {"distrust": [text]}, 422),
        ("GET", f"/page/campaigns/c/decisions/{place}/view.json", None, 422),
        ("GET", f"/page/campaigns/{place}/view.json", None, 422),
        ("GET", f"/page/campaigns/c/find.json?q=x{place}x", None, 422),
        ("POST", "/ofrep/v1/evaluate/flags/c", {"context": {"targetingKey": text}}, 400),
        ("POST", f"/ofrep/v1/evaluate/flags/{place}", {"context": {"targetingKey": "u"}}, 404),
    ]
    answers = [app.http.request(how, where, json=body) for how, where, body, _ in requests]
    found = [
        (how, where, answer.status_code)
        for (how, where, _, _), answer in zip(requests, answers, strict=True)
    ]
    assert found == [(how, where, status) for how, where, _, status in requests]
    assert app.http.get("/v1/campaigns/c").json()["decisions"] == 0


@pytest.mark.parametrize("text", BAD)
def test_one_bad_id_leaves_the_other_rewards_alone(app: App, text: str) -> None:
    ids = [app.ask("c")["id"] for _ in range(3)]
    items = [{"decision_id": x, "value": 1.0} for x in (ids[0], text, ids[1], "unknown", ids[2])]
    answer = app.http.post("/v1/rewards", json={"rewards": items})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [x["status"] for x in results] == [
        "recorded",
        "refused",
        "recorded",
        "refused",
        "recorded",
    ]
    assert [results[i]["code"] for i in (1, 3)] == ["invalid", "not_found"]
    assert "decision_id" in results[1]["detail"]


def test_a_lone_surrogate_is_no_json(app: App) -> None:
    """Nothing of such a body is read, so that nothing of it is recorded."""
    one = app.ask("c")["id"]
    items = [{"decision_id": x, "value": 1.0} for x in (one, "\ud800")]
    for path, body in (
        ("/v1/rewards", {"rewards": items}),
        ("/v1/campaigns/c/decisions", {"unit": "\ud800"}),
    ):
        headers = {"Content-Type": "application/json"}
        answer = app.http.post(path, content=json.dumps(body), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")
    assert app.http.get("/v1/campaigns/c").json()["rewards"] == 0


@pytest.mark.parametrize("text", [*BAD, "\ud800", "a\udfff"])
def test_python_refuses_it_too(app: App, text: str) -> None:
    campaign = Campaign.load("c", store=app.state.store)
    good = str(campaign.ask().id)
    first, second = campaign.tell_many([(text, 1.0), (good, 1.0)])
    assert isinstance(first, InvalidInput)
    assert first.argument == "decision_id"
    assert getattr(second, "status", None) == "recorded"
    for call in (
        lambda: campaign.tell(text, 1.0),
        lambda: campaign.expose(text),
        lambda: campaign.explain(text),
        lambda: campaign.decision(text),
        lambda: campaign.ask(text),
        lambda: campaign.ask(key=text),
        lambda: campaign.ask(exclude=[text]),
        lambda: campaign.add_arm(text),
        lambda: campaign.pause_arm(text),
        lambda: Campaign.create(text, arms=["A", "B"], store=app.state.store),
        lambda: Campaign.create("d", arms=["A", text], store=app.state.store),
        lambda: Campaign.load(text, store=app.state.store),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert campaign.verify().rewards == 1
