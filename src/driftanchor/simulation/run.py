"""`simulate`: run several policies on the same bandit, on all cores or on a cluster."""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.cores import usable_cores
from driftanchor.errors import InvalidInput, how_to_install
from driftanchor.policies import by_name
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.batches import play_in_batches
from driftanchor.simulation.chunk import CHUNK_ROUNDS, Chunk, Played, play
from driftanchor.simulation.cluster import on_cluster
from driftanchor.simulation.result import Result, drawn_gaps

PIECES = 4  # chunks per job and thread, so that threads finish at about the same time
AHEAD = 4  # chunks per thread that wait in the queue
Progress = Callable[[int, int], None]


def simulate(
    policies: object,
    bandit: Bandit,
    *,
    horizon: int = 10_000,
    runs: int = 50,
    seed: int = 0,
    checkpoints: int | Sequence[int] = 100,
    threads: int | None = None,
    cluster: Any = None,
    engine: str = "auto",
    progress: Progress | None = None,
) -> Result:
    """Run every policy `runs` times in a bandit and measure its pseudo-regret.

    In run r, every policy gets the same logs and, unless the engine draws sums of rewards, the same
    n-th reward of each arm. So comparisons of policies are paired. A policy's results depend only
    on the seed and the engine, not on the threads, the cluster, or the other policies and their
    order.

    Args:
        policies: A mapping from names to policies, one policy, or a list of policies and names.
        bandit: The bandit to simulate.
        horizon: Number of rounds in a run.
        runs: Number of runs of each policy.
        seed: The seed of all noise.
        checkpoints: The number of evenly spaced rounds after which to record regret, or the rounds
            themselves; the horizon is always the last.
        threads: The maximum number of threads; `None` for all cores.
        cluster: Play on a Dask cluster instead: the address of its scheduler, such as
            `"tcp://127.0.0.1:8786"`, or a `distributed.Client`. The numbers are the same.
        engine: `"every-round"` compiles the loop with Numba. `"interpreted"` runs the same loop in
            Python on one core: about a thousand times slower, with the same results. `"thinned"`
            and `"events"` leap over the rounds in which the leader is played again. Their results
            have the same distribution, with fewer draws. `"thinned"` draws every reward; `"events"`
            draws sums of rewards, at a cost that hardly grows with the horizon. Both play every
            round when they cannot leap: for policies whose index has no known distribution, for
            late rewards, and for policies that use logs with a relative bound. `"auto"` is
            `"events"` if Numba is installed, else `"interpreted"`.
        progress: Called with (runs done, total runs) after each chunk of runs.

    Example:
        >>> bandit = Bandit(online=[0.9, 0.1], noise=0.1)
        >>> result = simulate(["ts", "ucb"], bandit, horizon=200, runs=4, seed=1)
        >>> result.regret.shape, list(result.summary()["ts"])
        ((2, 4, 100), ['mean', 'se', 'median', 'q90', 'q99', 'max'])
    """
    check.optional_function(progress, "progress")
    workers = threads_to_use(threads)
    if threads is not None and cluster is not None:
        raise InvalidInput(
            "is for this machine, not for a cluster: give one or the other", argument="threads"
        )
    effort: dict[str, Any] = {
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "checkpoints": checkpoints,
        "engine": engine,
    }
    jobs = [Chunk.all_runs(name, x, bandit, **effort) for name, x in by_name(policies).items()]
    one = jobs[0]
    if engine == "auto" and not one.is_compiled:
        warn_without_numba()
    try:
        regret = np.empty((len(jobs), one.runs, len(one.checkpoints)))
        pulls = np.empty((len(jobs), one.runs, len(bandit.online)), np.int64)
    except MemoryError as error:
        raise InvalidInput(f"{error}: ask for fewer runs or checkpoints") from error
    played = on_this_machine(jobs, workers) if cluster is None else on_cluster(cluster, play, jobs)
    done = 0
    with contextlib.closing(played):
        for i, chunk, (lost, pulled) in played:
            regret[i, chunk.rows], pulls[i, chunk.rows] = lost, pulled
            done += chunk.runs
            if progress is not None:
                progress(done, one.runs * len(jobs))
    names = tuple(job.name for job in jobs)
    most = float(bandit.gaps.max()) * one.horizon
    drawn = drawn_gaps(bandit, one.seed, one.runs, compiled=one.is_compiled)
    return Result(names, one.checkpoints, regret, pulls, one.seed, one.engine, most, drawn)


def threads_to_use(threads: int | None) -> int:
    """Validate `threads`; `None` stands for the number of cores that this process may use."""
    if threads is None:
        return usable_cores()
    return check.whole(threads, "threads", low=1, high=4096)


def on_this_machine(
    jobs: Iterable[Chunk], threads: int, *, in_batches: bool = False
) -> Generator[tuple[int, Chunk, Played], None, None]:
    """Split jobs into chunks, play several at a time, and yield (job number, chunk, result).

    Results come in order. Chunks of the next job are queued before a job ends, so that no thread is
    idle. If `in_batches`, each job is played in one piece with `play_in_batches`.
    """
    play_one = play_in_batches if in_batches else play
    pool, one_core = ThreadPoolExecutor(threads), ThreadPoolExecutor(1)
    begun: deque[tuple[int, Chunk, Future[Played]]] = deque()
    try:
        for i, job in enumerate(jobs):
            size = min(-(-job.runs // (PIECES * threads)), CHUNK_ROUNDS // job.horizon)
            for chunk in job.cut(job.runs if in_batches else max(1, size)):
                where = pool if chunk.is_compiled else one_core
                begun.append((i, chunk, where.submit(play_one, chunk)))
                if len(begun) > AHEAD * threads:
                    yield _next_of(begun)
        while begun:
            yield _next_of(begun)
    finally:  # on Ctrl-C start no more chunks, and do not wait for running ones
        pool.shutdown(wait=False, cancel_futures=True)
        one_core.shutdown(wait=False, cancel_futures=True)


def _next_of(begun: deque[tuple[int, Chunk, Future[Played]]]) -> tuple[int, Chunk, Played]:
    i, chunk, playing = begun.popleft()
    return i, chunk, playing.result()


def warn_without_numba() -> None:
    """Warn that runs are interpreted, and say how to install Numba."""
    warnings.warn(
        "Numba is not installed, so runs are interpreted, on one core. Compiled they are some "
        f"thousand times faster: {how_to_install('fast')}",
        stacklevel=3,
    )
