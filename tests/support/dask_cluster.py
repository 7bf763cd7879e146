"""Dask clusters of the tests' own."""

import contextlib
import importlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from forks import Forked, Forks

IMPORTS = (
    "distributed.cli.dask_scheduler",
    "distributed.cli.dask_worker",
    "driftanchor.compiled.parts",  # and with it Numba
    "driftanchor.simulation.cluster",
)
# Idle, Dask looks at itself a hundred times a second, for pages that nobody opens.
SETTINGS = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


class DaskCluster:
    """A Dask scheduler and its workers, each a process of its own, on loopback.

    Left alone, by a test run that was killed, they end by themselves.

    Args:
        forks: What starts them, with IMPORTS.
        folder: Where they run.
    """

    def __init__(self, forks: Forks, folder: Path) -> None:
        self.folder, self._forks = folder, forks
        self.processes: list[Forked] = []
        where = folder / "scheduler.json"
        options = ["--port", "0", "--scheduler-file", str(where), "--idle-timeout", "300"]
        self.scheduler = self._start("scheduler", *options)
        self.wait_until(lambda: where.exists() and where.read_text())
        self.address: str = json.loads(where.read_text())["address"]

    def add_worker(self, threads: int = 1, path: str = "") -> Forked:
        """One more worker, with a PYTHONPATH of its own; it joins while the test goes on."""
        options = ["--no-nanny", "--nthreads", str(threads), "--death-timeout", "30"]
        options += ["--local-directory", str(self.folder)]
        return self._start("worker", self.address, *options, path=path)

    @property
    def workers(self) -> list[Forked]:
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
            time.sleep(0.05)

    def close(self) -> None:
        """Kill what is left."""
        for process in reversed(self.processes):
            process.kill()
            process.wait(60)

    def _start(self, kind: str, *words: str, path: str = "") -> Forked:
        options = ["--host", "127.0.0.1", "--no-dashboard"]
        options += ["--dashboard-address", "127.0.0.1:0"]
        log = self.folder / f"{len(self.processes)}.log"
        process = self._forks.start(
            "dask", kind, *words, *options, folder=self.folder, log=log, path=path
        )
        self.processes.append(process)
        return process


class StartCluster(Protocol):
    """Start a scheduler and so many workers, the n-th of n threads."""

    def __call__(self, workers: int) -> DaskCluster: ...


@contextlib.contextmanager
def clusters(forks: Forks, new_folder: Callable[[], Path]) -> Iterator[StartCluster]:
    """A way to start clusters, which end with the block."""
    with contextlib.ExitStack() as ends:

        def start(workers: int) -> DaskCluster:
            cluster = DaskCluster(forks, new_folder())
            ends.callback(cluster.close)
            for n in range(workers):
                cluster.add_worker(n + 1)
            return cluster

        yield start
