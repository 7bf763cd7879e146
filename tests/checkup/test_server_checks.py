"""What is said about a server, asked over HTTP on loopback."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from campaign_parts import create
from http_server import HttpServer, http_server

from driftanchor import InvalidInput
from driftanchor.checkup import server_checks
from driftanchor.checkup.diagnosis import Diagnosis
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store
from driftanchor.version import __version__


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HttpServer]:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    create(address).close()
    with http_server(address) as running:
        yield running


@contextmanager
def answering(status: int, answers: dict[str, object]) -> Iterator[str]:
    """A server of somebody else: its address. It answers with JSON by path, and text elsewhere."""

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path.partition("?")[0])
            body = b"<html>" if found is None else json.dumps(found).encode()
            self.send_response(status if found is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{other.server_port}"
        finally:
            other.shutdown()
            thread.join()


def seen(url: str, key: str | None = None) -> dict[str, Diagnosis]:
    found = list(server_checks.check_server(url, key))
    return {each.name: each for each in found}


def test_a_server_that_runs(server: HttpServer) -> None:
    found = seen(server.url)
    assert list(found) == ["server", "server store", "server version", "server key"]
    assert {each.status for each in found.values()} == {"fine"}, found
    assert found["server store"].found.endswith("which has 1 campaign")
    assert found["server version"].found == f"it has version {__version__}, as we do"
    assert found["server key"].found == "it needs no key, and checks none"
    assert seen(server.url, "wrong")["server key"].found == "it needs no key, and checks none"


def test_keys(server: HttpServer) -> None:
    store = open_store(server.store)
    keys = {}
    for role in ("read", "decide"):
        keys[role], row = make_key([role], now=time.time())
        store.add_key(row)
    store.close()
    server.stop()
    server.start()
    assert "needs a key" in seen(server.url)["server key"].found
    assert seen(server.url, f"{keys['read']}\n")["server key"].found == "it accepts the key"
    assert "may not read campaigns" in seen(server.url, keys["decide"])["server key"].found
    unknown = make_key(["read"], now=time.time())[0]
    found = seen(server.url, unknown)["server key"]
    assert found.status == "problem"
    assert "unknown, expired or revoked" in found.found
    assert "driftanchor keys create" in found.advice
    assert unknown not in str(found)


def test_a_key_is_not_sent_to_others_in_plain_text(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_checks, "is_local", lambda place: False)
    sent: list[str | None] = []
    real = server_checks.Asked.get

    def get(asked: server_checks.Asked, path: str, key: str | None = None) -> object:
        sent.append(key)
        return real(asked, path, key)

    monkeypatch.setattr(server_checks.Asked, "get", get)
    found = seen(server.url, "da_read_x")["server key"]
    assert (found.status, found.found) == (
        "problem",
        "the key was not sent: this address has no TLS",
    )
    assert set(sent) == {None}


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (found,) = seen(f"http://127.0.0.1:{port}").values()
    assert (found.name, found.status) == ("server", "problem")
    assert "Connection refused" in found.found
    assert "driftanchor serve" in found.advice


def test_somebody_who_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_checks, "PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (found,) = seen(f"http://127.0.0.1:{silent.getsockname()[1]}").values()
    assert (found.status, found.found.endswith("it takes too long")) == ("problem", True)


def test_a_server_of_somebody_else() -> None:
    for status in (200, 404):
        with answering(status, {}) as url:
            (found,) = seen(url).values()
        assert (found.status, f"(it answers {status})" in found.found) == ("problem", True)


def test_https_where_there_is_none(server: HttpServer) -> None:
    (found,) = seen(server.url.replace("http:", "https:")).values()
    assert (found.name, found.status) == ("server", "problem")


def test_another_version() -> None:
    answers = {
        "/livez": {"status": "ok"},
        "/readyz": {"status": "ok"},
        "/openapi.json": {"info": {"version": "0.0.9"}},
        "/v1/campaigns": {"campaigns": []},
    }
    with answering(404, answers) as url:
        found = seen(url)
    assert found["server version"].status == "problem"
    assert found["server version"].found == f"it has version 0.0.9, and we have {__version__}"
    assert {name for name, each in found.items() if each.status != "fine"} == {"server version"}
    odd = {"/livez": {"status": "ok"}, "/openapi.json": {"info": []}, "/readyz": {"checks": 7}}
    with answering(200, odd) as url:
        found = seen(url)
    assert found["server store"].found == "it can read its store"
    assert found["server version"].status == "problem"


def test_a_server_whose_store_is_away(server: HttpServer) -> None:
    Path(server.store.removeprefix("sqlite:///")).rename(f"{server.store[10:]}-away")
    found = seen(server.url)
    assert found["server"].status == "fine"
    assert found["server store"].status == "problem"
    assert "the store does not answer" in found["server store"].found
    assert "doctor --store" in found["server store"].advice


def test_a_server_that_stops_in_between(server: HttpServer) -> None:
    found = server_checks.check_server(server.url)
    assert next(found).status == "fine"
    server.stop()
    (rest,) = list(found)
    assert (rest.name, rest.status) == ("server", "problem")
    server.start()


@pytest.mark.parametrize(
    ("url", "key"), [("ftp://x", None), ("http://u:secret@x", None), ("http://x", "a b secret")]
)
def test_what_is_no_address_or_no_key(url: str, key: str | None) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        list(server_checks.check_server(url, key))
