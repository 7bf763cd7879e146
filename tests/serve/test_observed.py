from __future__ import annotations

import json
import re

import pytest
from served_app import App

from driftanchor.serve.observed import request_id_of


def test_a_request_has_the_id_of_its_trace() -> None:
    trace = b"4bf92f3577b34da6a3ce929d0e0e4736"
    known = b"00-" + trace + b"-00f067aa0ba902b7-01"
    assert request_id_of([(b"host", b"x"), (b"traceparent", known)]) == trace.decode()
    for wrong in (b"junk", b"00-" + b"0" * 32 + b"-00f067aa0ba902b7-01", known.upper()):
        assert re.fullmatch("[0-9a-f]{32}", request_id_of([(b"traceparent", wrong)]))


def test_every_request_is_logged_without_ids(app: App) -> None:
    made = app.http.post("/v1/campaigns/c/decisions", json={"unit": "unit-of-someone"})
    decision = made.json()["id"]
    app.http.put(f"/v1/decisions/{decision}/reward", json={"value": 1})
    app.http.get("/nowhere/secret")
    app.served.log.close()
    lines = [json.loads(line) for line in app.log.getvalue().splitlines()]
    found = {line["request_id"]: line for line in lines if line["event"] == "request"}
    line = found[made.headers["x-request-id"]]
    assert (line["method"], line["status"]) == ("POST", 201)
    assert line["route"] == "/v1/campaigns/{name}/decisions"
    for secret in (decision, "unit-of-someone", "secret"):
        assert secret not in app.log.getvalue()


def test_no_cache_on_the_way_keeps_data(app: App) -> None:
    for path in ("/v1/campaigns", "/v1/campaigns/c", "/v1/campaigns/nobodys"):
        assert app.http.get(path).headers["cache-control"] == "no-store"
    assert app.http.get("/").headers["cache-control"] == "no-cache"  # files have tags


def test_a_failure_nobody_expected_is_a_problem_and_is_logged(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(app.served, "names", fail)
    answer = app.http.get("/v1/campaigns")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "the cause" not in answer.text
    app.served.log.close()
    assert '"error": "RuntimeError", "message": "the cause", "trace"' in app.log.getvalue()
