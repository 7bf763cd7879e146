"""`simulate`: policies × runs in one bandit, on all cores, with keyed noise."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Ints
from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.noise import key, wrapping
from driftanchor.errors import InvalidInput, shown
from driftanchor.policies import by_name
from driftanchor.policies.base import Policy, kept_belief
from driftanchor.simulation import compiled, events, reference, vectorised, windows
from driftanchor.simulation import late as late_rewards
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.cluster import on_cluster
from driftanchor.simulation.part import CHUNK_ROUNDS, Part, Played
from driftanchor.simulation.reference import Keys
from driftanchor.simulation.result import Result
from driftanchor.simulation.world import world_of

ENGINES = ("auto", "every-round", "thinned", "events", "vectorised", "interpreted")
Progress = Callable[[int, int], None]
PIECES = 4  # of the work of a thread: the last to end is then not far behind the others
_one_at_a_time = (
    threading.Lock()
)  # a policy's numbers are of a type that is made when first asked for


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
        seed: Of all noise.
        checkpoints: How many evenly spaced rounds to read regret after, or which ones; the
            horizon is always the last.
        threads: At most this many at once; `None` for all cores.
        cluster: Play on a Dask cluster instead: the address of its scheduler, such as
            `"tcp://127.0.0.1:8786"`, or a `distributed.Client`. The numbers are the same.
        engine: `"every-round"` compiles the loop with Numba; `"interpreted"` runs the same loop
            in Python, some thousand times slower, to the same numbers. `"vectorised"` takes many
            runs through it at once in NumPy, to the same numbers, 20 (1,000 runs) to 80 times (50
            runs) slower than compiled; what NumPy cannot run so is interpreted. `"thinned"` and
            `"events"` leap over the rounds in which the leader is played again: the same law with
            fewer draws, of which `"thinned"` draws every reward and `"events"` only their sums, at
            a cost that hardly grows with the horizon. A policy that gives them nothing to leap by
            is played every round, and so is every policy where rewards come late, and every one
            that uses logs where they have a relative bound. `"auto"` is
            `"events"` where Numba is installed and `"vectorised"` where it is not.
        progress: Called with (runs done, runs in all) while it goes on.

    Example:
        >>> bandit = Bandit(online=[0.9, 0.1], noise=0.1)
        >>> result = simulate(["ts", "ucb"], bandit, horizon=200, runs=4, seed=1)
        >>> result.regret.shape, list(result.summary()["ts"])
        ((2, 4, 100), ['mean', 'se', 'median', 'q90', 'q99', 'max'])
    """
    if progress is not None and not callable(progress):
        raise InvalidInput(f"must be a function, got {shown(progress)}", argument="progress")
    workers = threads_to_use(threads)
    if threads is not None and cluster is not None:
        raise InvalidInput(
            "is for this machine, not for a cluster: give one of them", argument="threads"
        )
    wholes = parts(
        policies,
        bandit,
        horizon=horizon,
        runs=runs,
        seed=seed,
        checkpoints=checkpoints,
        engine=engine,
    )
    one = wholes[0]
    try:
        regret = np.empty((len(wholes), one.runs, len(one.checkpoints)))
        pulls = np.empty((len(wholes), one.runs, len(bandit.online)), np.int64)
    except MemoryError as error:
        raise InvalidInput(f"{error}: ask for fewer runs or checkpoints") from error
    played = in_threads(wholes, workers) if cluster is None else on_cluster(cluster, play, wholes)
    done = 0
    with contextlib.closing(played):
        for p, part, (lost, pulled) in played:
            regret[p, part.rows], pulls[p, part.rows] = lost, pulled
            done += part.runs
            if progress is not None:
                progress(done, one.runs * len(wholes))
    names = tuple(whole.name for whole in wholes)
    return Result(names, one.checkpoints, regret, pulls, one.seed, one.engine)


def parts(
    policies: object,
    bandit: Bandit,
    *,
    horizon: int,
    runs: int,
    seed: int,
    checkpoints: int | Sequence[int],
    engine: str,
) -> list[Part]:
    """What `simulate` was asked for, checked: one part for each policy, with all its runs."""
    named = by_name(policies)
    if not isinstance(bandit, Bandit):
        raise InvalidInput(f"must be a Bandit, got {shown(bandit)}", argument="bandit")
    horizon = check.whole(horizon, "horizon", low=1)
    runs = check.whole(runs, "runs", low=1, high=10**9)
    seed = check.whole(seed, "seed")
    rounds = _rounds(checkpoints, horizon)
    chosen = _engine(engine)
    return [Part(name, x, bandit, rounds, chosen, seed, 0, runs) for name, x in named.items()]


def play(part: Part) -> Played:
    """Play a part, in this thread."""
    policy, seed = part.policy, part.seed
    world = world_of(part.bandit)
    keys = Keys(key(seed, "rewards"), key(seed, "logs"), key(seed, f"policy/{policy.name}"))
    with _one_at_a_time:
        loop, rule = _loop(policy, part.engine, part.bandit)
    desk = reference.lay_out(world, policy)
    rounds = part.checkpoints.copy()  # what was sent may be read-only, for Numba another type
    regret = np.empty((part.runs, rounds.size))
    pulls = np.empty((part.runs, world.online.size), np.int64)
    with wrapping():
        played = loop(rule, world, keys, part.first, rounds, desk, regret, pulls)
    if not played:
        raise InvalidInput(
            f"{part.name!r} chose no arm: its index is NaN for every arm, or its choose "
            "gave a column that is not there",
            argument="policy",
        )
    return regret, pulls


