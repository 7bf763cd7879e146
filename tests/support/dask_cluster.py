"""Start Dask clusters for tests."""

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
    "numba",
    "driftanchor.simulation.cluster",
)
# Turn off most of Dask's self-monitoring, which keeps idle processes busy.
SETTINGS = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


class DaskCluster:
    """A Dask scheduler and its workers on loopback, each in its own process.

    They exit by themselves if the test run is killed.

    Args:
        forks: Starts the processes, with IMPORTS loaded.
        folder: Their working directory.
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
        """Start a worker with its own PYTHONPATH, without waiting until it joins."""
        options = ["--no-nanny", "--nthreads", str(threads), "--death-timeout", "30"]
        options += ["--local-directory", str(self.folder)]
        return self._start("worker", self.address, *options, path=path)

    @property
    def workers(self) -> list[Forked]:
        """The workers that are alive."""
        return [worker for worker in self.processes[1:] if worker.poll() is None]

    def have_workers(self, number: int, *, allowed_failures: int = 3) -> None:
        """Start or kill workers to have `number`; a task may outlive `allowed_failures` of them."""
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
        """Return a new client."""
        dask: Any = importlib.import_module("distributed")
        return dask.Client(self.address, set_as_default=False)

    def tasks(self, client: Any) -> int:
        """Return the number of tasks on the scheduler."""
        known: int = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        return known

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait up to a minute for a condition."""
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until, [log.read_text() for log in self.folder.glob("*.log")]
            time.sleep(0.05)

    def close(self) -> None:
        """Kill all processes."""
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
    """Start a scheduler and workers; the n-th worker has n threads."""

    def __call__(self, workers: int) -> DaskCluster: ...


@contextlib.contextmanager
def clusters(forks: Forks, new_folder: Callable[[], Path]) -> Iterator[StartCluster]:
    """Yield a function that starts clusters; close them at the end of the block."""
    with contextlib.ExitStack() as ends:

        def start(workers: int) -> DaskCluster:
            cluster = DaskCluster(forks, new_folder())
            ends.callback(cluster.close)
            for n in range(workers):
                cluster.add_worker(n + 1)
            return cluster

        yield start
