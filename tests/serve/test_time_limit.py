"""Every request is answered, also while the store hangs, and nothing is lost or doubled."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import create
from http_server import HttpServer, http_server

from benchmarks.torture.postgres import Postgres, running
from driftanchor import Campaign
from driftanchor.live.stores.sql.sql_store import open_sql
from driftanchor.live.stores.sql.write_turn import Turns, lock_file
from driftanchor.serve.request_log import Log
from driftanchor.serve.served import Served, ServeSettings

FOR_EVER = 60.0  # seconds: a request that takes longer counts as one without an answer
SETTINGS = ServeSettings(deadline=1.0, patience=0.1)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running() as started:
        yield started


@contextlib.contextmanager
def serving(address: str) -> Iterator[HttpServer]:
    """A server with short deadlines, and a campaign `c`."""

    def serve() -> Served:
        store = open_sql(address, SETTINGS.patience, deadline=0.7)
        return Served(store, SETTINGS, time.time, Log(io.StringIO()))

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
        assert server.served.bridge.waiting == 0
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
        turn = Turns(lock_file(path)).next()
        turn.take()
        requests = [("POST", "/v1/campaigns/c/decisions", {"unit": f"u{i}"}) for i in range(8)]
        try:
            answers = all_at_once(server, requests)
            assert ask(server, "GET", "/v1/campaigns")[0] == 200
        finally:
            turn.leave()
        assert [status for status, _, _ in answers] == [503] * 8
        assert {x[0] for x in all_at_once(server, requests)} <= {200, 201}
        with Campaign.load("c", store=f"sqlite:///{path}") as campaign:
            assert campaign.verify().decisions == 8
