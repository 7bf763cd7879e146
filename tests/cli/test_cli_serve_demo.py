from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from campaign_commands import refused, run

from driftanchor.serve import server as running

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_a_demo_has_campaigns_of_its_own_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []

    def serve(
        found: Any,
        listening: socket,
        ready: Callable[[], object],
        stopping: Callable[[], object],
    ) -> None:
        served.append(found)
        listening.close()
        ready()
        stopping()

    monkeypatch.setattr(running, "serve", serve)
    monkeypatch.setattr("driftanchor.serve.demo.Demo.begin", lambda demo: None)
    said = json.loads(run("serve", "--demo", "--port", "0", "--json").stdout)
    assert said["demo"] is True
    assert all(name.startswith("demo-") for name in said["campaigns"])
    assert served[0].demo
    assert not Path("driftanchor.db").exists()


def test_a_demo_takes_neither_logs_nor_a_store_nor_workers() -> None:
    for words in (("--log", "a.csv"), ("--store", "sqlite:///other.db"), ("--workers", "2")):
        refused(2, "--demo", "serve", "--demo", "--port", "0", *words)
