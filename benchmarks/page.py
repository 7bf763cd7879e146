"""The views of the page against an empty page of the same framework.

All requests are made in this process, without a network, one after the other. There are 200
campaigns, and one more with 100 arms. A view is asked for again while nothing happens, as every
browser does every two seconds, and after a decision, when it must be computed again.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.clock import Cell, ratio, say
from benchmarks.tables import Blocks, table
from driftanchor import TS, Campaign, OfflineData
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve.app import create_app
from driftanchor.serve.app_state import AppState
from driftanchor.serve.page import views

CAMPAIGNS, ARMS = 200, 100
UNCHANGED, CHANGED = "nothing happened: time over an empty page", "after a decision"
HEADERS = [(b"host", b"127.0.0.1")]
Ask = Callable[[str], None]
VIEWS = {
    f"overview of {CAMPAIGNS + 1} campaigns": "/page/overview.json",
    f"campaign of {ARMS} arms": "/page/campaigns/large/view.json",
    f"its history of {ARMS} arms": "/page/campaigns/large/history.json",
}
FILES = {"the page itself": "/", "its largest file": "/page/static/page.css"}


def against_empty_page(rounds: int, quick: bool = False) -> Blocks:
    """How long the server takes for each view, over an empty page."""
    many = 20 if quick else 200
    with contextlib.ExitStack() as ends:
        folder = ends.enter_context(tempfile.TemporaryDirectory())
        ends.enter_context(mock.patch.object(views, "MIN_AGE", 0.0))
        store = open_store(f"sqlite:///{folder}/page.db")
        large = _created(store, 10 if quick else CAMPAIGNS)
        ask = ends.enter_context(_asking(AppState(store)))
        for path in VIEWS.values():
            for _ in range(60):  # until every belief was computed
                ask(path)
        say("page: all is known")
        cells = {name: _measured(ask, path, large, rounds, many) for name, path in VIEWS.items()}
        rows: dict[str, list[Cell | str | None]] = {name: [*x] for name, x in cells.items()}
        for name, path in FILES.items():
            rows[name] = [_against_empty(ask, path, rounds, many), None]
    return table("bench-page", "Views of the page", ["view", UNCHANGED, CHANGED], rows)


def _measured(
    ask: Ask, path: str, large: Campaign, rounds: int, many: int
) -> tuple[Cell, Cell | None]:
    """A view while nothing happens, and after a decision; both over an empty page."""
    unchanged = _against_empty(ask, path, rounds, many)
    empty, ours = [], []
    for _ in range(rounds):
        empty.append(_time(lambda: ask("/empty"), many))
        spent = 0.0
        for _ in range(5):
            large.ask()
            spent += _time(lambda: ask(path), 1)
        ours.append(spent / 5)
    return unchanged, ratio(ours, empty)


def _against_empty(ask: Ask, path: str, rounds: int, many: int) -> Cell:
    pairs = [
        (_time(lambda: ask(path), many), _time(lambda: ask("/empty"), many)) for _ in range(rounds)
    ]
    return ratio(*zip(*pairs, strict=True))


def _time(work: Callable[[], None], many: int) -> float:
    start = time.perf_counter()
    for _ in range(many):
        work()
    return (time.perf_counter() - start) / many


def _created(store: Store, campaigns: int) -> Campaign:
    """The campaigns; the large one is given back."""
    for i in range(campaigns):
        small = Campaign.create(f"c{i}", arms=["A", "B", "C"], policy=TS(), seed=i, store=store)
        small.tell_many([(x.id or "", 0.5) for x in small.ask(n=3)])
    labels = [f"arm {i}" for i in range(ARMS)]
    logs = OfflineData.from_summary({x: (500, 0.1 + i / 1_000) for i, x in enumerate(labels)})
    moment = time.time() - 86_400.0

    def clock() -> float:
        return moment

    large = Campaign.create(
        "large",
        offline=logs,
        relative_bound=0.02,
        reward="binary",
        seed=1,
        store=store,
        clock=clock,
    )
    for i in range(20):
        large.tell_many([(x.id or "", float(i % 5 == 0)) for x in large.ask(n=10)])
        moment += 900.0
    return large


@contextlib.contextmanager
def _asking(state: AppState) -> Iterator[Ask]:
    """A way to ask our app, and for `/empty` an app that does nothing."""

    async def page(_: Request) -> Response:
        return JSONResponse({})

    empty = Starlette(routes=[Route("/empty", page)])
    ours, loop = create_app(state), asyncio.new_event_loop()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] in (200, 304), message

    def ask(path: str) -> None:
        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path}
        scope |= {"raw_path": path.encode()}
        scope |= {"query_string": b"", "headers": HEADERS, "client": ("127.0.0.1", 1)}
        scope |= {"scheme": "http", "server": ("127.0.0.1", 80), "root_path": ""}
        scope |= {"http_version": "1.1", "asgi": {"version": "3.0"}}
        app: Any = empty if path == "/empty" else ours
        loop.run_until_complete(app(scope, receive, send))

    with mock.patch.object(state.log, "request"):
        yield ask
    if state.views is not None:
        state.views.close()
    loop.close()
    state.close()
