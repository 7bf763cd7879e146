"""Connections: kept open, shared by threads, and replaced when the server closed them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from driftanchor.client import http_connections
from driftanchor.client.http_connections import HttpConnections
from driftanchor.errors import InvalidInput


class _Server(ThreadingHTTPServer):
    opened = 0

    def get_request(self):  # type: ignore[no-untyped-def]
        self.opened += 1
        return super().get_request()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if body == b"last":  # as a server does after a while, without a word
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[_Server]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sent(connections: HttpConnections, body: bytes) -> bytes:
    answer = connections.exchange("POST", "/", body, {}, 10.0)
    assert (answer.status, answer.headers["content-length"]) == (200, str(len(body)))
    return answer.body


def test_one_connection_serves_many_requests_and_a_closed_one_is_replaced(server: _Server) -> None:
    connections = HttpConnections(f"http://127.0.0.1:{server.server_port}/")
    before = server.opened
    assert [sent(connections, b"x"), sent(connections, b"y")] == [b"x", b"y"]
    assert server.opened == before + 1
    assert sent(connections, b"last") == b"last"
    assert sent(connections, b"z") == b"z"
    assert server.opened == before + 2
    connections.close()
    assert sent(connections, b"again") == b"again"
    connections.close()


def test_threads_share_connections_and_never_answers(server: _Server) -> None:
    connections = HttpConnections(f"http://127.0.0.1:{server.server_port}")
    wrong = []

    def work(name: int) -> None:
        for i in range(20):
            body = f"{name} {i}".encode()
            if sent(connections, body) != body:
                wrong.append(body)

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    connections.close()


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "127.0.0.1:8484",
        "ftp://example.com",
        "http://",
        "http://h:99999",
        "http://h:x",
        "http://h/?a=1",
        "http://user@h",
        "http://h/ a",
        "http://[::1",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="must be the address of a server"):
        HttpConnections(url)


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(InvalidInput, match="got one with a user") as refused:
        HttpConnections("http://user:SECRET@127.0.0.1")
    assert "SECRET" not in str(refused.value)


def test_an_answer_without_end_is_not_read_to_its_end(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connections, "LARGEST", 100)
    connections = HttpConnections(f"http://127.0.0.1:{server.server_port}")
    assert sent(connections, b"x" * 100) == b"x" * 100
    with pytest.raises(HTTPException, match="more than 100 bytes"):
        sent(connections, b"x" * 101)
    assert sent(connections, b"again") == b"again"
    connections.close()


def test_an_address_may_have_a_path_and_be_secure() -> None:
    found = HttpConnections("https://bandit.example.com/decide/")
    assert (found.secure, found.host, found.port, found.prefix) == (
        True,
        "bandit.example.com",
        None,
        "/decide",
    )
    assert found.url == "https://bandit.example.com/decide"
