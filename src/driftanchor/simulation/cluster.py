"""Chunks of runs on a Dask cluster, to the same bits as here.

A task is one chunk and is pure: whoever plays it, and however often, the numbers are the same. So a
worker that dies costs the time of its tasks and nothing else. Before anything is submitted, and
again in every task, a worker is compared with this process (`driftanchor.simulation.identity`).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import pickle
import queue
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from driftanchor.errors import InvalidInput, UnusableCluster, require, shown
from driftanchor.simulation.chunk import CHUNK_ROUNDS, Chunk, Played
from driftanchor.simulation.identity import (
    Identity,
    Question,
    address_of,
    first_difference,
    identities,
    standing_identities,
    standing_identity,
    version,
)

ANSWER = 10.0  # seconds in which a scheduler must answer
PATIENCE = 30.0  # seconds in which a cluster without workers must get one
FETCH = 5.0  # seconds in which the numbers of a finished task come, if their worker is alive
MOST_CHUNKS = 256  # of one policy: enough for many workers, few enough for the scheduler
MOST_DEATHS = 8  # of workers over one chunk, beyond those the scheduler allows
SCHEMES = ("tcp", "tls", "ws", "wss")
Play = Callable[[Chunk], Played]


def on_cluster(
    cluster: Any, play: Play, wholes: Sequence[Chunk]
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Play chunks on a cluster: (which of them, a piece of it, its numbers), as they come in.

    Args:
        cluster: The address of a Dask scheduler, or a `distributed.Client`.
        play: How to play a chunk; a function that the workers can import.
        wholes: What to play.
    """
    if not wholes:
        return
    asked = [(address_of(whole.policy), whole.is_compiled) for whole in wholes]
    with _connected(cluster) as client:
        ours = _agreed(client, play, [*dict.fromkeys(asked)])
        pieces, tasks = [], []
        for i, whole in enumerate(wholes):
            size = max(1, CHUNK_ROUNDS // whole.horizon, -(-whole.runs // MOST_CHUNKS))
            mine = ours[asked[i]]
            for piece in whole.cut(size):
                key = key_of(play, piece, mine)
                tasks.append(client.submit(play_there, play, piece, asked[i], mine, key=key))
                pieces.append((i, piece))
        try:
            for n in _finished(client, tasks):
                i, piece = pieces[n]
                yield i, piece, _result(client, tasks[n], piece)
                tasks[n] = None  # the cluster may forget it
        finally:
            if client.status == "running":  # not after the scheduler has gone
                client.cancel([task for task in tasks if task is not None])


def play_there(play: Play, chunk: Chunk, asked: Question, ours: Identity) -> Played:
    """What a worker runs: a chunk, if it would give the same bits as the process that asked."""
    distributed = _dask()
    _refuse(f"worker {distributed.get_worker().address}", standing_identity(asked), ours)
    return play(chunk)


@contextlib.contextmanager
def _connected(cluster: Any) -> Iterator[Any]:
    """A client of the cluster; one that we make is closed, the user's is not."""
    distributed = _dask()
    if isinstance(cluster, distributed.Client):
        if cluster.asynchronous or cluster.status != "running":
            raise InvalidInput(
                f"must be a running synchronous Client, got {cluster!r}", argument="cluster"
            )
        yield cluster
        return
    import asyncio  # only here: most programs use no cluster

    address = _address(cluster)
    beside = ThreadPoolExecutor(1)  # a notebook's own thread has a loop already
    options = {"timeout": ANSWER, "set_as_default": False, "name": "driftanchor"}
    try:
        beside.submit(asyncio.run, _greet(distributed, address)).result()
        client = distributed.Client(address, **options)
    except (OSError, TypeError, ValueError, MemoryError) as error:  # TypeError: no certificate
        raise UnusableCluster(
            f"no Dask scheduler answers at {address}: check the address, or start one with "
            f"'dask scheduler' ({str(error) or 'it says nothing'})"
        ) from error
    finally:
        beside.shutdown(wait=False)
    # What goes wrong, our errors say. Dask leaves tasks behind that asyncio complains of.
    with _hushed("distributed.client"), _hushed("distributed.batched"), _hushed("asyncio"), client:
        yield client


@contextlib.contextmanager
def _hushed(name: str) -> Iterator[None]:
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _dask() -> Any:
    return require("distributed", extra="cluster", why="running on a cluster")


async def _greet(distributed: Any, address: str) -> None:
    """Meet the scheduler: `Client` would wait for ever for one that listens and never answers."""
    import asyncio

    secrets = distributed.Security().get_connection_args("client")
    greeting = distributed.core.connect(address, timeout=ANSWER, **secrets)
    met = await asyncio.wait_for(greeting, 2 * ANSWER)
    await met.close()


def _address(cluster: object) -> str:
    """The address, checked here: with some that are wrong Dask would wait for ever."""
    text = cluster if isinstance(cluster, str) else ""
    with contextlib.suppress(ValueError):  # a port that is no number, or too large
        parts = urlsplit(text if "://" in text else f"tcp://{text}")
        if parts.scheme in SCHEMES and parts.hostname and parts.port:
            return text
    raise InvalidInput(
        "must be the address of a Dask scheduler such as 'tcp://127.0.0.1:8786', "
        f"got {shown(cluster)}",
        argument="cluster",
    )


def _agreed(client: Any, play: Play, asked: Sequence[Question]) -> dict[Question, Identity]:
    """What decides the bits here, after every worker has said that it is the same there."""
    _wait_for_workers(client)
    needed = [play.__module__, *(address.partition(":")[0] for address, _ in asked)]
    for module in dict.fromkeys(needed):
        try:
            client.run_on_scheduler(importlib.import_module, module)
        except ImportError as error:
            raise _without_code("the scheduler", error) from error
    ours = identities(asked)
    answers = client.run(standing_identities, [*ours], on_error="return")
    for worker, theirs in answers.items():
        if isinstance(theirs, OSError):  # it is gone, and others may come
            continue
        if isinstance(theirs, Exception):
            raise _without_code(f"worker {worker}", theirs) from theirs
        for question, mine in ours.items():
            _refuse(f"worker {worker}", theirs[question], mine)
    return ours


def key_of(play: Play, piece: Chunk, ours: Identity) -> str:
    """The key of a task is its content, the code included: one key never means two results."""
    content = hashlib.sha256(pickle.dumps((play, piece, ours))).hexdigest()
    return f"driftanchor-{piece.policy.name}-{content}"


def _finished(client: Any, tasks: Sequence[Any]) -> Iterator[int]:
    """The numbers of the tasks, as they finish; those whose workers died are played again."""
    killed_worker = _dask().KilledWorker
    done: queue.SimpleQueue[int] = queue.SimpleQueue()

    def watch(n: int) -> None:
        tasks[n].add_done_callback(lambda _: done.put(n))

    for n in range(len(tasks)):
        watch(n)
    deaths = [0] * len(tasks)
    lost: list[int] = []  # finished, and played again: the worker died that had their numbers
    left = len(tasks)
    while left:
        try:
            n = done.get(timeout=1.0)
        except queue.Empty:
            _wait_for_workers(client)  # at once where there are any
            while lost:
                done.put(lost.pop())  # they may be finished now
            continue
        if tasks[n].status == "cancelled":
            raise _gone(client)
        if tasks[n].status == "lost":
            lost.append(n)
            continue
        killed = tasks[n].status == "error" and isinstance(tasks[n].exception(), killed_worker)
        if killed and deaths[n] < MOST_DEATHS:
            deaths[n] += 1
            tasks[n].retry()
            watch(n)
        else:
            left -= 1
            yield n


def _result(client: Any, task: Any, piece: Chunk) -> Played:
    """The numbers of a finished task; the worker that has them may die before they are here."""
    while True:
        try:
            played: Played = task.result(timeout=FETCH)
        except _dask().KilledWorker as error:
            raise UnusableCluster(
                f"every worker that played policy {piece.name!r} died: see the workers' logs, and "
                "whether they have enough memory"
            ) from error
        except TimeoutError:
            _wait_for_workers(client)  # another worker plays it again
        except (OSError, _dask().CancelledError) as error:  # its connections broke
            raise _gone(client) from error
        else:
            return played


def _wait_for_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise UnusableCluster(
            f"the Dask scheduler at {client.scheduler.address} has no workers: start some with "
            f"'dask worker {client.scheduler.address}'"
        ) from error
    except OSError as error:
        raise _gone(client) from error


def _gone(client: Any) -> UnusableCluster:
    return UnusableCluster(
        f"the Dask scheduler at {client.scheduler.address} is gone, and the tasks with it: start "
        "it and its workers again, then repeat this"
    )


def _without_code(place: str, error: BaseException) -> UnusableCluster:
    return UnusableCluster(
        f"{place} cannot import what it needs: {error}: install driftanchor "
        f"{version('driftanchor')} there, and the modules of your own policies"
    )


def _refuse(place: str, theirs: Identity, ours: Identity) -> None:
    differs = first_difference(theirs, ours)
    if differs:
        raise UnusableCluster(f"{place} {differs}: install the same on both and start it again")
