"""Sockets, and what clients may do to a server that listens."""

from __future__ import annotations

import contextlib
import io
import json
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from driftanchor.serve.connection import sweep

from benchmarks.torture.serve_bytes import listening_server
from driftanchor import InvalidInput
from driftanchor.live.stores.access_keys import KeyRow, digest
from driftanchor.live.stores.store import open_store
from driftanchor.serve import connection
from driftanchor.serve.server import Server, listen, url_of


def test_a_free_port_is_found_and_a_taken_one_refused() -> None:
    with contextlib.closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        assert url_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(InvalidInput, match="Address already in use") as caught:
            listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"cannot listen on 127.0.0.1, port {port}: Address already in use. Is another server "
        "running? Choose another --port"
    )


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Choose another --host or --port"):
        listen("192.0.2.1", 0)


def test_six_has_brackets() -> None:
    class Listening:
        def getsockname(self) -> tuple[str, int, int, int]:
            return ("::1", 80, 0, 0)

    assert url_of(Listening()) == "http://[::1]:80"  # type: ignore[arg-type]


KEY = f"da_admin_{'0' * 48}"
HOST = f"Host: 127.0.0.1\r\nX-API-Key: {KEY}\r\n".encode()
POST = b"POST /v1/campaigns/none/decisions HTTP/1.1\r\n" + HOST
JSON = b"Content-Type: application/json\r\n"
TIME = 10.0  # seconds until a test gives up


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("store")
    store = open_store(f"sqlite:///{folder / 'store.db'}")
    store.add_key(KeyRow("0" * 8, digest(KEY), "admin", 0.0))
    with listening_server(store, io.StringIO()) as running:
        yield running


@contextlib.contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    place = server.servers[0].sockets[0].getsockname()
    with contextlib.closing(socket.create_connection(place, TIME)) as client:
        yield client


def everything(client: socket.socket) -> bytes:
    """What a server says until it closes the connection."""
    said = b""
    with contextlib.suppress(ConnectionResetError):  # it did not read all that was sent
        while part := client.recv(65_536):
            said += part
    return said


