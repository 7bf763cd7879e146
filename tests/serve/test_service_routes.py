"""Health, metrics and documentation."""

from __future__ import annotations

import json
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from served_app import App

UNITS = ("_seconds", "_requests", "_info", "_total")


def test_it_is_alive_and_ready(app: App) -> None:
    assert app.http.get("/livez").json() == {"status": "ok"}
    assert app.http.get("/readyz").json() == {"status": "ok"}
    assert app.http.get("/readyz?verbose").json()["checks"]["campaigns"] == 1


def test_a_store_that_is_away_is_waited_for(app: App) -> None:
    file = Path(str(app.state.store.address.file))
    decision = app.ask("c")["id"]
    file.rename(file.with_name("away"))
    try:
        answers = [
            app.http.get("/readyz"),
            app.http.post("/v1/campaigns/c/decisions", json={}),
            app.http.put(f"/v1/decisions/{decision}/reward", json={"value": 1}),
            app.http.get("/v1/campaigns"),
            app.http.get("/v1/campaigns/c/events"),
        ]
        assert [answer.status_code for answer in answers] == [503] * 5
        assert {answer.headers["retry-after"] for answer in answers} == {"1"}
        assert all(str(file) not in answer.text for answer in answers)
        assert app.http.get("/livez").status_code == 200
    finally:
        file.with_name("away").rename(file)
    assert app.http.get("/readyz").status_code == 200
    assert app.http.put(f"/v1/decisions/{decision}/reward", json={"value": 1}).status_code == 201


def test_metrics_are_counted_and_hold_no_ids(app: App) -> None:
    made = app.ask("c", unit="unit-of-someone")
    app.http.put(f"/v1/decisions/{made['id']}/reward", json={"value": 1})
    app.http.get("/v1/campaigns/nobody-knows")
    text = app.http.get("/metrics").text
    for secret in (made["id"], "unit-of-someone", "nobody-knows"):
        assert secret not in text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    counted = {
        tuple(sample.labels.values()): sample.value
        for sample in families["driftanchor_rewards"].samples
    }
    assert counted["c", "recorded"] >= 1
    for family in families.values():
        assert family.documentation.endswith(".")
        assert family.name.startswith("driftanchor_")
        if family.type == "counter":
            assert all(sample.name.endswith("_total") for sample in family.samples)
        else:
            assert family.name.endswith(UNITS), family.name


def test_the_documents_need_nothing_from_elsewhere(app: App) -> None:
    found = app.http.get("/openapi.json").json()
    assert "/v1/campaigns/{name}/decisions" in found["paths"]
    assert "HTTPValidationError" not in json.dumps(found)
    page = app.http.get("/docs").text
    assert "PUT /v1/decisions/{decision_id}/reward" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def test_what_is_not_there_is_a_problem_too(app: App) -> None:
    gone = app.http.get("/nowhere")
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
    wrong = app.http.delete("/v1/campaigns")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert set(wrong.headers["allow"].split(", ")) <= {"GET", "HEAD", "POST"}
    for answer in (gone, wrong):
        assert answer.headers["content-type"] == "application/problem+json"
