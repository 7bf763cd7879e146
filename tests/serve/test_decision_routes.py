"""Routes of decisions and defaults."""

from __future__ import annotations

import pytest
from served_app import App


def test_a_decision_is_made_and_made_once_for_a_unit(app: App) -> None:
    first = app.http.post("/v1/campaigns/c/decisions", json={"unit": "u"})
    again = app.http.post("/v1/campaigns/c/decisions", json={"unit": "u"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert (first.json()["replayed"], again.json()["replayed"]) == (False, True)
    assert first.json()["arm"] in ("A", "B", "C")
    assert "idempotent-replayed" not in again.headers


def test_a_key_gives_the_same_decisions_again(app: App) -> None:
    first, again = (
        app.http.post("/v1/campaigns/c/decisions", json={"n": 2}, headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )
    assert (first.status_code, again.status_code) == (201, 200)
    ids = [[x["id"] for x in answer.json()["decisions"]] for answer in (first, again)]
    assert ids[0] == ids[1]
    assert again.headers["idempotent-replayed"] == "true"
    other = app.http.post(
        "/v1/campaigns/c/decisions", json={"n": 3}, headers={"Idempotency-Key": "k"}
    )
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_two_keys_in_one_request_are_refused(app: App) -> None:
    before = app.http.get("/v1/campaigns/c").json()["decisions"]
    for keys in (("k1", "k2"), ("k1", "k1")):
        headers = [("Idempotency-Key", key) for key in keys]
        answer = app.http.post("/v1/campaigns/c/decisions", json={}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_repeated")
        assert answer.headers["content-type"] == "application/problem+json"
    assert app.http.get("/v1/campaigns/c").json()["decisions"] == before


def test_what_is_wrong_is_said_without_repeating_it(app: App) -> None:
    for body, status in (
        ({"unit": ""}, 422),
        ({"unit": "x" * 257}, 422),
        ({"unit": "secret\u0000"}, 422),
        ({"n": 0}, 422),
        ({"n": 1.5}, 422),
        ({"n": True}, 422),
        ({"n": 2, "unit": "secret"}, 422),
        ({"exclude": ["secret"]}, 422),
        ({"exclude": ["A", "B", "C"]}, 422),
        ({"secret": 1}, 422),
        (["secret"], 422),
    ):
        answer = app.http.post("/v1/campaigns/c/decisions", json=body)
        assert answer.status_code == status, (body, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert "secret" not in answer.text


def test_a_request_with_another_member_is_answered_with_those_it_takes(app: App) -> None:
    answer = app.http.post("/v1/campaigns/c/decisions", json={"user": "u-1"})
    problem = answer.json()
    assert problem["detail"] == "unknown member; this request takes unit, exclude, n, peek"
    assert (problem["code"], problem["pointer"]) == ("unknown_member", "")
    assert "user" not in answer.text


def test_a_decision_is_explained(app: App) -> None:
    made = app.ask("c")
    found = app.http.get(f"/v1/decisions/{made['id']}")
    assert found.status_code == 200
    assert (found.json()["arm"], found.json()["decision"]) == (made["arm"], made["number"])
    assert app.http.get("/v1/decisions/none").status_code == 404


def test_an_exposure_is_recorded_once(app: App) -> None:
    app.create("shown", exposure="report")
    made = app.ask("shown")
    answers = [app.http.post(f"/v1/decisions/{made['id']}/exposure") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert [answer.json()["status"] for answer in answers] == ["recorded", "replayed"]


def test_each_default_is_noted_once_whatever_is_wrong_with_others(app: App) -> None:
    items = [{"key": "played", "arm": "A", "ago": 1.5}, {"key": "l", "arm": "secret"}]
    for expected in ("recorded", "replayed"):
        answer = app.http.post("/v1/campaigns/c/defaults", json={"defaults": items})
        assert answer.status_code == 200, answer.text
        good, bad = answer.json()["results"]
        assert good == {"status": expected}
        assert (bad["status"], bad["code"]) == ("refused", "invalid")
        assert "secret" not in answer.text
    assert b'driftanchor_defaults_total{campaign="c"} 1.0' in app.state.metrics.text()
    late = app.http.post(
        "/v1/campaigns/c/decisions", json={"unit": "u"}, headers={"Idempotency-Key": "played"}
    )
    assert (late.status_code, late.json()["code"]) == (409, "default_played")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"defaults": [{"key": "", "arm": "A"}]},
        {"defaults": [{"key": "k", "arm": "A", "ago": -1}]},
    ],
)
def test_what_is_wrong_is_refused(app: App, body: object) -> None:
    assert app.http.post("/v1/campaigns/c/defaults", json=body).status_code == 422


def test_there_may_be_none_and_not_too_many(app: App) -> None:
    path = "/v1/campaigns/c/defaults"
    assert app.http.post(path, json={"defaults": []}).json() == {"results": []}
    many = app.http.post(path, json={"defaults": [{"key": "k", "arm": "A"}] * 1_001})
    assert (many.status_code, many.json()["code"]) == (413, "batch_too_large")


def test_a_campaign_must_be_there(app: App) -> None:
    body = {"defaults": [{"key": "k", "arm": "A"}]}
    assert app.http.post("/v1/campaigns/none/defaults", json=body).status_code == 404
