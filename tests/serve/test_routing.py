"""Every route with `HEAD`, and errors of the router."""

from __future__ import annotations

import json

import pytest
from route_rules import OPEN, ROLE_OF
from served_app import App

from driftanchor.live.campaigns.campaign import Campaign

PATHS = sorted({path for method, path in {*OPEN, *ROLE_OF} if method == "GET"})
CHANGING = {"/metrics": {"content-length"}}  # it counts the requests, these included


def test_every_get_answers_head_alike_but_for_the_body(app: App) -> None:
    made = app.ask("c")["id"]
    for path in PATHS:
        url = path.replace("{decision_id}", made).replace("/static/{name}", "/static/campaign.js")
        url = url.replace("{name}", "c") + ("?q=1" if path.endswith("find.json") else "")
        whole, head = app.http.get(url), app.http.head(url)
        assert (head.status_code, head.content) == (200, b""), path
        assert whole.status_code == 200, path
        assert whole.content, path
        aside = {"x-request-id"} | CHANGING.get(path, set())
        assert {name: text for name, text in head.headers.items() if name not in aside} == {
            name: text for name, text in whole.headers.items() if name not in aside
        }, path
    assert len(PATHS) > 15


def test_errors_have_the_same_status_and_no_body(app: App) -> None:
    for url, status in (("/v1/campaigns/none", 404), ("/nowhere", 404), ("/v1/rewards", 405)):
        found = app.http.head(url)
        assert (found.status_code, found.content) == (status, b""), url
    assert "HEAD" in app.http.delete("/v1/campaigns").headers["allow"].split(", ")


def test_it_is_logged_and_counted_under_its_route_and_reads_no_events(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Campaign, "events", None)  # to read events would fail
    assert app.http.head("/v1/campaigns/c/events").status_code == 200
    app.state.log.close()
    last = json.loads(app.log.getvalue().splitlines()[-1])
    assert (last["method"], last["route"]) == ("HEAD", "/v1/campaigns/{name}/events")
