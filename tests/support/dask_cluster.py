"""Dask clusters of the tests' own."""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class DaskCluster:
    """A Dask scheduler and its workers, each a process of its own, on loopback.

    Left alone, by a test run that was killed, they end by themselves.
    """

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        where = folder / "scheduler.json"
        options = ["--port", "0", "--scheduler-file", str(where), "--idle-timeout", "300"]
        self.scheduler = self._start("scheduler", *options, **env)
        self.wait_until(lambda: where.exists() and where.read_text())
        self.address: str = json.loads(where.read_text())["address"]

    def add_worker(self, threads: int = 1, **env: str) -> subprocess.Popen[bytes]:
        """One more worker; it joins while the test goes on."""
        options = ["--no-nanny", "--nthreads", str(threads), "--death-timeout", "30"]
        return self._start("worker", self.address, *options, **env)

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        """Those that are alive."""
        return [worker for worker in self.processes[1:] if worker.poll() is None]

    def have_workers(self, number: int, *, allowed_failures: int = 3) -> None:
        """Start or kill workers until there are as many, and let tasks survive as many deaths."""
        for worker in self.workers[number:]:
            worker.kill()
            worker.wait(60)
        for _ in range(number - len(self.workers)):
            self.add_worker()

        def allow(dask_scheduler: Any) -> None:
            dask_scheduler.allowed_failures = allowed_failures

        with self.client() as client:
            client.run_on_scheduler(allow)
            self.wait_until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == number)

    def client(self) -> Any:
        """A client of the test's own."""
        dask: Any = importlib.import_module("distributed")
        return dask.Client(self.address, set_as_default=False)

    def tasks(self, client: Any) -> int:
        """How many tasks the scheduler knows."""
        known: int = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        return known

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait, though not for ever, for what a process is about to do."""
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until, [log.read_text() for log in self.folder.glob("*.log")]
            time.sleep(0.02)

    def close(self) -> None:
        """Kill what is left."""
        for process in reversed(self.processes):
            process.kill()
            process.wait(60)

    def _start(self, *words: str, **env: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            options = ["--host", "127.0.0.1", "--no-dashboard"]
            options += ["--dashboard-address", "127.0.0.1:0"]
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, *options],
                cwd=self.folder,
                env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(self.folder), **env},
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process
