"""Defaults that clients report."""

from __future__ import annotations

import pytest
from served_app import App


def test_each_default_is_noted_once_whatever_is_wrong_with_others(app: App) -> None:
    items = [{"key": "k", "arm": "A", "ago": 1.5}, {"key": "l", "arm": "secret"}]
    for expected in ("recorded", "replayed"):
        answer = app.http.post("/v1/campaigns/c/defaults", json={"defaults": items})
        assert answer.status_code == 200, answer.text
        good, bad = answer.json()["results"]
        assert good == {"status": expected}
        assert (bad["status"], bad["code"]) == ("refused", "invalid")
        assert "secret" not in answer.text
    assert b'driftanchor_defaults_total{campaign="c"} 1.0' in app.served.metrics.text()
    late = app.http.post(
        "/v1/campaigns/c/decisions", json={"unit": "u"}, headers={"Idempotency-Key": "k"}
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
