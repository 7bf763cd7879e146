"""Kill a server under load, and count what was lost or doubled.

Clients ask and tell over HTTP. They send a request again until it is answered, with the same key,
send some of what was answered again, and tell rewards in any order. While they work the server is
killed with SIGKILL and started again. At the end all that was acknowledged is compared with the
store.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from typing import Any

from benchmarks.torture import page
from benchmarks.torture.campaign_kills import Outcome, compare, create
from benchmarks.torture.campaign_writer import NAME, REPEATED, UNITS, reward_of
from benchmarks.torture.postgres import Postgres, running
from driftanchor.serve.app_state import ServeSettings
from driftanchor.serve.server import listen, serve_store

CLIENTS = 8
KILLS = 100
SLOWEST = 120.0  # seconds in which something must be acknowledged
PRELOADED = ["benchmarks.torture.serve_kills", "driftanchor.serve.app"]
JSON = {"Content-Type": "application/json"}
Note = dict[str, object]


class Killed:
    """A server that is killed and started again on the same port.

    Args:
        address: The store.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)
        with contextlib.closing(listen("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._process = self._started()

    def _started(self) -> ForkServerProcess:
        process = self._context.Process(target=_serve, args=(self._address, self.port))
        process.start()
        return process

    def kill(self) -> None:
        """Kill it, and start it again."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._process = self._started()

    def end(self) -> int | None:
        """Let it end in good order; its exit code."""
        self._process.terminate()
        self._process.join()
        return self._process.exitcode


def _serve(address: str, port: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # nobody reads its log
    listening = None
    while listening is None:
        with contextlib.suppress(Exception):  # what is left of the one before keeps the port
            listening = listen("127.0.0.1", port)
    serve_store(address, ServeSettings(), listening, lambda: None)


class Client(threading.Thread):
    """Asks and tells until it is stopped, and notes what was acknowledged.

    Args:
        port: The port of the server.
        number: The number of the client.
        seed: Of what is asked.

    Attributes:
        notes: What was acknowledged.
        keys: The keys that were sent.
    """

    def __init__(self, port: int, number: int, seed: int) -> None:
        super().__init__(daemon=True)
        self._port, self._number = port, number
        self._rng = random.Random(f"{seed} {number}")
        self._connection: http.client.HTTPConnection | None = None
        self._waiting: list[str] = []
        self.notes: list[Note] = []
        self.keys: set[str] = set()
        self.stopped = threading.Event()

    def run(self) -> None:
        """Ask and tell."""
        while not self.stopped.is_set():
            if not self._waiting or self._rng.random() < 0.4:
                self._ask()
            else:
                self._tell()
        self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _ask(self) -> None:
        headers, body = {}, {}
        if self._rng.random() < 0.5:
            key = f"{self._number}-{len(self.keys)}"
            self.keys.add(key)
            headers["Idempotency-Key"] = key
        else:
            body["unit"] = f"unit-{self._rng.randrange(UNITS)}"
        for _ in range(1 + (self._rng.random() < REPEATED)):
            made = self._sent("POST", f"/v1/campaigns/{NAME}/decisions", body, headers)
            if made is not None:
                self.notes.append({"ask": made["id"], "arm": made["arm"], "p": made["propensity"]})
                if made["id"] not in self._waiting:
                    self._waiting.append(made["id"])

    def _tell(self) -> None:
        one = self._waiting[self._rng.randrange(len(self._waiting))]
        reward = reward_of(one)
        receipt = self._sent("PUT", f"/v1/decisions/{one}/reward", {"value": reward}, {})
        if receipt is not None:
            self.notes.append({"tell": one, "reward": reward, "status": receipt["status"]})
            if self._rng.random() >= REPEATED:
                self._waiting.remove(one)

    def _sent(
        self, method: str, path: str, body: dict[str, Any], headers: dict[str, str]
    ) -> dict[str, Any] | None:
        """Send a request until it is answered; `None` if this is the end."""
        while not self.stopped.is_set():
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection("127.0.0.1", self._port)
                self._connection.request(method, path, json.dumps(body), JSON | headers)
                answered = self._connection.getresponse()
                found: dict[str, Any] = json.loads(answered.read())
                if answered.status in (200, 201):
                    return found
                if answered.status != 503:
                    raise RuntimeError(f"{method} {path}: {answered.status} {found}")
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                self._close()
            time.sleep(0.02)
        return None


@contextlib.contextmanager
def clients(port: int, seed: int, count: int = CLIENTS) -> Iterator[list[Client]]:
    """Clients that work while the block runs."""
    working = [Client(port, number, seed) for number in range(count)]
    for client in working:
        client.start()
    try:
        yield working
    finally:
        for client in working:
            client.stopped.set()
        for client in working:
            client.join(SLOWEST)


def torture(
    address: str, *, kills: int, between: int, postgres: Postgres | None = None, seed: int = 1
) -> Outcome:
    """Kill a server under load, or the PostgreSQL behind it, which it must outlive.

    Args:
        address: An empty store.
        kills: How many times.
        between: How many acknowledgements to wait for between two kills.
        postgres: What to kill in place of the server.
        seed: Of what is asked.
    """
    outcome = Outcome()
    create(address, seed)
    server = Killed(address)
    try:
        with clients(server.port, seed) as working:
            for _ in range(kills):
                _wait(working, between)
                killed = time.monotonic()
                if postgres is None:
                    server.kill()
                else:
                    postgres.kill()
                    postgres.start()
                outcome.kills += 1
                _wait(working, 1)
                outcome.slowest = max(outcome.slowest, time.monotonic() - killed)
            _wait(working, between)
    finally:
        code = server.end()
    if code != 0:
        outcome.lost.append(f"the server ended with {code}")
    compare(outcome, address, [note for client in working for note in client.notes])
    asked = sum(len(client.keys) for client in working)
    keyed = _keyed(address)
    if keyed > asked:
        outcome.doubled += keyed - asked
    return outcome


def _keyed(address: str) -> int:
    """How many decisions were made for no unit, which only keys ask for."""
    from driftanchor import Campaign

    with Campaign.load(NAME, store=address) as campaign:
        row = campaign._row
        with campaign.store.reading(row.id) as reader:
            return sum(decision.unit is None for decision in reader.all_decisions())


def _wait(working: list[Client], more: int) -> None:
    """Wait until more was acknowledged, to all together."""
    start, before = time.monotonic(), sum(len(client.notes) for client in working)
    while sum(len(client.notes) for client in working) < before + more:
        dead = [client for client in working if not client.is_alive()]
        if dead or time.monotonic() - start > SLOWEST + more:
            raise RuntimeError(f"{more} more were not acknowledged; {len(dead)} clients failed")
        time.sleep(0.02)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How often to kill."""
    parser.add_argument("--kills", type=int, default=KILLS, help="kills, for each store")
    parser.add_argument("--server-kills", type=int, default=20, help="kills of PostgreSQL itself")
    parser.add_argument("--between", type=int, default=220, help="acknowledgements between kills")


def run(asked: argparse.Namespace) -> int:
    """Kill servers on both stores; 1 if anything was lost or doubled."""
    outcomes: dict[str, Outcome] = {}
    kills, between = asked.kills, asked.between

    def killed(what: str, address: str, kills: int, postgres: Postgres | None = None) -> None:
        found = torture(address, kills=kills, between=between, postgres=postgres)
        outcomes[what] = found
        print(f"{what}: {found}", *found.lost, sep="\n", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        killed("a server on SQLite", f"sqlite:///{folder}/store.db", kills)
    with running(fsync=True) as server:
        killed("a server on PostgreSQL", server.address, kills)
    with running(fsync=True) as server:
        killed("PostgreSQL behind a server", server.address, asked.server_kills, server)
    if kills >= KILLS:
        page.write({"torture-serve": page.of_kills(outcomes)})
    return 1 if any(outcome.lost or outcome.doubled for outcome in outcomes.values()) else 0
