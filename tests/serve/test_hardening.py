"""Malformed and unauthorised requests, sent over sockets to `driftanchor serve`."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from campaign_parts import Clock, create
from http_server import http_server
from route_rules import OPEN, ROLE_OF, SHARED
from server_process import ServerProcess, server_process

from driftanchor import TS, Campaign, Client, OfflineData
from driftanchor.live.campaigns.batch import MIN_BETWEEN_SNAPSHOTS
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.rows import KEY_SECONDS
from driftanchor.live.stores.statements import COLUMNS
from driftanchor.live.stores.store import open_store
from driftanchor.serve.app_state import ServeSettings
from driftanchor.serve.ofrep import MAX_FLAGS
from driftanchor.serve.upkeep import Upkeep

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
        answer = json.loads(body) if b"json" in head else body
        return (int(head.split(b" ")[1]), answer) if head else (0, None)

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
    yield from started(tmp_path_factory.mktemp("keyed"), ["decide", "read", "reward", "admin"])


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


def test_headers_fill_no_memory(keyed: Target) -> None:
    """Headers that do not end are refused before the key is checked."""
    get = f"GET /v1/campaigns HTTP/1.1\r\n{keyed.host}Connection: close\r\n"
    before = keyed.peak_memory()
    for size, status in ((600, 401), (100_000, 400)):
        lines = [f"h{i}: {'x' * size}\r\n" for i in range(30)]
        assert keyed.send(get, *lines, "\r\n")[0] == status
    assert keyed.peak_memory() - before < 8 * 1024 * 1024


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
        "X_Forwarded_For: 192.0.2.7",
        "CDN-Loop: cdn.example",
        "Fly-Client-IP: 192.0.2.7",
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


# What a key may see


def with_key(target: Target, role: str) -> dict[str, str]:
    return {"X-API-Key": target.keys[role]}


@pytest.mark.parametrize("role", ["decide", "reward", "read", "admin"])
def test_a_404_names_no_other_campaign(keyed: Target, role: str) -> None:
    headers = with_key(keyed, role)
    for method, path, body in (
        ("POST", "/v1/campaigns/nope/decisions", {}),
        ("POST", "/v1/campaigns/nope/defaults", {"defaults": []}),
        ("GET", "/v1/campaigns/nope", None),
        ("GET", "/v1/campaigns/nope/events", None),
        ("GET", "/page/campaigns/nope/view.json", None),
        ("PATCH", "/v1/campaigns/nope", {"paused": True}),
        ("PUT", "/v1/decisions/nope/reward", {"value": 1}),
        ("POST", "/ofrep/v1/evaluate/flags/nope", {"context": {"targetingKey": "u"}}),
        ("GET", "/nope", None),
    ):
        status, answer = keyed.server.ask(method, path, body, headers)
        assert status in (403, 404), path
        assert "secret-launch" not in str(answer), path


@pytest.fixture(scope="module")
def link(keyed: Target) -> dict[str, str]:
    """The headers of whoever opens a share link of the campaign `c`."""
    body = {"campaign": "c", "hours": 1}
    status, made = keyed.server.ask("POST", "/page/share", body, with_key(keyed, "admin"))
    assert status == 201
    time.sleep(1.1)  # a worker knows a new key after at most a second
    return {"X-API-Key": made["key"]}


def test_a_share_link_reads_one_campaign(keyed: Target, link: dict[str, str]) -> None:
    ask = keyed.server.ask
    _, made = ask("POST", "/v1/campaigns/c/decisions", {"unit": "jane"}, with_key(keyed, "decide"))
    for path in (
        "/v1/campaigns/c",
        "/v1/campaigns/c/history",
        "/page/campaigns/c/view.json",
        "/page/campaigns/c/history.json",
        "/page/campaigns/c/errors.json",
    ):
        status, found = ask("GET", path, None, link)
        assert status == 200, path
        for hidden in ("jane", made["id"], "secret-launch"):
            assert hidden not in json.dumps(found), (path, hidden)
        assert ask("GET", path.replace("campaigns/c", "campaigns/nope"), None, link)[0] == 403
        other = path.replace("campaigns/c", "campaigns/secret-launch")
        assert ask("GET", other, None, link)[0] == 403
    _, whole = ask("GET", "/page/campaigns/c/view.json", None, with_key(keyed, "read"))
    assert "jane" in json.dumps(whole)  # so the test would see it


def test_a_share_link_reads_nothing_else(keyed: Target, link: dict[str, str]) -> None:
    """All other routes that need a key refuse it, whatever is added to them later."""
    _, made = keyed.server.ask("POST", "/v1/campaigns/c/decisions", {}, with_key(keyed, "decide"))
    for method, path in ROLE_OF:
        if method == "GET" and path in SHARED:
            continue
        place = path.replace("{name}", "c").replace("{key}", "c")
        place = place.replace("{decision_id}", made["id"])
        status, problem = keyed.server.ask(method, f"{place}?q=a", None, link)
        assert status == 403, (method, path, problem)
        if method == "GET":
            assert got(keyed.server.url, "HEAD", place, link) == 403, path


def test_a_share_link_of_an_unknown_campaign_is_refused(keyed: Target) -> None:
    body = {"campaign": "nope", "hours": 1}
    assert keyed.server.ask("POST", "/page/share", body, with_key(keyed, "admin"))[0] == 404


# Reading writes nothing, and changes are compared with what was read


def contents(address: str) -> dict[str, list[Any]]:
    """All rows of all tables of a store."""
    store = open_store(address)
    try:
        with store.session() as session:
            return {
                name: sorted(map(repr, session.rows(f"SELECT * FROM {name}"))) for name in COLUMNS
            }
    finally:
        store.close()


def got(url: str, method: str, path: str, headers: Mapping[str, str] = {}) -> int:
    """The status of a request without a body."""
    place = urlsplit(url)
    with contextlib.closing(HTTPConnection(str(place.hostname), place.port, timeout=TIME)) as http:
        http.request(method, path, headers=dict(headers))
        answer = http.getresponse()
        answer.read()
        return answer.status


def test_get_and_head_write_nothing(store_url: str) -> None:
    """Windows are over and rewards contradict the promise, but only upkeep records that."""
    clock = Clock(1_000.0)
    settings = ServeSettings(upkeep=3_600.0)
    with http_server(store_url, clock, settings) as server:
        logs = OfflineData.from_summary({"A": (5_000, 0.1, 0.09), "B": (5_000, 0.1, 0.09)})
        campaign = Campaign.create(
            "c", offline=logs, bias_bound=0.01, reward_window=60.0, default_reward=0.0,
            reward_range=(0, 1), seed=1, store=server.state.store, clock=clock,
        )  # fmt: skip
        for i in range(150):
            decision = campaign.ask(f"u{i}")
            if i < 100:
                campaign.tell(str(decision.id), 1.0)
        clock.now += 1_000.0
        before = contents(store_url)
        paths = sorted({path for method, path in {*ROLE_OF, *OPEN} if method == "GET"})
        for path in paths:
            place = path.replace("{decision_id}", str(decision.id))
            place = place.replace("{name}", "main.js" if "static" in path else "c")
            for method in ("GET", "HEAD", "GET"):
                assert got(server.url, method, f"{place}?q=u1") == 200, place
        assert contents(store_url) == before
        Upkeep(server.state).once()
        assert contents(store_url) != before
        status = campaign.status()
        assert (status.pending, len(status.alarms) > 0) == (0, True)


def test_upkeep_runs_by_itself(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    clock = Clock(1_000.0)
    with http_server(address, clock, ServeSettings(upkeep=0.01)) as server:
        campaign = Campaign.create(
            "c", arms=["A", "B"], reward_window=60.0, default_reward=0.0, reward_range=(0, 1),
            store=server.state.store, clock=clock,
        )  # fmt: skip
        campaign.ask("u")
        assert campaign.counts()["pending"] == 1
        clock.now += 61.0
        until = time.monotonic() + TIME
        while campaign.counts()["pending"] and time.monotonic() < until:
            time.sleep(0.01)
        assert (campaign.counts()["pending"], campaign.counts()["rewards"]) == (0, 1)


def test_an_etag_belongs_to_the_state_that_was_read(keyed: Target) -> None:
    """While another client pauses and resumes the campaign, each state keeps its own ETag."""
    headers = {**keyed.server.headers, **with_key(keyed, "admin")}
    path = "/v1/campaigns/secret-launch"
    stop = threading.Event()

    def toggle() -> None:
        with contextlib.closing(keyed.server.connect()) as http:
            for i in range(2_000):
                if stop.is_set():
                    return
                http.request("PATCH", path, json.dumps({"paused": i % 2 == 0}), headers)
                http.getresponse().read()

    thread = threading.Thread(target=toggle)
    thread.start()
    seen = set()
    try:
        with contextlib.closing(keyed.server.connect()) as http:
            for _ in range(150):
                http.request("GET", path, headers=headers)
                answer = http.getresponse()
                seen.add((answer.getheader("etag"), json.loads(answer.read())["paused"]))
    finally:
        stop.set()
        thread.join()
    assert len(seen) == len({tag for tag, _ in seen}) == len({paused for _, paused in seen}) == 2


def test_if_match_lets_one_of_many_changes_through(keyed: Target) -> None:
    """Twenty clients read the same state and change it: one succeeds, the others get 412."""
    headers = {**keyed.server.headers, **with_key(keyed, "admin")}
    path = "/v1/campaigns/c"
    with contextlib.closing(keyed.server.connect()) as http:
        http.request("GET", path, headers=headers)
        answer = http.getresponse()
        answer.read()
    seen = {"If-Match": str(answer.getheader("etag")), **headers}

    def change(_: int) -> int:
        return keyed.server.ask("PATCH", path, {"new_epoch": True}, seen)[0]

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(change, range(20))) == [200, *[412] * 19]


# OFREP


def test_bulk_evaluation_writes_one_decision_per_campaign_and_has_a_limit(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    store = open_store(address)
    for i in range(MAX_FLAGS):
        create(store, f"c{i}")
    body = {"context": {"targetingKey": "u"}}
    with http_server(address) as server:
        place = urlsplit(server.url)

        def evaluated() -> tuple[int, Any]:
            with contextlib.closing(HTTPConnection("127.0.0.1", place.port, timeout=TIME)) as http:
                headers = {"Content-Type": "application/json"}
                http.request("POST", "/ofrep/v1/evaluate/flags", json.dumps(body), headers)
                answer = http.getresponse()
                return answer.status, json.loads(answer.read())

        for _ in range(2):  # a unit gets the same decisions again
            status, found = evaluated()
            assert (status, len(found["flags"])) == (200, MAX_FLAGS)
            assert [each.decisions for each in store.counters().values()] == [1] * MAX_FLAGS
        create(store, "one-more")
        status, found = evaluated()
        assert (status, found["errorCode"]) == (400, "GENERAL")
        assert "one by one" in found["errorDetails"]
        assert store.counters()["one-more"].decisions == 0
    store.close()


# Keys of requests


def decided(target: Target, body: object, key: str) -> tuple[int, Any]:
    headers = {"X-API-Key": target.keys["decide"], "Idempotency-Key": key}
    return target.server.ask("POST", "/v1/campaigns/c/decisions", body, headers)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({"unit": "ann"}, {"unit": "bob"}),
        ({"unit": "ann"}, {}),
        ({}, {"unit": "ann"}),
        ({}, {"exclude": ["A"]}),
        ({"n": 2}, {"n": 3}),
        ({"n": 2}, {"n": 2, "exclude": ["A"]}),
        ({}, {"peek": True}),
    ],
)
def test_an_idempotency_key_belongs_to_one_request(
    keyed: Target, first: dict[str, Any], other: dict[str, Any]
) -> None:
    key = f"{first}{other}"
    status, made = decided(keyed, first, key)
    assert status == 201 or made["replayed"]
    assert decided(keyed, first, key)[0] == 200
    status, problem = decided(keyed, other, key)
    assert (status, problem["code"]) == (422, "idempotency_key_reused")
    assert decided(keyed, first, key)[0] == 200


def test_an_idempotency_key_expires_after_a_day(store_url: str) -> None:
    clock = Clock(1_000.0)
    store = open_store(store_url)
    campaign = create(store, clock=clock)
    first = campaign.ask(key="k")
    clock.now += KEY_SECONDS - 1.0
    assert campaign.ask(key="k").id == first.id
    clock.now += 1.0
    second = campaign.ask("u", key="k")  # free for another request
    assert (second.replayed, second.number) == (False, 2)
    assert campaign.ask("u", key="k").id == second.id
    campaign.verify()
    for i in range(200):
        campaign.ask(key=f"k{i}")
    campaign.verify()
    clock.now += KEY_SECONDS
    for _ in range(2 * MIN_BETWEEN_SNAPSHOTS):  # enough for a snapshot, which removes old keys
        campaign.ask()
    assert contents(store_url)["request_keys"] == []
    campaign.verify()
    store.close()


def test_a_key_without_a_digest_is_accepted_until_it_expires(store_url: str) -> None:
    """Older versions wrote keys without one."""
    clock = Clock(1_000.0)
    store = open_store(store_url)
    campaign = create(store, clock=clock)
    first = campaign.ask(key="k")
    store.write(lambda session: session.run("UPDATE request_keys SET digest = NULL"))
    assert campaign.ask("another", key="k").id == first.id
    clock.now += KEY_SECONDS
    assert campaign.ask("another", key="k").id != first.id
    store.close()


def test_a_client_sends_a_key_only_without_a_unit() -> None:
    """A server of the test's own answers, and keeps the headers."""
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.headers["Idempotency-Key"])
            size = int(self.headers["Content-Length"])
            unit = json.loads(self.rfile.read(size)).get("unit")
            made = {
                "id": "d1", "arm": "A", "propensity": 0.5, "replayed": False, "campaign": "c",
                "number": 1, "unit": unit, "epoch": 0, "due": None, "note": "",
            }  # fmt: skip
            body = json.dumps(made).encode()
            self.send_response(201)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with Client(f"http://127.0.0.1:{server.server_port}", campaign="c") as client:
                client.ask("u")
                client.ask("u", default="A")
                client.ask("u", key="mine")
                client.ask()
                client.ask()
        finally:
            server.shutdown()
            thread.join()
    assert seen[:3] == [None, None, "mine"]
    assert len({None, *seen[3:]}) == 3
