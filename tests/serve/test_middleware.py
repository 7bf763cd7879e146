"""Request ids, the log, and limits of bodies and time."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import create
from http_server import HttpServer, http_server
from one_turn import one_turn
from served_app import App

from benchmarks.torture.postgres import Postgres, running
from driftanchor import Campaign
from driftanchor.live.stores.store import open_store
from driftanchor.serve import middleware
from driftanchor.serve.app_state import AppState, ServeSettings
from driftanchor.serve.middleware import MAX_BYTES, LimitBody, request_id_of
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_log import Log


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
    app.state.log.close()
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

    monkeypatch.setattr(app.state, "names", fail)
    answer = app.http.get("/v1/campaigns")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "the cause" not in answer.text
    app.state.log.close()
    assert '"error": "RuntimeError", "message": "the cause", "trace"' in app.log.getvalue()


SENT = Sequence[bytes | None]  # chunks of a body; `None` if the client goes


def asked(
    chunks: SENT, headers: Sequence[tuple[bytes, bytes]] = ()
) -> tuple[int, Any, Mapping[str, str], int]:
    """Send a body in chunks: status, what came through or the code, headers, chunks read."""
    left, answer, read = list(chunks), list[Any](), 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        chunk = left.pop(0)
        if chunk is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    async def send(message: Any) -> None:
        answer.append(message)

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        answer.append(scope["body"])

    scope = {"type": "http", "path": "/", "headers": headers}
    try:
        asyncio.run(LimitBody(echo)(scope, receive, send))
    except Problem as problem:
        return problem.status, problem.code, problem.headers, read
    return (200, answer[0].decode(), {}, read) if answer else (0, None, {}, read)


def length(size: int) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", b"%d" % size)]


CHUNKED = [(b"transfer-encoding", b"chunked")]


def test_a_body_comes_through_whole() -> None:
    assert asked([b'{"a":1}'], length(7))[:2] == (200, '{"a":1}')
    assert asked([b'{"a"', b":1", b"}"], CHUNKED)[:2] == (200, '{"a":1}')
    most = b"1" * MAX_BYTES
    assert asked([most], length(len(most)))[:2] == (200, most.decode())
    assert asked([b""])[:2] == (200, "")


PART = b"1" * 40_000
EXPECTED = [(b"expect", b"100-continue")]


@pytest.mark.parametrize(
    ("chunks", "headers", "parts_read"),
    [
        ([PART, PART, b"1"], length(80_001), 3),  # few clients hear us before they end
        ([PART, PART, b"1"], CHUNKED, 3),
        ([PART, PART, b"1"], length(7), 3),  # it lies
        ([PART, PART, b"1"], [(b"content-length", b"x")], 3),
        ([b"1" * (MAX_BYTES + 1)], CHUNKED, 1),
        ([PART] * 100, CHUNKED, 27),
        ([PART] * 100, length(4_000_000), 0),
        ([PART] * 100, [(b"content-length", b"9" * 30)], 0),
        ([PART, PART, b"1"], length(80_001) + EXPECTED, 0),
        ([PART, PART, b"1"], CHUNKED + EXPECTED, 2),
    ],
)
def test_a_body_that_is_too_large(
    chunks: SENT, headers: list[tuple[bytes, bytes]], parts_read: int
) -> None:
    status, code, sent, read = asked(chunks, headers)
    assert (status, code, read) == (413, "body_too_large", parts_read)
    assert sent["Connection"] == "close"


@pytest.mark.parametrize("chunks", [[None], [b"1", None], [PART, PART, None]])
def test_a_client_that_goes_is_not_answered(chunks: SENT) -> None:
    assert asked(chunks, length(2))[0] == 0


def test_a_body_that_comes_too_slowly_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "RECEIVE_SECONDS", 0.01)

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def unused(*_: Any) -> None:
        raise AssertionError("no body came")

    scope = {"type": "http", "path": "/", "headers": length(2)}
    with pytest.raises(Problem) as caught:
        asyncio.run(LimitBody(unused)(scope, receive, unused))
    assert (caught.value.status, caught.value.code) == (408, "request_too_slow")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 60_000, 400),
        (b'{"a":' * 10_000, 400),
        (b"[" * 250 + b"]" * 250, 400),
        (b"[" * 40 + b"]" * 40, 422),
        (b'{"exclude": ' + b"[" * 40 + b"]" * 40 + b"}", 422),
        (b'{"unit": "' + b"[{" * 1_000 + b'"}', 422),
        (json.dumps({"unit": "u"}).encode("utf-16"), 400),
        (json.dumps({"unit": "u"}).encode("utf-32-le"), 400),
        (b'{"unit": "\xff"}', 400),
        (b'{"unit": "\\ud800"}', 400),
    ],
)
def test_deep_json_and_other_encodings_are_refused(app: App, body: bytes, status: int) -> None:
    headers = {"Content-Type": "application/json"}
    answer = app.http.post("/v1/campaigns/c/decisions", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


FOR_EVER = 60.0  # seconds: a request that takes longer counts as one without an answer
SETTINGS = ServeSettings(deadline=1.0)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as started:
        yield started


@contextlib.contextmanager
def serving(address: str) -> Iterator[HttpServer]:
    """A server with short deadlines, and a campaign `c`."""

    def serve() -> AppState:
        store = open_store(address, patience=0.1, deadline=0.7)
        return AppState(store, SETTINGS, time.time, Log(io.StringIO()))

    create(address, clock=time.time).close()
    with http_server(address, serve=serve) as server:
        yield server


Answer = tuple[int, str | None, dict[str, Any]]


def ask(server: HttpServer, method: str, path: str, body: object = None, key: str = "") -> Answer:
    """One request: its status, Retry-After, and its JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=FOR_EVER)
    headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    with contextlib.closing(connection):
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Retry-After"), json.loads(answer.read())


