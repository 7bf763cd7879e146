"""Requests with wrong bytes, sent to a server that listens.

Right requests of many routes get some bytes changed, left out, doubled or cut off. The server must
answer each with a status below 500, or close the connection; errors must be problems. In the end it
must still answer, its log may hold no key, and the events of the campaign must give its sums.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from random import Random
from typing import Any

from benchmarks.torture.children import Outcome
from driftanchor import TS, Campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import MEDIA
from driftanchor.serve.request_log import Log
from driftanchor.serve.server import Server, config_for, listen

WAIT = 60.0  # seconds until an answer is missing
NO_HTTP = b"Invalid HTTP request received."  # says uvicorn before the app is called
LONG = 10.0  # the same for right requests
SHORT = 0.3  # seconds after which we say that nothing more comes
HEADERS = "Host: 127.0.0.1\r\nConnection: close\r\nX-API-Key: {key}\r\n"
ROUTES = [  # method, path, and body if there is one
    ("GET", "/v1/campaigns", None),
    ("GET", "/v1/campaigns/c/events?after=1", None),
    ("GET", "/page/campaigns/c/find.json?q=u", None),
    ("GET", "/metrics", None),
    ("POST", "/v1/campaigns/c/decisions", {"unit": "u", "exclude": ["A"]}),
    ("POST", "/v1/campaigns/c/decisions", {"n": 2}),
    ("PUT", "/v1/decisions/{decision}/reward", {"value": 0.5}),
    ("POST", "/v1/decisions/{decision}/exposure", None),
    ("POST", "/v1/rewards", {"rewards": [{"decision_id": "{decision}", "value": 0.5}]}),
    ("PATCH", "/v1/campaigns/c", {"arms": {"C": "paused"}}),
    ("POST", "/ofrep/v1/evaluate/flags/c", {"context": {"targetingKey": "u"}}),
]
DIGITS = re.compile("[0-9a-f]{8,}")  # of a key or an id, which no page should show
TRICKS = [b"\0", b"\r\n", b"\r\n\r\n", b"%00", b"%2f", b"\xff", b"[" * 40, b"9" * 400, b"NaN", b'"']


@contextlib.contextmanager
def listening_server(store: Store, log: io.StringIO) -> Iterator[Server]:
    """A server that listens on a free port of loopback, in a thread."""
    state = AppState(store, log=Log(log))
    ready = threading.Event()
    server = Server(config_for(state), state, ready.set)
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        assert ready.wait(WAIT)
        yield server
    finally:
        server.should_exit = True
        thread.join(WAIT)
        listening.close()


def run(cases: int, seed: int = 0) -> Outcome:
    """Play cases; all of them go to one server."""
    rng, log, failures, slowest = Random(seed), io.StringIO(), list[str](), (0.0, "")
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/store.db"
        store = open_store(address)
        key, row = make_key(["admin"], now=time.time())
        store.add_key(row)
        campaign = Campaign.create(
            "c", store=store, arms=["A", "B", "C"], policy=TS(), reward_range=(0, 1), seed=1
        )
        decision = str(campaign.ask().id)
        with listening_server(store, log) as server:
            place = server.servers[0].sockets[0].getsockname()
            right = [_request(*route, key=key, decision=decision) for route in ROUTES]
            for parts in right:
                answer = _answer(place, _whole(parts), LONG)
                failures += [] if b" 20" in answer[:12] else [f"a right request: {answer!r}"]
            for number in range(cases):
                request = _changed(rng, rng.choice(right))
                start = time.process_time()
                wrong = _wrong(_answer(place, request))
                shown = DIGITS.sub("…", repr(request))
                slowest = max(slowest, (time.process_time() - start, shown))
                if wrong:
                    failures.append(f"case {number} of seed {seed}: {shown}: {wrong}")
            answer = _answer(place, _whole(_request("GET", "/livez", None, key=key, decision="")))
            failures += [] if b" 200 " in answer[:20] else ["the server does not answer any more"]
        with Campaign.load("c", store=address) as kept:
            kept.verify()
    failures += ["a key is in the log"] if key[-40:] in log.getvalue() else []
    return Outcome(cases, slowest, tuple(failures))


Parts = tuple[bytes, bytes, bytes]  # the first line, the headers and the body


def _request(method: str, path: str, body: Any, *, key: str, decision: str) -> Parts:
    """The parts of a request that is right."""
    text = "" if body is None else json.dumps(body)
    kind = "Content-Type: application/json\r\n" if text else ""
    parts = (f"{method} {path} HTTP/1.1\r\n", HEADERS + kind, text)
    line, headers, body = (
        part.replace("{key}", key).replace("{decision}", decision).encode() for part in parts
    )
    return line, headers, body


def _whole(parts: Parts, length: int | None = None) -> bytes:
    """A request from its parts; it says the length of its body, or another."""
    line, headers, body = parts
    said = len(body) if length is None else length
    return line + headers + (b"Content-Length: %d\r\n" % said if said else b"") + b"\r\n" + body


def _changed(rng: Random, request: Parts) -> bytes:
    """The request with one to four changes, most of them in the first line or in the body."""
    parts = [bytearray(part) for part in request]
    length = len(parts[2]) if rng.random() < 0.1 else None  # then it is no longer right
    for _ in range(rng.randint(1, 4)):
        changed = parts[rng.choice([0, 1, 2, 2]) if parts[2] else rng.choice([0, 0, 1])]
        place = rng.randrange(len(changed) + 1)
        end = min(len(changed), place + rng.randint(1, 8))
        part = bytes(changed[place:end])
        changed[place:end] = rng.choice(
            [b"", part + part, bytes([rng.randrange(256)]) + part[1:], rng.choice(TRICKS) + part]
        )
    line, headers, body = (bytes(part) for part in parts)
    whole = _whole((line, headers, body), length)
    return whole[: rng.randrange(len(whole))] if rng.random() < 0.05 else whole


def _answer(place: Any, request: bytes, patience: float = SHORT) -> bytes:
    """What the server says until it closes the connection; what never ends, we end."""
    said = b""
    with (
        contextlib.closing(socket.create_connection(place, WAIT)) as client,
        contextlib.suppress(ConnectionError),
    ):
        client.sendall(request)
        client.settimeout(patience)
        while True:
            try:
                part = client.recv(65_536)
            except TimeoutError:
                if client.gettimeout() == WAIT:
                    raise
                client.settimeout(WAIT)
                client.shutdown(socket.SHUT_WR)
                continue
            if not part:
                break
            said += part
    return said


def _wrong(answer: bytes) -> str:
    """What is wrong with an answer; empty if nothing is."""
    if not answer:
        return ""  # the connection was closed, as for a request that never ends
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split(b" ")[1]) if head.startswith(b"HTTP/1.1 ") else 0
    if not 100 <= status < 500:
        return f"answers {answer[:200]!r}"
    if status == 400 and NO_HTTP in body:
        return ""
    if status >= 400 and MEDIA.encode() not in head and b"errorCode" not in body:
        return f"answers {status} without a problem: {answer[:300]!r}"
    return ""