def asked(server: Server, *parts: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the problem of the answer to a request, after which the server closes."""
    with connected(server) as client:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                client.sendall(part)
        head, _, body = everything(client).partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body)


@pytest.mark.parametrize(
    ("status", "request_parts"),
    [
        (400, [b"GET / HTTP/9.9\r\n\r\n"]),
        (400, [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]),  # TLS
        (400, [b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n"]),
        (400, [b"GET / HTTP/1.1\r\nHost: a\r\n b: c\x00\r\n\r\n"]),
        (400, [POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345"]),
        (400, [POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]),
        (400, [POST + b"Content-Length: -1\r\n\r\n"]),
        (400, [POST + b"Content-Length: 1e3\r\n\r\n"]),
        (400, [POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n"]),
        (400, [b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n"]),
        (400, [b"GET /livez HTTP/1.1\r\nConnection: close\r\n" + HOST * 2 + b"\r\n"]),
        (404, [b"GET /v1/campaigns/ HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"]),
        (431, [b"GET /livez HTTP/1.1\r\n" + HOST + b"a: b\r\n" * 101 + b"\r\n"]),
        (414, [b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"]),
        (431, [b"GET /livez HTTP/1.1\r\n", *[b"a: " + b"b" * 9_000 + b"\r\n"] * 50]),
        (400, [POST + JSON + b"Content-Length: 999999999999999999999\r\n\r\n"]),
        (413, [POST + JSON + b"Content-Length: 99999999999\r\n\r\n"]),
        (413, [POST + JSON + b"Content-Length: 65537\r\n\r\n", b"[" * 65_537]),
        (
            413,
            [
                POST + JSON + b"Transfer-Encoding: chunked\r\n\r\n",
                *[b"4000\r\n" + b"1" * 0x4000 + b"\r\n"] * 6,
                b"0\r\n\r\n",
            ],
        ),
    ],
)
def test_what_is_refused(server: Server, status: int, request_parts: list[bytes]) -> None:
    found, problem = asked(server, *request_parts)
    assert (found, problem["status"]) == (status, status)
    assert "Traceback" not in str(problem)


def test_what_is_odd_and_right_is_answered(server: Server) -> None:
    """Empty lines first, chunks with extensions and trailers, two requests at once, HTTP/1.0."""
    ask = (
        POST + JSON + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\n{\r\n1\r\n}\r\n0\r\nc: d\r\n\r\n"
    )
    last = b"GET /livez HTTP/1.0\r\n\r\n"
    with connected(server) as client:
        client.sendall(b"\r\n" + ask + b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n" + last)
        said = everything(client)
    statuses = [line for line in said.split(b"\r\n") if b"HTTP/1.1 " in line]
    assert [int(line.partition(b"HTTP/1.1 ")[2][:3]) for line in statuses] == [404, 200, 200]


def test_a_wish_for_http_2_costs_no_body(server: Server) -> None:
    """The client of Java sends it with its first request."""
    wish = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
    with connected(server) as client:
        for _ in range(2):  # the connection goes on
            client.sendall(POST + wish + JSON + b"Content-Length: 2\r\n\r\n{}")
            assert b'"not_found"' in client.recv(65_536)


def test_nonsense_is_not_the_answer_to_the_request_before_it(server: Server) -> None:
    ask = POST + JSON + b"Content-Length: 2\r\n\r\n{}"
    with connected(server) as client:
        client.sendall(ask + b"nonsense\r\n\r\n")
        said = everything(client)
    assert said.startswith(b"HTTP/1.1 404 ")
    assert said.count(b"HTTP/1.1 ") == 1


def test_few_requests_may_wait_behind_another(server: Server) -> None:
    alive = b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"
    with connected(server) as client:
        client.sendall(alive * 20 + b"GET /livez HTTP/1.0\r\n\r\n")
        assert everything(client).count(b"HTTP/1.1 200 ") == 21
    with connected(server) as client:
        client.sendall(alive * 1_000)
        assert everything(client).count(b"HTTP/1.1 ") < connection.MOST_AHEAD + 3


UNENDED = [
    b"",
    b"\r\n",
    b"GET /livez HTT",
    b"GET /livez HTTP/1.1\r\nHost: a\r\n",
    POST + JSON + b"Content-Length: 10\r\n\r\n{",
    POST + JSON + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
]


def test_requests_that_do_not_end_are_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in UNENDED]
        for client, sent in zip(clients, UNENDED, strict=True):
            client.sendall(sent)
        monkeypatch.setattr(connection, "SLOWEST_REQUEST", 0.05)
        said = [everything(client) for client in clients]
    assert [b" 408 " in text and b"request_too_slow" in text for text in said] == [True] * 6


@pytest.mark.parametrize(
    "request_", [b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n", POST + JSON + b"\r\n"]
)
def test_a_connection_is_kept_between_requests_but_not_for_ever(
    server: Server, request_: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(server) as client:
        client.sendall(request_)
        assert b"HTTP/1.1 " in client.recv(65_536)
        all_of_them: Any = server.server_state.connections
        (found,) = (x for x in all_of_them if x.client == client.getsockname())
        assert found.receiving_since is None
        sweep([found], found.idle_since + connection.KEPT)
        client.sendall(request_)
        assert b"HTTP/1.1 " in client.recv(65_536)
        monkeypatch.setattr(connection, "KEPT", 0.0)
        assert everything(client) == b""


def test_a_connection_that_waits_for_an_answer_is_not_idle() -> None:
    waits = SimpleNamespace(receiving_since=None, writing_since=None, idle_since=None)
    sweep([waits], 1e9)


def test_busy_routes_answer_one_after_the_other(server: Server) -> None:
    """Two requests at once, and a last one that closes the connection."""
    ask = POST + JSON + b"Content-Length: 2\r\n"
    with connected(server) as client:
        client.sendall((ask + b"\r\n{}") * 2 + ask + b"Connection: close\r\n\r\n{}")
        said = everything(client)
    assert said.count(b"HTTP/1.1 404 ") == 3
    assert said.count(b"connection: close") == 1
    heads = [part.rpartition(b"HTTP/1.1")[2] for part in said.split(b"\r\n\r\n")[:3]]
    for head in heads:
        assert head.count(b"date: ") == head.count(b"content-length: ") == 1


def test_a_client_that_reads_nothing_is_given_up() -> None:
    aborted: list[float] = []
    transport = SimpleNamespace(abort=lambda: aborted.append(1.0))
    slow = SimpleNamespace(
        receiving_since=None, writing_since=5.0, idle_since=None, transport=transport
    )
    sweep([slow], 5.0 + connection.SLOWEST_ANSWER)
    assert not aborted
    sweep([slow], 5.1 + connection.SLOWEST_ANSWER)
    assert aborted


def test_more_connections_than_files_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(server) as first:
        first.sendall(b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n")
        assert b" 200 " in first.recv(65_536)
        monkeypatch.setattr(connection, "MOST_CONNECTIONS", len(server.server_state.connections))
        with connected(server) as second:
            assert everything(second) == b""
        first.sendall(b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n")
        assert b" 200 " in first.recv(65_536)
