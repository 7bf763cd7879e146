"""Sockets, and what clients may do to a server that listens."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.torture.serve_bytes import listening_server
from driftanchor import InvalidInput
from driftanchor.live.stores.access_keys import KeyRow, digest
from driftanchor.live.stores.store import open_store
from driftanchor.serve import middleware
from driftanchor.serve import server as running
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


def asked(server: Server, *parts: bytes) -> tuple[int, str]:
    """The status and the body of the answer to a request, after which the server closes."""
    with connected(server) as client:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                client.sendall(part)
        head, _, body = everything(client).partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body.decode()


@pytest.mark.parametrize(
    ("status", "request_parts"),
    [
        (400, [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]),  # TLS
        (400, [b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n"]),
        (400, [b"GET / HTTP/1.1\r\nHost: a\r\n b: c\x00\r\n\r\n"]),
        (400, [POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345"]),
        (400, [POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]),
        (400, [POST + b"Content-Length: -1\r\n\r\n"]),
        (400, [POST + b"Content-Length: 1e3\r\n\r\n"]),
        (400, [POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\n"]),
        (400, [b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n"]),
        (400, [b"GET /livez HTTP/1.1\r\nConnection: close\r\n" + HOST * 2 + b"\r\n"]),
        (404, [b"GET /v1/campaigns/ HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"]),
        (400, [b"GET /livez HTTP/1.1\r\n", *[b"a: " + b"b" * 9_000 + b"\r\n"] * 50]),
        (400, [b"GET /" + b"a" * 40_000]),
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
    found, text = asked(server, *request_parts)
    assert found == status
    assert f'"status": {status}' in text or "Invalid HTTP request received." in text
    assert "Traceback" not in text


def test_what_is_odd_and_right_is_answered(server: Server) -> None:
    """Chunks with extensions and trailers, two requests at once, HTTP/1.0."""
    ask = (
        POST + JSON + b"Transfer-Encoding: chunked\r\n\r\n1;a=b\r\n{\r\n1\r\n}\r\n0\r\nc: d\r\n\r\n"
    )
    last = b"GET /livez HTTP/1.0\r\n\r\n"
    with connected(server) as client:
        client.sendall(ask + b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n" + last)
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
    statuses = [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"404", b"400"]


def test_many_requests_at_once_are_answered_in_turn(server: Server) -> None:
    alive = b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n"
    with connected(server) as client:
        client.sendall(alive * 20 + b"GET /livez HTTP/1.0\r\n\r\n")
        assert everything(client).count(b"HTTP/1.1 200 ") == 21


def test_a_body_that_does_not_end_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "RECEIVE_SECONDS", 0.05)
    for unended in (
        b"Content-Length: 10\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ):
        status, text = asked(server, POST + JSON + unended)
        assert (status, "request_too_slow" in text) == (408, True)


def test_a_connection_is_kept_between_requests(server: Server) -> None:
    with connected(server) as client:
        for request in (b"GET /livez HTTP/1.1\r\n" + HOST + b"\r\n", POST + JSON + b"\r\n"):
            client.sendall(request)
            assert b"HTTP/1.1 " in client.recv(65_536)


def test_trailers_are_no_headers(server: Server) -> None:
    """A key in a trailer lets nobody in."""
    start = POST.partition(b"X-API-Key")[0] + JSON + b"Connection: close\r\n"
    for name in ("X-API-Key", "x-api-key"):
        body = f"Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{name}: {KEY}\r\n\r\n"
        status, text = asked(server, start + body.encode())
        assert (status, "key_missing" in text) == (401, True)


def test_busy_routes_answer_one_after_the_other(server: Server) -> None:
    """Two requests at once, and a last one that closes the connection."""
    ask = POST + JSON + b"Content-Length: 2\r\n"
    with connected(server) as client:
        client.sendall((ask + b"\r\n{}") * 2 + ask + b"Connection: close\r\n\r\n{}")
        said = everything(client)
    assert said.count(b"HTTP/1.1 404 ") == 3
    assert said.lower().count(b"connection: close") == 1
    heads = [part.rpartition(b"HTTP/1.1")[2] for part in said.split(b"\r\n\r\n")[:3]]
    for head in heads:
        assert head.count(b"date: ") == head.count(b"content-length: ") == 1


def test_more_connections_than_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_max_connections", lambda: 2)
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    with listening_server(store, io.StringIO()) as small, connected(small) as first:
        place = small.servers[0].sockets[0].getsockname()
        alive = f"GET /livez HTTP/1.1\r\nHost: 127.0.0.1:{place[1]}\r\n\r\n".encode()
        first.sendall(alive)
        assert b" 200 " in first.recv(65_536)
        with connected(small) as second:
            second.sendall(alive)
            assert b" 503 " in second.recv(65_536)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_handled_for_a_while(number: int) -> None:
    received: list[int] = []
    before = signal.getsignal(number)
    with running.handling_signals(lambda found, _: received.append(found)):
        os.kill(os.getpid(), number)
    assert received == [number]
    assert signal.getsignal(number) == before
