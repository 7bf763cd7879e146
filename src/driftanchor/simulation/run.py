"""`simulate`: policies × runs in one bandit, on all cores, with keyed noise."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.errors import InvalidInput, how_to_install
from driftanchor.policies import by_name
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.chunk import Chunk, play
from driftanchor.simulation.cluster import on_cluster
from driftanchor.simulation.machine import on_this_machine, threads_to_use
from driftanchor.simulation.result import Result, drawn_gaps

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
    """Run every policy `runs` times in a bandit and read its pseudo-regret.

    Run r of every policy meets the same logs and, unless an engine draws sums of rewards, the same
    n-th reward of each arm, so differences are paired. The numbers depend on the seed and the
    engine alone: not on threads, cluster, order or which policies take part.

    Args:
        policies: A mapping from names to policies, one policy, or a list of policies and names.
        bandit: The world.
        horizon: Rounds in a run.
        runs: Runs of each policy.
        seed: The seed of all noise.
        checkpoints: How many evenly spaced rounds to read regret after, or which ones; the
            horizon is always the last.
        threads: At most this many threads or processes at once; `None` for all cores.
        cluster: Play on a Dask cluster instead: the address of its scheduler, such as
            `"tcp://127.0.0.1:8786"`, or a `distributed.Client`. The numbers are the same.
        engine: `"every-round"` compiles the loop with Numba; `"interpreted"` runs the same loop
            in Python, some thousand times slower, with the same numbers, and `"processes"` does
            so in as many processes as there may be threads. `"thinned"` and
            `"events"` leap over the rounds in which the leader is played again: the same law with
            fewer draws. `"thinned"` draws every reward, `"events"` only their sums, at a cost that
            hardly grows with the horizon. They play every round where they cannot leap: policies
            that state no law of their index, rewards that come late, and policies that use logs
            with a relative bound. `"auto"` is `"events"` where Numba is installed and
            `"processes"` where it is not.
        progress: Called with (runs done, runs in all) after each chunk of runs.

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
            "is for this machine, not for a cluster: give one of them", argument="threads"
        )
    effort: dict[str, Any] = {
        "horizon": horizon,
        "runs": runs,
        "seed": seed,
        "checkpoints": checkpoints,
        "engine": engine,
    }
    wholes = [Chunk.all_runs(name, x, bandit, **effort) for name, x in by_name(policies).items()]
    one = wholes[0]
    if engine == "auto" and not one.is_compiled:
        warn_without_numba()
    try:
        regret = np.empty((len(wholes), one.runs, len(one.checkpoints)))
        pulls = np.empty((len(wholes), one.runs, len(bandit.online)), np.int64)
    except MemoryError as error:
        raise InvalidInput(f"{error}: ask for fewer runs or checkpoints") from error
    if cluster is None:
        played = on_this_machine(wholes, workers)
    else:
        played = on_cluster(cluster, play, wholes)
    done = 0
    with contextlib.closing(played):
        for i, chunk, (lost, pulled) in played:
            regret[i, chunk.rows], pulls[i, chunk.rows] = lost, pulled
            done += chunk.runs
            if progress is not None:
                progress(done, one.runs * len(wholes))
    names = tuple(whole.name for whole in wholes)
    most = float(bandit.gaps.max()) * one.horizon
    drawn = drawn_gaps(bandit, one.seed, one.runs, compiled=one.is_compiled)
    return Result(names, one.checkpoints, regret, pulls, one.seed, one.engine, most, drawn)


def warn_without_numba() -> None:
    """Say that runs are interpreted, and what would make them fast."""
    warnings.warn(
        "Numba is not installed, so runs are interpreted, in as many processes as there are cores. "
        f"Compiled they are some thousand times faster: {how_to_install('fast')}",
        stacklevel=3,
    )
