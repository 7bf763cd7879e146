"""The two ways to the busy routes, directly and through the router, answer alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served_app import App, running_app

from driftanchor import StoreUnavailable
from driftanchor.serve.direct import Direct


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder: Path = tmp_path_factory.mktemp("store")
    with running_app(f"sqlite:///{folder / 'store.db'}") as running:
        running.create("c")
        running.ask("c", unit="u")
        yield running


async def through_the_router(self: Direct, *given: Any) -> None:
    await self.app(*given)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/campaigns/c/decisions", {"unit": "u"}),
        ("POST", "/v1/campaigns/c/decisions", {"unit": ""}),
        ("POST", "/v1/campaigns/c/decisions", {"exclude": ["Z"]}),
        ("POST", "/v1/campaigns/none/decisions", {}),
        ("POST", "/v1/campaigns/a b/decisions", {}),
        ("POST", "/v1/campaigns//decisions", {}),
        ("POST", "/v1/campaigns/a/b/decisions", {}),
        ("PUT", "/v1/campaigns/c/decisions", {}),
        ("PUT", "/v1/decisions/none/reward", {"value": 1}),
        ("PUT", "/v1/decisions/none/reward", {"value": "1"}),
    ],
)
def test_the_router_answers_alike(
    app: App, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: dict[str, Any]
) -> None:
    first = app.http.request(method, path, json=body)
    monkeypatch.setattr(Direct, "__call__", through_the_router)
    second = app.http.request(method, path, json=body)
    assert first.status_code == second.status_code
    assert first.json() == second.json()
    own = ("x-request-id",)
    assert [x for x in first.headers.items() if x[0] not in own] == [
        x for x in second.headers.items() if x[0] not in own
    ]


def test_the_page_knows_of_which_campaign_an_error_was(app: App) -> None:
    app.http.post("/v1/campaigns/c/decisions", json={"n": 0})
    kept = app.http.app.state.page_errors  # type: ignore[attr-defined]
    assert (kept[-1]["campaign"], kept[-1]["code"]) == ("c", "invalid")


def test_a_key_of_a_request_is_read(app: App) -> None:
    first, second = (
        app.http.post("/v1/campaigns/c/decisions", json={}, headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )
    assert first.json()["id"] == second.json()["id"]


def test_a_failure_nobody_expected_is_a_problem_and_is_logged(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(app.served.bridge, "do", fail)
    answer = app.http.post("/v1/campaigns/c/decisions", json={"unit": "someone"})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    app.served.log.close()
    lines = [json.loads(line) for line in app.log.getvalue().splitlines()]
    found = [x for x in lines if x.get("request_id") == answer.headers["x-request-id"]]
    assert [x["event"] for x in found] == ["failure", "request"]
    assert (found[0]["error"], found[0]["message"]) == ("RuntimeError", "the cause")
    assert "the cause" not in answer.text
    assert "someone" not in answer.text + app.log.getvalue()


def test_the_reason_of_a_store_that_is_away_is_logged(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any) -> None:
        raise StoreUnavailable("the disk is full: make room")

    monkeypatch.setattr(app.served.bridge, "do", fail)
    monkeypatch.setattr(app.served, "names", fail)
    answers = [
        app.http.post("/v1/campaigns/c/decisions", json={}),  # past the framework
        app.http.get("/v1/campaigns"),  # through it
    ]
    app.served.log.close()
    lines = [json.loads(line) for line in app.log.getvalue().splitlines()]
    for answer in answers:
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "disk" not in answer.text
        asked = answer.headers["x-request-id"]
        (found,) = [x for x in lines if (x["event"], x["request_id"]) == ("failure", asked)]
        assert found["message"] == "the disk is full: make room"
        assert "trace" not in found


def test_who_goes_while_a_body_comes_gets_no_answer(app: App) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/campaigns/c/decisions",
        "headers": [(b"host", b"localhost"), (b"content-length", b"2")],
    }
    asyncio.run(app.http.app(scope, receive, send))  # type: ignore[arg-type]
    assert sent == []
