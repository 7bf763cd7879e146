"""Calls: what is repeated, how long, and with what."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import Any

import pytest

from driftanchor.client.calls import Calls
from driftanchor.client.http_connections import Reply
from driftanchor.errors import Conflict, InvalidInput, NotFound, StoreUnavailable


class Scripted:
    """Answers as a script says; time passes only in waits and in what a request takes."""

    url = "http://server"

    def __init__(self, *script: Reply | Exception, takes: float = 0.0) -> None:
        self.script = list(script)
        self.takes = takes
        self.now = 100.0
        self.waits: list[float] = []
        self.seen: list[tuple[str, str, bytes | None, dict[str, str], float]] = []

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> Reply:
        self.seen.append((method, path, body, headers, seconds))
        self.now += min(self.takes, seconds)
        found = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(found, Exception):
            raise found
        return found

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def calls(self, key: str | None = None, chance: float = 1.0) -> Calls:
        return Calls(self, key, clock=lambda: self.now, sleep=self.sleep, chance=lambda: chance)


def answer(status: int, body: Any = None, **headers: str) -> Reply:
    return Reply(status, headers, json.dumps(body).encode())


AWAY = ConnectionRefusedError("refused")


def test_an_answer_comes_back_and_the_key_is_sent() -> None:
    server = Scripted(answer(201, {"id": "x"}))
    found = server.calls("da_decide_x").call("POST", "/p", {"n": 1}, seconds=1.0, request_key="k")
    assert found == {"id": "x"}
    [(method, path, body, headers, seconds)] = server.seen
    assert (method, path, body, seconds) == ("POST", "/p", b'{"n": 1}', 1.0)
    assert headers["Authorization"] == "Bearer da_decide_x"
    assert headers["Idempotency-Key"] == "k"


def test_what_failed_for_a_moment_is_sent_again_the_same() -> None:
    server = Scripted(AWAY, answer(503, {}), answer(502), answer(200, 1))
    assert server.calls().call("PUT", "/p", {"value": 1.0}, seconds=9.0, request_key="k") == 1
    assert len(server.seen) == 4
    assert len({(x[0], x[1], x[2], x[3]["Idempotency-Key"]) for x in server.seen}) == 1
    assert server.waits == [0.05, 0.1, 0.2]


def test_waits_grow_to_five_seconds_and_chance_halves_them_at_most() -> None:
    server = Scripted(AWAY)
    with pytest.raises(StoreUnavailable):
        server.calls(chance=0.0).call("GET", "/", seconds=60.0)
    assert server.waits[:3] == [0.025, 0.05, 0.1]
    assert max(server.waits) == 2.5
    other = Scripted(AWAY)
    with pytest.raises(StoreUnavailable):
        other.calls(chance=1.0).call("GET", "/", seconds=60.0)
    assert max(other.waits) == 5.0


def test_it_ends_in_time_and_gives_each_try_what_is_left() -> None:
    server = Scripted(TimeoutError(), takes=0.3)
    with pytest.raises(StoreUnavailable, match="http://server did not answer within 1 s"):
        server.calls().call("GET", "/", seconds=1.0)
    assert server.now <= 101.0
    assert [round(x[4], 2) for x in server.seen] == [1.0, 0.65, 0.25]


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (TimeoutError("timed out"), "did not answer within 0.2 s"),
        (
            ConnectionRefusedError(111, "Connection refused"),
            "cannot be reached: Connection refused",
        ),
        (OSError("no such host"), "cannot be reached: no such host"),
        (ConnectionResetError(104, "Reset"), "did not answer within 0.2 s (Reset)"),
        (HTTPException(), "did not answer within 0.2 s (HTTPException)"),
    ],
)
def test_a_server_that_is_away_is_not_one_that_is_slow(failure: Exception, said: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        Scripted(failure).calls().call("GET", "/", seconds=0.18, promised=0.2)
    assert str(caught.value) == f"the server at http://server {said}"


def test_a_server_that_asks_to_wait_is_left_alone_for_that_time() -> None:
    server = Scripted(answer(429, {}, **{"retry-after": "3"}), answer(200, 1))
    assert server.calls().call("GET", "/", seconds=10.0) == 1
    assert server.waits == [3.0]
    busy = Scripted(
        answer(429, {"code": "x", "detail": "too many requests"}, **{"retry-after": "30"})
    )
    with pytest.raises(StoreUnavailable, match="too many requests"):
        busy.calls().call("GET", "/", seconds=10.0)
    assert busy.waits == []


@pytest.mark.parametrize(
    ("status", "kind"), [(404, NotFound), (409, Conflict), (422, InvalidInput), (401, InvalidInput)]
)
def test_what_the_server_refused_is_not_sent_again(status: int, kind: type[Exception]) -> None:
    server = Scripted(answer(status, {"code": "x", "detail": "no"}))
    with pytest.raises(kind, match="no"):
        server.calls().call("GET", "/", seconds=10.0)
    assert len(server.seen) == 1


def test_an_answer_of_something_else_is_said_to_be_none() -> None:
    server = Scripted(Reply(200, {}, b"<html>"))
    with pytest.raises(StoreUnavailable, match="no JSON"):
        server.calls().call("GET", "/", seconds=10.0)


def test_a_key_may_be_read_from_its_file() -> None:
    server = Scripted(answer(200))
    server.calls("da_decide_x\n").call("GET", "/p", seconds=1.0)
    assert server.seen[0][3]["Authorization"] == "Bearer da_decide_x"


@pytest.mark.parametrize("key", ["with space", "new\nline", "ü", 7, "", "\n"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(InvalidInput, match="key must be a key") as caught:
        Calls(Scripted(AWAY), key)
    assert not str(key).strip() or str(key) not in str(caught.value)