def all_at_once(server: HttpServer, requests: list[tuple[Any, ...]]) -> list[Answer]:
    """The answers to requests that are sent at the same time."""
    found: dict[int, Answer] = {}

    def send(i: int) -> None:
        found[i] = ask(server, *requests[i])

    threads = [threading.Thread(target=send, args=[i]) for i in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[i] for i in range(len(requests))]


def test_a_postgresql_that_hangs_costs_no_answer_and_no_reward(postgres: Postgres) -> None:
    with serving(postgres.address) as server:
        decisions = "/v1/campaigns/c/decisions"
        ids = [ask(server, "POST", decisions, {})[2]["id"] for _ in range(12)]
        requests: list[tuple[Any, ...]] = [
            *(("PUT", f"/v1/decisions/{x}/reward", {"value": 1.0}) for x in ids),
            *(("POST", decisions, {"unit": f"u{i}"}) for i in range(12)),
            *(("POST", decisions, {}, f"k{i}") for i in range(6)),
            ("POST", "/v1/rewards", {"rewards": [{"decision_id": ids[0], "value": 1.0}]}),
            ("PATCH", "/v1/campaigns/c", {"paused": False}),
            ("POST", "/v1/campaigns", {"name": "new", "arms": ["A", "B"]}),
            ("POST", "/ofrep/v1/evaluate/flags/c", {"context": {"targetingKey": "f"}}),
            ("GET", "/v1/campaigns"),
            ("GET", "/v1/campaigns/c"),
            ("GET", f"/v1/decisions/{ids[0]}"),
            ("GET", "/page/overview.json"),
            ("GET", "/readyz"),
        ]
        with postgres.hanging():
            answers = all_at_once(server, requests)
            assert ask(server, "GET", "/livez")[0] == 200
        assert [status for status, _, _ in answers] == [503] * len(requests)
        assert all(after == "1" for _, after, _ in answers)
        again = all_at_once(server, requests)
        assert {status for status, _, _ in again} <= {200, 201}
        assert server.state.waiting == 0
        with Campaign.load("c", store=postgres.address) as campaign:
            verified = campaign.verify()
            details = [row.get("detail") or {} for row in campaign.events(most=5_000)]
        units = [x["unit"] for x in details if "unit" in x]
        assert verified.rewards == 12
        assert verified.decisions == 12 + 12 + 6 + 1
        assert sorted(units) == sorted([*(f"u{i}" for i in range(12)), "f"])


def test_a_process_that_keeps_the_lock_of_an_sqlite_store_costs_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with serving(f"sqlite:///{path}") as server:
        requests = [("POST", "/v1/campaigns/c/decisions", {"unit": f"u{i}"}) for i in range(8)]
        with one_turn(path):
            answers = all_at_once(server, requests)
            assert ask(server, "GET", "/v1/campaigns")[0] == 200
        assert [status for status, _, _ in answers] == [503] * 8
        assert {x[0] for x in all_at_once(server, requests)} <= {200, 201}
        with Campaign.load("c", store=f"sqlite:///{path}") as campaign:
            assert campaign.verify().decisions == 8
