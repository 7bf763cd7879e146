"""Asks and rewards over HTTP against an empty endpoint of the same framework.

Both servers are processes of their own with the same HTTP parser, and the same clients ask both in
turn. The empty endpoint reads nothing, decides nothing and keeps nothing.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.campaigns import new_schema
from benchmarks.clock import Cell, ratio, say, spread
from benchmarks.http_load import Load, load, request
from benchmarks.tables import Blocks, table
from benchmarks.torture.postgres import running
from driftanchor import Campaign, OfflineData
from driftanchor.render import numbers

ARMS = 10
CLIENTS = {1: 300, 8: 2_000, 64: 6_000}  # and how many requests they send together
MOST = max(CLIENTS)
RATE, WORK = "rate over an empty endpoint's", "processor time of an empty endpoint over ours"
MEDIAN, SLOW = "p50", "p99"
EMPTY = "empty endpoint"
IDLE = 0.05  # seconds of the processor in a second
SLOWEST = 120  # seconds in which all must be compiled
KINDS = ("ask", "tell")
STORES = ("SQLite", "PostgreSQL")
EMPTY_APP = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def empty(request):
    return JSONResponse({})

app = Starlette(routes=[Route("/empty", empty, methods=["POST"])])
listening = socket.create_server(("127.0.0.1", 0))
print("http://127.0.0.1:%d" % listening.getsockname()[1], flush=True)
config = uvicorn.Config(app, http="h11", log_level="error", access_log=False)
uvicorn.Server(config).run([listening])
"""
_units = itertools.count()


class Server(NamedTuple):
    """A server that is measured."""

    port: int
    process: int

    def cpu(self) -> float:
        """The processor time it took so far, in seconds."""
        parts = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / 100

    def rest(self) -> None:
        """Wait until it has nothing to do: it compiles beside its work."""
        before = self.cpu()
        for _ in range(SLOWEST):
            time.sleep(1)
            now = self.cpu()
            if now - before < IDLE:
                return
            before = now


class Cost(NamedTuple):
    """What some requests cost."""

    load: Load
    cpu: float  # seconds of the server, for one request


def label(store: str, kind: str, clients: int) -> str:
    """The row of a kind of request."""
    what = EMPTY if kind == EMPTY else f"{store}: `{kind}`"
    return f"{what}, {numbers.count(clients, 'client')}"


def against_empty(rounds: int, quick: bool = False) -> Blocks:
    """How fast asks and rewards are over HTTP, as a part of what the framework allows."""
    rows: dict[str, list[Cell | str | None]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        running(fsync=True) as postgres,
        _started(sys.executable, "-c", EMPTY_APP) as empty,
    ):
        addresses = {
            "SQLite": f"sqlite:///{folder}/serving.db",
            "PostgreSQL": new_schema(postgres.folder),
        }
        for store, address in addresses.items():
            _create(address)
            words = ["-m", "driftanchor", "serve", "--store", address, "--port", "0"]
            with _started(sys.executable, *words) as ours:
                _warm_up(ours, empty)
                for clients, count in CLIENTS.items():
                    many = count // 10 if quick else count
                    costs = [_round(empty, ours, clients, many) for _ in range(rounds)]
                    rows |= _rows(store, clients, costs)
                    say(f"serving on {store}, {numbers.count(clients, 'client')}")
    columns = ["work", RATE, WORK, MEDIAN, SLOW, "requests a second"]
    return table("bench-serving", "Asks and rewards over HTTP", columns, rows)


def _create(address: str) -> None:
    """A campaign of the default policy, with logs of ten arms."""
    logs = {f"arm {i}": (200, 0.3 + i / 50, 0.25) for i in range(ARMS)}
    offline = OfflineData.from_summary(logs)
    with Campaign.create(
        "c", offline=offline, bias_bound=0.1, reward_range=(0, 1), seed=1, store=address
    ):
        pass


def _warm_up(ours: Server, empty: Server) -> None:
    """Ask until all that is compiled is compiled."""
    for _ in range(3):
        _load(ours, MOST, _asks(500))
        ours.rest()
    _load(empty, MOST, _empties(500))


def _round(empty: Server, ours: Server, clients: int, count: int) -> dict[str, Cost]:
    """One round of each kind of request."""
    costs = {EMPTY: _load(empty, clients, _empties(count))}
    costs["ask"] = _load(ours, clients, _asks(count))
    ids = [json.loads(body)["id"] for body in costs["ask"].load.bodies]
    rewards = [request("PUT", f"/v1/decisions/{one}/reward", {"value": 1}) for one in ids]
    costs["tell"] = _load(ours, clients, rewards)
    return costs


def _load(server: Server, clients: int, requests: list[bytes]) -> Cost:
    before = server.cpu()
    found = load(server.port, clients, requests)
    return Cost(found, (server.cpu() - before) / len(requests))


def _empties(count: int) -> list[bytes]:
    return [request("POST", "/empty", {"unit": f"unit {next(_units)}"}) for _ in range(count)]


def _asks(count: int) -> list[bytes]:
    path = "/v1/campaigns/c/decisions"
    return [request("POST", path, {"unit": f"unit {next(_units)}"}) for _ in range(count)]


def _rows(
    store: str, clients: int, costs: list[dict[str, Cost]]
) -> dict[str, list[Cell | str | None]]:
    """The rows of so many clients."""
    rows: dict[str, list[Cell | str | None]] = {}
    kinds = KINDS if store != STORES[0] else (EMPTY, *KINDS)
    for kind in kinds:
        mine = [cost[kind] for cost in costs]
        nothing = [cost[EMPTY] for cost in costs]
        against: list[Cell | None] = [None, None]
        if kind != EMPTY:
            against = [
                ratio([x.load.rate for x in mine], [x.load.rate for x in nothing]),
                ratio([x.cpu for x in nothing], [x.cpu for x in mine]),
            ]
        times = [spread((1e3 * x.load.quantile(part) for x in mine), "ms") for part in (0.5, 0.99)]
        rows[label(store, kind, clients)] = [*against, *times, spread(x.load.rate for x in mine)]
    return rows


@contextlib.contextmanager
def _started(*command: str) -> Iterator[Server]:
    """A server that prints its address, and ends with the block."""
    process: subprocess.Popen[str] = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        port = urlsplit(process.stdout.readline().strip()).port
        assert port is not None
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.communicate()