def in_threads(wholes: list[Part], threads: int) -> Generator[tuple[int, Part, Played], None, None]:
    """Play parts of as many rounds and runs in pieces, in order."""
    one = wholes[0]
    chunk = max(1, min(-(-one.runs // (PIECES * threads)), CHUNK_ROUNDS // one.horizon))
    if one.engine == "vectorised":
        chunk = vectorised.runs_at_once(one.bandit.online.size)
    pieces = [(p, piece) for p, whole in enumerate(wholes) for piece in whole.cut(chunk)]
    pool = ThreadPoolExecutor(threads if one.is_compiled else 1)
    try:
        results = pool.map(play, (piece for _, piece in pieces))
        for (p, piece), played in zip(pieces, results, strict=True):
            yield p, piece, played
    finally:  # on Ctrl-C what has not begun must not begin, and what has is not waited for
        pool.shutdown(wait=False, cancel_futures=True)


def _loop(policy: Policy, engine: str, bandit: Bandit) -> tuple[Callable[..., bool], Any]:
    """The loop of an engine, and the form in which it takes the policy."""
    if engine == "vectorised" and not bandit.is_late:
        return vectorised.run_many, policy
    loop = run_many(type(policy), engine, bandit)
    if engine in ("vectorised", "interpreted"):
        return loop, policy
    if kept_belief(type(policy)) is not None:
        believed = policy.believe(ArmEvidence(1, policy.prior_mean, 0, 0.0, 0.0))
        if type(believed) is not policy.belief:
            raise InvalidInput(
                f"{policy.name!r} names {policy.belief.__name__} as its belief and believes "
                f"{type(believed).__name__}: set belief to what believe returns",
                argument="policy",
            )
    return compiled.kernel(type(policy), loop), policy.numbers()


def run_many(policy: type[Policy], engine: str, bandit: Bandit) -> compiled.RunMany:
    """The loop that an engine runs a policy with.

    Where rewards come late there is only one. Where logs move together beliefs are not of one arm
    alone, and every round is played.
    """
    if bandit.is_late:
        return late_rewards.run_many_late
    together = bandit.is_relative and policy.uses_logs
    if engine in ("auto", "thinned", "events") and not together:
        if leaps(policy):
            return events.run_many_thinned if engine == "thinned" else events.run_many_events
        if waits(policy):
            return windows.run_many_windows
    return reference.run_many


def leaps(policy: type[Policy]) -> bool:
    """Whether a policy's index law is known, and its beliefs decide alone."""
    return policy.tails is not None and _still_holds("tails", policy)


def waits(policy: type[Policy]) -> bool:
    """Whether an arm's index, without randomness, can only grow while the arm is left alone."""
    return policy.grows and _still_holds("grows", policy)


def _still_holds(promise: str, policy: type[Policy]) -> bool:
    """Whether what a class promises of its index is true of a policy.

    A subclass that changes a method does not keep the promise that its parent gave.
    """
    home: Any = next(cls for cls in policy.__mro__ if promise in vars(cls))
    kept = all(getattr(home, x) is getattr(policy, x) for x in ("believe", "sample", "draw"))
    return kept_belief(policy) is not None and kept


def compiles() -> bool:
    """Whether Numba is installed."""
    return importlib.util.find_spec("numba") is not None


def _engine(engine: str) -> str:
    if check.choice(engine, "engine", ENGINES) != "auto":
        return engine
    if compiles():
        return "events"
    warnings.warn(
        "Numba is not installed, so runs go side by side in NumPy: 20 (1,000 runs) to 80 times (50 "
        "runs) slower than every-round, to its numbers; policies that choose by "
        "rules of their own (artificial-replay, guarded-anchor-ts) are interpreted, some thousand "
        "times slower. To compile them: "
        'pip install "driftanchor[fast]"',
        stacklevel=4,
    )
    return "vectorised"


def threads_to_use(threads: int | None) -> int:
    """As many as asked for, or all cores."""
    if threads is None:
        return os.cpu_count() or 1
    return check.whole(threads, "threads", low=1, high=4096)


def _rounds(checkpoints: int | Sequence[int], horizon: int) -> Ints:
    """The rounds after which regret is read, ascending, the horizon last."""
    if isinstance(checkpoints, int | np.integer):
        count = min(check.whole(checkpoints, "checkpoints", low=1, high=10**7), horizon)
        steps = np.arange(1, count + 1, dtype=np.int64)
        each, rest = divmod(horizon, count)
        return steps * each - (-steps * rest) // count  # the ceilings of i · horizon / count
    asked = [
        check.whole(t, "checkpoints", low=1, high=horizon)
        for t in check.items(checkpoints, "checkpoints")
    ]
    return np.array(sorted({*asked, horizon}), dtype=np.int64)
