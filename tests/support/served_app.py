"""What tests of the server share: an app over a new store, asked in the same process."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from campaign_parts import Clock
from starlette.testclient import TestClient

from driftanchor import TS, Campaign
from driftanchor.live.stores.store import open_store
from driftanchor.serve.app import create_app
from driftanchor.serve.app_state import AppState
from driftanchor.serve.request_log import Log

LOCAL = "http://127.0.0.1:8484"
CAMPAIGN: dict[str, Any] = {
    "arms": ["A", "B", "C"],
    "policy": TS(),
    "reward_range": (0, 1),
    "seed": 1,
}


class App:
    """A server in this process.

    Attributes:
        served: What it serves.
        http: Asks it.
        clock: Its clock.
        log: What it logged.
    """

    def __init__(self, served: AppState, http: TestClient, clock: Clock, log: io.StringIO) -> None:
        self.state, self.http, self.clock, self.log = served, http, clock, log

    def create(self, name: str, **options: Any) -> Campaign:
        """A new campaign of three arms without logs."""
        store = self.state.store
        return Campaign.create(name, store=store, clock=self.clock, **{**CAMPAIGN, **options})

    def ask(self, name: str, **body: Any) -> dict[str, Any]:
        """A decision."""
        answer = self.http.post(f"/v1/campaigns/{name}/decisions", json=body)
        assert answer.status_code in (200, 201), answer.text
        found: dict[str, Any] = answer.json()
        return found


@contextlib.contextmanager
def running_app(address: str) -> Iterator[App]:
    """A server over the store at an address."""
    clock, log = Clock(), io.StringIO()
    served = AppState(open_store(address), clock=clock, log=Log(log))
    with TestClient(create_app(served), LOCAL, raise_server_exceptions=False) as http:
        yield App(served, http, clock, log)
