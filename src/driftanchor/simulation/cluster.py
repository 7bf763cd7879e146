"""Play chunks of runs on a Dask cluster, with the same results as on this machine.

A task plays one chunk, and its result depends on the chunk alone, so Dask may rerun a task if a
worker dies. Every worker must run the same code as this process. `code_version` is compared before
the first task, and again in each task because workers may join later.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import logging
import operator
import queue
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from driftanchor.errors import InvalidInput, UnusableCluster, require, shown
from driftanchor.policies.base import Policy
from driftanchor.simulation.chunk import CHUNK_ROUNDS, Chunk, Played
from driftanchor.version import __version__

SCHEDULER_TIMEOUT = 10.0  # seconds to wait for a scheduler to answer
WORKER_TIMEOUT = 30.0  # seconds to wait for a worker if the cluster has none
RESULT_TIMEOUT = 5.0  # seconds to wait for a result before checking that there are workers
MAX_CHUNKS = 256  # per job: enough for many workers, few enough for the scheduler
PACKAGE = "driftanchor"
Play = Callable[[Chunk], Played]


def on_cluster(
    cluster: Any, play: Play, jobs: Sequence[Chunk]
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Cut jobs into chunks and play them; yield (job index, chunk, result) as they finish.

    `cluster` is the address of a Dask scheduler or a `distributed.Client`. The workers must be able
    to import `play`, which plays a chunk.
    """
    if not jobs:
        return
    modules = [module_of(job.policy) for job in jobs]
    with _connected(cluster) as client:
        versions = {module: _check_workers(client, module) for module in dict.fromkeys(modules)}
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        waiting: dict[Any, tuple[int, Chunk]] = {}  # by future
        try:
            for i, (job, module) in enumerate(zip(jobs, modules, strict=True)):
                size = max(1, CHUNK_ROUNDS // job.horizon, -(-job.runs // MAX_CHUNKS))
                for chunk in job.cut(size):
                    task = (play_there, play, chunk, module, versions[module])
                    future = client.submit(*task, pure=False)
                    waiting[future] = i, chunk
                    future.add_done_callback(finished.put)
            while waiting:
                try:
                    future = finished.get(timeout=1.0)
                except queue.Empty:
                    _wait_for_workers(client)
                    continue
                played = _result(client, future, waiting[future][1])
                yield *waiting.pop(future), played
        finally:
            if client.status == "running":
                client.cancel([*waiting])


def play_there(play: Play, chunk: Chunk, module: str, version: str) -> Played:
    """Check that this worker runs the given code version, and play a chunk."""
    worker = f"worker {_dask().get_worker().address}"
    _compare(worker, loaded_version(module), version)
    try:
        return play(chunk)
    except OSError as error:
        raise UnusableCluster(f"{worker} failed: {error}: see its log") from error


def module_of(policy: Policy) -> str:
    """Return the module that another process must import to get the policy's class."""
    cls = type(policy)
    with contextlib.suppress(ImportError, AttributeError):
        module = importlib.import_module(cls.__module__)
        if cls.__module__ != "__main__" and operator.attrgetter(cls.__qualname__)(module) is cls:
            return PACKAGE if cls.__module__.startswith(f"{PACKAGE}.") else cls.__module__
    raise InvalidInput(
        f"{policy.name!r} cannot be imported by other processes: write its class "
        f"{cls.__qualname__} into a module of its own, not a script, notebook or function",
        argument="policy",
    )


def code_version(module: str) -> str:
    """Return the versions of this package and Numba, and a hash of its source and of `module`."""
    from importlib import metadata  # slow to import, and only clusters need it

    root, own = Path(__file__).parents[1], importlib.import_module(module).__file__
    digest = hashlib.sha256()
    for file in [*sorted(root.rglob("*.py")), *([Path(own)] if own else [])]:
        digest.update(file.name.encode() + file.read_bytes())
    try:
        numba = metadata.version("numba")
    except metadata.PackageNotFoundError:
        numba = "missing"
    return f"driftanchor {__version__}, Numba {numba}, source code {digest.hexdigest()[:12]}"


@functools.cache
def loaded_version(module: str) -> str:
    """Return the code version at the first call: a worker keeps running the code it loaded."""
    return code_version(module)


def _check_workers(client: Any, module: str) -> str:
    """Check that all workers run the same code as this process, and return the code version."""
    _wait_for_workers(client)
    ours = code_version(module)
    try:
        for name in (__name__, module):  # the scheduler unpickles the tasks
            client.run_on_scheduler(importlib.import_module, name)
    except ImportError as error:
        _compare("the scheduler", error, ours)
    for address, theirs in client.run(loaded_version, module, on_error="return").items():
        if not isinstance(theirs, OSError):  # OSError: the worker died; others may join
            _compare(f"worker {address}", theirs, ours)
    return ours


def _compare(place: str, theirs: str | Exception, ours: str) -> None:
    """Raise UnusableCluster unless `theirs`, a version or an exception, equals `ours`."""
    if theirs == ours:
        return
    failed = isinstance(theirs, Exception)
    runs = f"cannot import what it needs: {theirs}" if failed else f"runs {theirs}"
    raise UnusableCluster(
        f"{place} {runs}; this process runs {ours}: install the same there, with the modules of "
        "your own policies, and restart it"
    )


def _result(client: Any, future: Any, chunk: Chunk) -> Played:
    """Return the result of a finished task; Dask reruns the task if its worker has died since."""
    while True:
        try:
            played: Played = future.result(timeout=RESULT_TIMEOUT)
        except TimeoutError:
            _wait_for_workers(client)
        except _dask().KilledWorker as error:
            raise UnusableCluster(
                f"every worker that played policy {chunk.name!r} died: see the workers' logs, and "
                "whether they have enough memory"
            ) from error
        else:
            return played


def _wait_for_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
    except TimeoutError as error:
        address = client.scheduler.address
        raise UnusableCluster(
            f"the Dask scheduler at {address} has no workers: start some with "
            f"'dask worker {address}'"
        ) from error


@contextlib.contextmanager
def _connected(cluster: Any) -> Iterator[Any]:
    """Yield a client of the cluster; close it afterwards unless the user passed it in."""
    distributed = _dask()
    theirs = isinstance(cluster, distributed.Client)
    client = cluster if theirs else _connect(distributed, cluster)
    if client.asynchronous or client.status != "running":
        raise InvalidInput(
            f"must be a running synchronous Client, got {client!r}", argument="cluster"
        )
    address = client.scheduler.address
    try:
        yield client
    except (OSError, distributed.CancelledError) as error:
        raise UnusableCluster(
            f"the Dask scheduler at {address} is gone, and the tasks with it: start it and its "
            "workers again, then repeat this"
        ) from error
    finally:
        if not theirs:
            logger = logging.getLogger("distributed.client")
            logger.disabled = True  # without a scheduler, closing logs a traceback
            client.close()
            logger.disabled = False


def _connect(distributed: Any, address: object) -> Any:
    try:
        return distributed.Client(
            address, name=PACKAGE, timeout=SCHEDULER_TIMEOUT, set_as_default=False
        )
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            "must be the address of a Dask scheduler such as 'tcp://127.0.0.1:8786', "
            f"got {shown(address)}",
            argument="cluster",
        ) from error
    except OSError as error:
        raise UnusableCluster(
            f"no Dask scheduler answers at {address}: check the address, or start one with "
            f"'dask scheduler' ({error})"
        ) from error


def _dask() -> Any:
    return require("distributed", extra="cluster", why="running on a cluster")
