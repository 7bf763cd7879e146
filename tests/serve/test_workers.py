"""Two workers of one server: the tests share it, and the last one ends it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path

import pytest
from server_process import ServerProcess, server_process

from driftanchor import Campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import open_store

LOGS = "variant,converted,at\n" + "".join(
    f"{'AB'[i % 2]},{int(i % 3 == 0)},2026-01-{1 + i // 4:02d}\n" for i in range(100)
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("served")
    (folder / "last test.csv").write_text(LOGS)
    options = ["--arm", "variant", "--reward", "converted", "--time", "at", "--by", "week"]
    words = ["--log", str(folder / "last test.csv"), *options, "--relative-bound", "auto"]
    store = ["--store", f"sqlite:///{folder / 'store.db'}", "--port", "0", "--workers", "2"]
    with server_process(*words, *store, log=folder / "log") as running:
        yield running


def wait_until(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def workers(server: ServerProcess) -> list[int]:
    """The processes that answer."""
    found = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_text() for pid in found.split()}
    return [pid for pid, line in lines.items() if "spawn_main" in line]


def test_a_log_file_becomes_a_served_campaign(server: ServerProcess) -> None:
    assert server.said["campaigns"] == ["last-test"]
    assert server.url.startswith("http://127.0.0.1:")
    status, made = server.ask("POST", "/v1/campaigns/last-test/decisions", {"unit": "u"})
    assert (status, made["number"]) == (201, 1)
    status, receipt = server.ask("PUT", f"/v1/decisions/{made['id']}/reward", {"value": 1})
    assert (status, receipt["status"]) == (201, "recorded")


def test_the_workers_count_together(server: ServerProcess) -> None:
    for _ in range(20):
        assert server.ask("GET", "/livez")[0] == 200
    text = server.ask("GET", "/metrics")[1]
    route = 'driftanchor_http_requests_total{method="GET",route="/livez",status="200"}'
    counted = [line for line in text.splitlines() if line.startswith(route)]
    assert [float(line.split()[-1]) for line in counted] == [20.0]


def test_a_worker_that_dies_is_replaced(server: ServerProcess) -> None:
    before = workers(server)
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: len(workers(server)) == 2 and workers(server) != before)
    assert server.ask("GET", "/readyz")[0] == 200
    wait_until(lambda: "worker died" in server.log.read_text())  # a thread writes it


def test_a_key_ends_in_all_workers_and_is_nowhere_to_be_seen(server: ServerProcess) -> None:
    with contextlib.closing(open_store(f"sqlite:///{server.log.with_name('store.db')}")) as store:
        made = {role: make_key([role], now=time.time()) for role in ("admin", "read")}
        for _, row in made.values():
            store.add_key(row)
        key, row = made["read"]
        server.headers["X-API-Key"] = made["admin"][0]

        def answers() -> set[int]:
            """Those of both workers, most likely; each connection goes to one of them."""
            with_key = {"X-API-Key": key}
            return {server.ask("GET", "/v1/campaigns", headers=with_key)[0] for _ in range(10)}

        wait_until(lambda: answers() == {200})
        store.revoke_key(row.id, time.time())
        wait_until(lambda: answers() <= {401, 429})
    for pid in (server.process.pid, *workers(server)):
        for file in ("cmdline", "environ"):
            seen = Path(f"/proc/{pid}/{file}").read_bytes()
            assert not [key for key, _ in made.values() if key.encode() in seen]
    assert not [key for key, _ in made.values() if key[-40:] in server.log.read_text()]


def test_what_was_acknowledged_before_the_end_is_there(server: ServerProcess) -> None:
    acknowledged: list[str] = []
    pids = workers(server)

    def ask_on() -> None:
        connection, path = server.connect(), "/v1/campaigns/last-test/decisions"
        try:
            while True:
                connection.request("POST", path, "{}", server.headers)
                answer = connection.getresponse()
                body = json.loads(answer.read())
                assert answer.status == 201, body
                acknowledged.append(body["id"])
        except (OSError, HTTPException):
            connection.close()

    threads = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(acknowledged) > 20)
    assert server.end() == 0
    for thread in threads:
        thread.join()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    with pytest.raises(OSError, match="refused"):
        server.ask("GET", "/livez")
    with Campaign.load(
        "last-test", store=f"sqlite:///{server.log.with_name('store.db')}"
    ) as campaign:
        kept = {event["decision"] for event in campaign.events(0, 10_000)}
        assert all(campaign.decision(x).number in kept for x in acknowledged)
        assert campaign.verify().decisions >= len(acknowledged)
