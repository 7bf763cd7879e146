"""Malformed and unauthorised requests, sent over sockets to `driftanchor serve`."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from server_process import ServerProcess, server_process

from driftanchor import TS, Campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store

TIME = 20.0  # seconds until a test gives up
JSON = "Content-Type: application/json\r\n"
DECIDE = "POST /v1/campaigns/c/decisions HTTP/1.1\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n"


class Target:
    """A running server, its port and its keys."""

    def __init__(self, server: ServerProcess, keys: dict[str, str]) -> None:
        self.server, self.keys = server, keys
        self.port = urlsplit(server.url).port
        self.host = f"Host: 127.0.0.1:{self.port}\r\n"

    def send(self, *parts: str) -> tuple[int, Any]:
        """Send bytes until the server closes: the status and the problem or answer."""
        said = b""
        with socket.create_connection(("127.0.0.1", self.port), TIME) as client:
            with contextlib.suppress(ConnectionError):
                for part in parts:
                    client.sendall(part.encode("latin-1"))
            with contextlib.suppress(ConnectionResetError):  # it did not read all that was sent
                while part_read := client.recv(65_536):
                    said += part_read
        head, _, body = said.partition(b"\r\n\r\n")
        return (int(head.split(b" ")[1]), json.loads(body)) if head else (0, None)

    def peak_memory(self) -> int:
        """The most bytes that the server ever had in memory."""
        status = Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="ascii")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def started(folder: Path, roles: list[str]) -> Iterator[Target]:
    """A server with a campaign `c` and a key for each role."""
    address = f"sqlite:///{folder / 'store.db'}"
    store = open_store(address)
    for name in ("c", "secret-launch"):
        Campaign.create(name, arms=["A", "B"], policy=TS(), reward_range=(0, 1), store=store)
    keys = {}
    for role in roles:
        keys[role], row = make_key([role], now=time.time())
        store.add_key(row)
    store.close()
    words = ("--store", address, "--port", "0")
    with server_process(*words, log=folder / "log") as server:
        yield Target(server, keys)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    yield from started(tmp_path_factory.mktemp("keyed"), ["decide", "read", "admin"])


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    yield from started(tmp_path_factory.mktemp("keyless"), [])


# Trailers and the size of headers


@pytest.mark.parametrize("trailer", ["Authorization: Bearer {key}", "X-API-Key: {key}"])
def test_a_key_in_a_trailer_does_not_let_in(keyed: Target, trailer: str) -> None:
    sent = trailer.format(key=keyed.keys["admin"])
    status, problem = keyed.send(DECIDE + keyed.host + JSON + CHUNKED + f"{sent}\r\n\r\n")
    assert (status, problem["code"]) == (401, "key_missing")


def test_trailers_change_nothing(keyed: Target) -> None:
    """A second key, host or idempotency key in a trailer would be refused as a header."""
    key = f"X-API-Key: {keyed.keys['decide']}\r\nIdempotency-Key: t1\r\n"
    trailers = "X-API-Key: other\r\nHost: evil.example\r\nIdempotency-Key: t2\r\n\r\n"
    status, made = keyed.send(DECIDE + keyed.host + JSON + key + CHUNKED + trailers)
    assert (status, made["replayed"]) == (201, False)
    status, again = keyed.send(DECIDE + keyed.host + JSON + key + CHUNKED + "\r\n")
    assert (status, again["id"]) == (200, made["id"])


@pytest.mark.parametrize("part", ["a: b\r\n" * 2_730, "a" * 16_384], ids=["many", "one"])
def test_trailers_fill_no_memory(keyed: Target, part: str) -> None:
    """5 MB from a stranger. Kept as headers, many short ones take more than 100 MB."""
    before = keyed.peak_memory()
    first = "" if part.startswith("a:") else "a: "
    keyed.send(DECIDE + keyed.host + JSON + CHUNKED + first, *[part] * 320, "\r\n\r\n")
    assert keyed.peak_memory() - before < 8 * 1024 * 1024
    assert keyed.server.ask("GET", "/livez")[0] == 200


def test_all_headers_together_are_limited(keyed: Target) -> None:
    """Before a key is asked for, and however they arrive."""
    get = f"GET /v1/campaigns HTTP/1.1\r\n{keyed.host}Connection: close\r\n"
    for size, status in ((600, 401), (1_100, 431)):
        headers = "".join(f"h{i}: {'x' * size}\r\n" for i in range(30))
        assert keyed.send(get + headers + "\r\n")[0] == status
        lines = [f"{line}\r\n" for line in headers.split("\r\n")[:-1]]
        assert keyed.send(get, *lines, "\r\n")[0] == status


# A server without keys

GET = "GET /v1/campaigns HTTP/1.1\r\nConnection: close\r\n"
PAUSE = "PATCH /v1/campaigns/c HTTP/1.1\r\nConnection: close\r\nContent-Length: 15\r\n"


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded: for=192.0.2.7",
        "X-Forwarded-For: 192.0.2.7",
        "X-Forwarded-Host: shop.example",
        "X-Forwarded-Proto: https",
        "X-Real-IP: 192.0.2.7",
        "Via: 1.1 proxy",
        "CF-Connecting-IP: 192.0.2.7",
    ],
)
def test_a_keyless_server_refuses_forwarded_requests(keyless: Target, header: str) -> None:
    status, problem = keyless.send(GET + keyless.host + f"{header}\r\n\r\n")
    assert (status, problem["code"]) == (403, "forwarded")
    change = PAUSE + JSON + keyless.host + f"{header}\r\n\r\n" + '{"paused":true}'
    assert keyless.send(change)[0] == 403
    ask = DECIDE + JSON + keyless.host + f"{header}\r\n" + CHUNKED + "\r\n"
    assert keyless.send(ask)[0] == 403
    _, shown = keyless.send(GET + keyless.host + "\r\n")
    assert [x["paused"] for x in shown["campaigns"]] == [False, False]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",  # no port: 80
        "127.0.0.1:1",
        "localhost",
        "127.0.0.2:{port}",
        "[::1]:{port}",
        "shop.localhost:{port}",
        "evil.example:{port}",
        "localhost.evil.example:{port}",
        "",
    ],
)
def test_a_keyless_server_answers_only_its_own_address(keyless: Target, host: str) -> None:
    status, problem = keyless.send(GET + f"Host: {host.format(port=keyless.port)}\r\n\r\n")
    assert (status, problem["code"]) == (403, "not_local")


def test_a_keyless_server_needs_a_host(keyless: Target) -> None:
    assert keyless.send("GET /v1/campaigns HTTP/1.0\r\n\r\n")[0] == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_a_keyless_server_answers_this_machine(keyless: Target, host: str) -> None:
    assert keyless.send(GET + f"Host: {host}:{keyless.port}\r\n\r\n")[0] == 200


def test_a_server_with_keys_may_be_behind_a_proxy(keyed: Target) -> None:
    key = f"X-API-Key: {keyed.keys['read']}\r\n"
    forwarded = "Host: shop.example\r\nX-Forwarded-For: 192.0.2.7\r\nVia: 1.1 proxy\r\n"
    assert keyed.send(GET + forwarded + key + "\r\n")[0] == 200
