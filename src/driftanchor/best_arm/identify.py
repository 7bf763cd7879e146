"""`identify`: which arm is best, simulated: LUCB-H with logs, beside LUCB without them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from driftanchor.best_arm.bounds import RADII, Rule
from driftanchor.best_arm.identification import Identification
from driftanchor.best_arm.lucb import play_runs
from driftanchor.compiled.kernels import kernel
from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import wrapping
from driftanchor.errors import InvalidInput, how_to_install, shown
from driftanchor.simulation import engines
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines.desk import desk_with, keys_of
from driftanchor.simulation.engines.drawn_means import drawn_means
from driftanchor.simulation.engines.rewards import World, world_of
from driftanchor.simulation.machine import threads_to_use

PIECES = 8  # of the runs of a rule for each thread: they take different times
ENGINES = ("auto", "compiled", "interpreted")
Progress = Callable[[int, int], None]
Played = tuple[Ints, Ints, Any]  # the pulls and the answer of each run, and its best arm


class Piece(NamedTuple):
    """Some runs of one rule."""

    row: int  # of the rule
    name: str
    bandit: Bandit
    rule: Rule
    seed: int
    first: int
    runs: int
    most_pulls: int
    compiled: bool


def identify(
    bandit: Bandit,
    *,
    delta: float = 0.05,
    radius: str = "anytime",
    runs: int = 1_000,
    seed: int = 0,
    most_pulls: int = 1_000_000,
    threads: int | None = None,
    engine: str = "auto",
    progress: Progress | None = None,
) -> Identification:
    """Pull arms until the best is known, run by run, and count the pulls and the errors.

    In each step the arm with the largest online mean is pulled, and of the others the one with the
    largest upper bound. A run stops when the lower bound of the first is at least the upper bound
    of the second. `"lucb-h"` has bounds from rewards and logs, `"lucb"` from rewards alone, and
    `"trusting"` is `"lucb-h"` with bias bounds of 0. All meet the same rewards and the same logs.

    Args:
        bandit: The world. Its bias bounds are what is promised; they may be wrong. The runs of a
            `random_bandit` have the means that they have in `simulate`.
        delta: The allowed chance of a wrong answer, as long as the promise holds.
        radius: `"anytime"` holds in all rounds at once, so that a rule may stop by it; `"paper"` is
            σ √(2 log(K t/δ)/n), proved for one fixed round t.
        runs: Runs of each rule.
        seed: The seed of all noise.
        most_pulls: The number of pulls after which a run gives up.
        threads: At most this many threads; `None` for all cores.
        engine: `"compiled"` with Numba, `"interpreted"`, far slower and to the same bits, or
            `"auto"`: compiled where Numba is installed.
        progress: Called with (runs done, runs in all) after each piece of work.

    Example:
        >>> bandit = Bandit([0.9, 0.1], [0.9, 0.1], 50, bias_bound=0.1, noise=0.5)
        >>> found = identify(bandit, runs=20, engine="interpreted")
        >>> found.rules, found.error("lucb-h").value
        (('lucb-h', 'lucb', 'trusting'), 0.0)
    """
    check.optional_function(progress, "progress")
    _check_bandit(bandit)
    miss = check.number(delta, "delta", above=0.0, high=0.5)
    check.choice(radius, "radius", RADII)
    count = check.whole(runs, "runs", low=1, high=10**7)
    key = check.whole(seed, "seed")
    most = check.whole(most_pulls, "most_pulls", low=len(bandit.online), high=10**12)
    workers = threads_to_use(threads)
    compiled = _is_compiled(engine)
    rule = Rule(_noise(bandit), miss, radius == "anytime")
    names = rules_for(bandit)
    pieces = [
        Piece(row, name, bandit, rule, key, first, size, most, compiled)
        for row, name in enumerate(names)
        for first, size in _cut(count, PIECES * workers)
    ]
    pulls = np.empty((len(names), count), np.int64)
    answers = np.empty((len(names), count), np.int64)
    best = np.empty(count, np.int64)
    done = 0
    for piece, (taken, named, right) in _played(pieces, workers if compiled else 1):
        rows = slice(piece.first, piece.first + piece.runs)
        pulls[piece.row, rows], answers[piece.row, rows], best[rows] = taken, named, right
        done += piece.runs
        if progress is not None:
            progress(done, count * len(names))
    known = int(best[0]) if bandit.means is None else best
    return Identification(tuple(names), pulls, answers, known, miss, radius, most, key)


def _check_bandit(bandit: Bandit) -> None:
    """Refuse worlds in which the question has no answer, or these rules none."""
    if not isinstance(bandit, Bandit):
        raise InvalidInput(f"must be a Bandit, got {shown(bandit)}", argument="bandit")
    if len(bandit.online) < 2:
        raise InvalidInput("has one arm: give two or more", argument="online")
    if (bandit.gaps == 0).sum() > 1:
        best = [arm for arm, gap in zip(bandit.arms, bandit.gaps, strict=True) if gap == 0]
        raise InvalidInput(
            f"has equal best arms, {', '.join(best[:5])}: no number of pulls shows which is best; "
            "change one of the means",
            argument="online",
        )
    if bandit.reward == "student":
        raise InvalidInput(
            "is 'student': its tails are too heavy for these bounds; use 'gaussian' or 'bernoulli'",
            argument="reward",
        )
    if bandit.is_late:
        raise InvalidInput("has late rewards: identify pulls one by one; use delay=0 and batch=1")
    if bandit.is_relative:
        raise InvalidInput(
            "is given, and LUCB-H knows no common move: give bias_bound alone",
            argument="relative_bound",
        )


def _noise(bandit: Bandit) -> float:
    """σ such that rewards are σ-sub-Gaussian: half of their range where they have one."""
    low, high = bandit.reward_range
    return bandit.noise if math.isinf(high - low) else max((high - low) / 2.0, 1e-300)


def rules_for(bandit: Bandit) -> list[str]:
    """The names of the rules that are compared in a bandit, in the order they are run."""
    return list(_worlds(bandit))


def _worlds(bandit: Bandit, drawn: Floats | None = None, first: int = 0) -> dict[str, World]:
    """The world as each rule sees it, with the means of runs from `first` on where they are drawn.

    The worlds share arrays, and each run writes its means there: play one of them.
    """
    world = world_of(bandit, drawn, first)
    none = np.zeros_like(world.offline_pulls)
    zero = np.zeros_like(world.bias_bounds)
    without = {"lucb": world._replace(offline_pulls=none)}
    if not world.offline_pulls.any():
        return without
    with_logs = {"lucb-h": world, **without}
    own_bias = bandit.exact and bandit.bias is not None  # bounds are those of each run
    if not own_bias and not world.bias_bounds[world.offline_pulls > 0].any():
        return with_logs
    return with_logs | {"trusting": world._replace(bias_bounds=zero, exact=False)}


def _is_compiled(engine: str) -> bool:
    check.choice(engine, "engine", ENGINES)
    installed = engines.ENGINES["every-round"].is_installed
    if engine == "auto" and not installed:
        warnings.warn(
            "Numba is not installed, so runs are interpreted. Compiled they are some hundred times "
            f"faster: {how_to_install('fast')}",
            stacklevel=3,
        )
    return engine == "compiled" or (engine == "auto" and installed)


def _cut(runs: int, pieces: int) -> Iterator[tuple[int, int]]:
    """The first run of each piece, and how many it has."""
    size = -(-runs // pieces)
    for first in range(0, runs, size):
        yield first, min(size, runs - first)


def _played(pieces: list[Piece], threads: int) -> Iterator[tuple[Piece, Played]]:
    """Play the pieces on a thread pool, and yield their results in order."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield from zip(pieces, pool.map(_play, pieces), strict=True)
    finally:  # on Ctrl-C what has not begun must not begin, and what has is not waited for
        pool.shutdown(wait=False, cancel_futures=True)


def _play(piece: Piece) -> Played:
    """Play some runs, in this thread."""
    play = kernel(None, play_runs) if piece.compiled else play_runs
    bandit, drawn = piece.bandit, None
    if bandit.means is not None:
        compiled = piece.compiled
        drawn = drawn_means(bandit, piece.seed, piece.first, piece.runs, compiled=compiled)
    world = _worlds(bandit, drawn, piece.first)[piece.name]
    desk, keys = desk_with(world, 2), keys_of(piece.seed, piece.name)
    pulls, answers = np.empty(piece.runs, np.int64), np.empty(piece.runs, np.int64)
    with wrapping():
        play(piece.rule, world, keys, piece.first, piece.most_pulls, desk, pulls, answers)
    return pulls, answers, np.argmax(bandit.online if drawn is None else drawn[:, 0], axis=-1)
