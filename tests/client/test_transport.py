"""Transport against a real server, and retries on a scripted clock."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from driftanchor import errors
from driftanchor.client import transport
from driftanchor.client.transport import Response, Transport, response_error
from driftanchor.errors import Conflict, InvalidInput, NotFound, StoreUnavailable


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


def send(client: Transport, body: bytes) -> bytes:
    answer = client.exchange("POST", "/", body, {}, 10.0)
    assert (answer.status, answer.headers["content-length"]) == (200, str(len(body)))
    return answer.body


def test_one_connection_serves_many_requests_and_a_closed_one_is_replaced(server: _Server) -> None:
    client = Transport(f"http://127.0.0.1:{server.server_port}/")
    before = server.opened
    assert [send(client, b"x"), send(client, b"y")] == [b"x", b"y"]
    assert server.opened == before + 1
    assert send(client, b"last") == b"last"
    assert send(client, b"z") == b"z"
    assert server.opened == before + 2
    client.close()
    assert send(client, b"again") == b"again"
    client.close()


def test_threads_share_client_and_never_answers(server: _Server) -> None:
    client = Transport(f"http://127.0.0.1:{server.server_port}")
    wrong = []

    def work(name: int) -> None:
        for i in range(20):
            body = f"{name} {i}".encode()
            if send(client, body) != body:
                wrong.append(body)

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    client.close()


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
        Transport(url)


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(InvalidInput, match="got one with a user") as refused:
        Transport("http://user:SECRET@127.0.0.1")
    assert "SECRET" not in str(refused.value)


def test_an_answer_without_end_is_not_read_to_its_end(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_BODY", 100)
    client = Transport(f"http://127.0.0.1:{server.server_port}")
    assert send(client, b"x" * 100) == b"x" * 100
    with pytest.raises(HTTPException, match="more than 100 bytes"):
        send(client, b"x" * 101)
    assert send(client, b"again") == b"again"
    client.close()


def test_an_address_may_have_a_path() -> None:
    client = Transport("https://bandit.example.com/decide/")
    assert client.url == "https://bandit.example.com/decide"


class Scripted(Transport):
    """Returns scripted responses; time passes only in waits and in what a request takes."""

    def __init__(
        self,
        *script: Response | Exception,
        key: str | None = None,
        takes: float = 0.0,
        jitter: float = 1.0,
    ) -> None:
        super().__init__(
            "http://server",
            key,
            clock=lambda: self.now,
            sleep=self.wait,
            jitter=lambda: jitter,
        )
        self.script = list(script)
        self.takes = takes
        self.now = 100.0
        self.waits: list[float] = []
        self.seen: list[tuple[str, str, bytes | None, dict[str, str], float]] = []

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> Response:
        self.seen.append((method, path, body, headers, seconds))
        self.now += min(self.takes, seconds)
        response = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(response, Exception):
            raise response
        return response

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def answer(status: int, body: Any = None, **headers: str) -> Response:
    return Response(status, headers, json.dumps(body).encode())


AWAY = ConnectionRefusedError("refused")


def test_an_answer_comes_back_and_the_key_is_sent() -> None:
    server = Scripted(answer(201, {"id": "x"}), key="da_decide_x")
    body = server.call("POST", "/p", {"n": 1}, timeout=1.0, idempotency_key="k")
    assert body == {"id": "x"}
    [(method, path, sent, headers, seconds)] = server.seen
    assert (method, path, sent, seconds) == ("POST", "/p", b'{"n": 1}', 1.0)
    assert headers["Authorization"] == "Bearer da_decide_x"
    assert headers["Idempotency-Key"] == "k"


def test_a_failed_request_is_repeated_unchanged() -> None:
    server = Scripted(AWAY, answer(503, {}), answer(502), answer(200, 1))
    assert server.call("PUT", "/p", {"value": 1.0}, timeout=9.0, idempotency_key="k") == 1
    assert len(server.seen) == 4
    assert len({(x[0], x[1], x[2], x[3]["Idempotency-Key"]) for x in server.seen}) == 1
    assert server.waits == [0.05, 0.1, 0.2]


@pytest.mark.parametrize(("jitter", "first", "longest"), [(0.0, 0.025, 2.5), (1.0, 0.05, 5.0)])
def test_waits_double_to_five_seconds_and_jitter_halves_them_at_most(
    jitter: float, first: float, longest: float
) -> None:
    server = Scripted(AWAY, jitter=jitter)
    with pytest.raises(StoreUnavailable):
        server.call("GET", "/", timeout=60.0)
    assert server.waits[:3] == [first, 2 * first, 4 * first]
    assert max(server.waits) == longest


def test_it_ends_in_time_and_gives_each_try_the_time_that_is_left() -> None:
    server = Scripted(TimeoutError(), takes=0.3)
    with pytest.raises(StoreUnavailable, match="http://server did not answer within 1 s"):
        server.call("GET", "/", timeout=1.0)
    assert server.now <= 101.0
    assert [round(x[4], 2) for x in server.seen] == [1.0, 0.65, 0.25]


@pytest.mark.parametrize(
    ("failure", "message"),
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
def test_an_unreachable_server_is_told_from_a_slow_one(failure: Exception, message: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        Scripted(failure).call("GET", "/", timeout=0.2)
    assert str(caught.value) == f"the server at http://server {message}"


def test_retry_after_is_respected() -> None:
    server = Scripted(answer(429, {}, **{"retry-after": "3"}), answer(200, 1))
    assert server.call("GET", "/") == 1
    assert server.waits == [3.0]
    busy = Scripted(
        answer(429, {"code": "x", "detail": "too many requests"}, **{"retry-after": "30"})
    )
    with pytest.raises(StoreUnavailable, match="too many requests"):
        busy.call("GET", "/")
    assert busy.waits == []


@pytest.mark.parametrize(
    ("status", "kind"), [(404, NotFound), (409, Conflict), (422, InvalidInput), (401, InvalidInput)]
)
def test_a_refused_request_is_not_repeated(status: int, kind: type[Exception]) -> None:
    server = Scripted(answer(status, {"code": "x", "detail": "no"}))
    with pytest.raises(kind, match="no"):
        server.call("GET", "/")
    assert len(server.seen) == 1


@pytest.mark.parametrize("body", [b"<html>", b"[" * 100_000])
def test_a_response_that_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(StoreUnavailable, match="no JSON"):
        Scripted(Response(200, {}, body)).call("GET", "/")


def test_a_key_may_be_read_from_its_file() -> None:
    server = Scripted(answer(200), key="da_decide_x\n")
    server.call("GET", "/p")
    assert server.seen[0][3]["Authorization"] == "Bearer da_decide_x"


@pytest.mark.parametrize("key", ["with space", "new\nline", "ü", 7, "", "\n"])
def test_an_unusable_key_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(InvalidInput, match="key must be a key") as caught:
        Transport("http://server", key)
    assert not str(key).strip() or str(key) not in str(caught.value)


def test_results_and_errors_come_back_from_the_thread() -> None:
    client = Transport("http://server")
    assert client.run_within(60.0, lambda: 1) == 1
    with pytest.raises(ZeroDivisionError):
        client.run_within(60.0, lambda: 1 // 0)


def test_hanging_work_is_left_and_more_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "MAX_WAITING", 2)
    client, free = Transport("http://server"), threading.Event()
    for _ in range(2):
        with pytest.raises(TimeoutError, match=r"no answer within 0\.01 s"):
            client.run_within(0.01, free.wait)
    with pytest.raises(TimeoutError, match="2 requests before this one still wait"):
        client.run_within(60.0, lambda: 1)
    free.set()
    while True:  # until one of the threads has ended
        try:
            assert client.run_within(60.0, lambda: 1) == 1
            break
        except TimeoutError:
            pass


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "invalid_json", errors.InvalidInput),
        (401, "no_key", errors.InvalidInput),
        (403, "role", errors.InvalidInput),
        (404, "not_found", errors.NotFound),
        (409, "campaign_paused", errors.CampaignPaused),
        (409, "default_played", errors.DefaultPlayed),
        (422, "idempotency_key_reused", errors.KeyReused),
        (409, "reward_conflict", errors.OtherReward),
        (409, "conflict", errors.Conflict),
        (413, "too_large", errors.InvalidInput),
        (422, "invalid", errors.InvalidInput),
        (429, "rate", errors.StoreUnavailable),
        (500, "internal", errors.DriftanchorError),
        (503, "store_unavailable", errors.StoreUnavailable),
    ],
)
def test_each_problem_has_its_error(
    status: int, code: str, kind: type[errors.DriftanchorError]
) -> None:
    body = json.dumps({"status": status, "code": code, "detail": "what is wrong"}).encode()
    error = response_error(status, body)
    assert type(error) is kind
    assert "what is wrong" in str(error)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[1]", b'{"detail": 3}', b'{"detail": "no"}', b"[" * 100_000]
)
@pytest.mark.parametrize("status", [401, 404, 409, 500])
def test_an_error_from_another_server_counts_as_unavailable(body: bytes, status: int) -> None:
    error = response_error(status, body)
    assert type(error) is errors.StoreUnavailable
    assert f"the answer {status} is not from driftanchor" in str(error)


def test_a_missing_key_is_not_a_wrong_one() -> None:
    error = response_error(401, b'{"code": "key_missing", "detail": "send a key"}')
    assert type(error) is errors.InvalidInput
    assert str(error) == "the server needs a key: da.Client(url, key=\N{HORIZONTAL ELLIPSIS})"
    wrong = response_error(401, b'{"code": "key_refused", "detail": "this key is unknown"}')
    assert str(wrong) == "key is not accepted by the server: this key is unknown"


def test_a_refused_key_is_named() -> None:
    error = response_error(403, b'{"code": "role_missing", "detail": "it lacks the role decide"}')
    assert str(error) == "key is not accepted by the server: it lacks the role decide"


def test_a_client_that_was_not_closed_closes_its_connections(server: _Server) -> None:
    client = Transport(f"http://127.0.0.1:{server.server_port}/")
    send(client, b"{}")
    sockets = [connection.sock for connection in client._idle]
    assert [one.fileno() > 0 for one in sockets] == [True]
    del client
    assert [one.fileno() for one in sockets] == [-1]


@pytest.mark.parametrize("key", ["dE\u123f", "a\nb", "a\x00"])
def test_a_key_that_no_header_can_have_is_refused(server: _Server, key: str) -> None:
    client = Transport(f"http://127.0.0.1:{server.server_port}/")
    with pytest.raises(InvalidInput, match="printable ASCII") as refused:
        client.call("POST", "/", {}, idempotency_key=key)
    assert refused.value.argument == "key"
