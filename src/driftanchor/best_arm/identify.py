"""`identify`: simulate pulls until the best arm is known, with and without logs."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftanchor.best_arm.lucb import RADII, UNDECIDED, Rule, play_runs
from driftanchor.compiled import kernels
from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import wrapping
from driftanchor.core.stats.intervals import Estimate, wilson
from driftanchor.core.stats.summary import summarise
from driftanchor.errors import InvalidInput, how_to_install, shown
from driftanchor.render.csv_file import write_csv
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.chunk import ENGINES as SIMULATION_ENGINES
from driftanchor.simulation.engine import allocate_with, keys_of
from driftanchor.simulation.run import threads_to_use
from driftanchor.simulation.world import World, drawn_means, world_of

QUANTILES = {"median": 0.5, "q90": 0.9, "q99": 0.99}
JOBS = 8  # per thread and rule; more than one, since runs differ in length
ENGINES = ("auto", "compiled", "interpreted")


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Tabular):
    """The result of `identify`.

    Attributes:
        rules: Names of the rules. `"lucb-h"` uses the logs and their bias bounds, `"lucb"` ignores
            the logs, and `"trusting"` is LUCB-H with all bias bounds set to 0.
        pulls: Array of shape (rules, runs): the number of online pulls until the rule stopped. If
            it never stopped: `most_pulls` or `most_pulls − 1`, since pulls come in pairs.
        answers: Array of shape (rules, runs): the column of the arm that the rule named; −1 if it
            never stopped.
        best: Column of the best arm: one number, or one per run if each run draws its own means.
        delta: Allowed probability of a wrong answer.
        radius: Confidence radius of the bounds, `"anytime"` or `"paper"`.
        most_pulls: Number of pulls after which a run gives up.
        seed: Seed of all noise.
    """

    rules: tuple[str, ...]
    pulls: Ints
    answers: Ints
    best: int | Ints
    delta: float
    radius: str
    most_pulls: int
    seed: int

    @property
    def runs(self) -> int:
        """Number of runs of each rule."""
        return int(self.pulls.shape[1])

    def stopped(self, rule: str) -> float:
        """Return the share of a rule's runs that stopped."""
        return float((self._answers(rule) != UNDECIDED).mean())

    def error(self, rule: str) -> Estimate:
        """Return the share of a rule's runs that named a wrong arm, with a 95 % Wilson interval.

        Runs that never stopped count as runs, but not as errors.
        """
        answers = self._answers(rule)
        share = float(((answers != UNDECIDED) & (answers != self.best)).mean())
        return Estimate(share, *wilson(share, self.runs))

    def summary(self) -> dict[str, dict[str, float]]:
        """Return the statistics of each rule: pulls, share of runs that stopped, and error rate."""
        return {rule: self._statistics(rule) for rule in self.rules}

    def _statistics(self, rule: str) -> dict[str, float]:
        pulls = self.pulls[self.rules.index(rule)].astype(float)
        error = self.error(rule)
        return {
            **summarise(pulls, QUANTILES),
            "stopped": self.stopped(rule),
            "error": error.value,
            "error_low": error.low,
            "error_high": error.high,
        }

    def _answers(self, rule: str) -> Ints:
        check.choice(rule, "rule", self.rules)
        answers: Ints = self.answers[self.rules.index(rule)]
        return answers

    def _line(self) -> str:
        allowed = f"δ = {self.delta:g}, {self.radius} radius"
        return f"{', '.join(self.rules)}: {count(self.runs, 'run')}, {allowed}, seed {self.seed}"

    def _caption(self) -> str:
        return f"Pulls until the best arm is known: {self._line()}"

    def _columns(self) -> dict[str, list[object]]:
        rows = self.summary()
        names = next(iter(rows.values()))
        numbers = {name: known([row[name] for row in rows.values()]) for name in names}
        return {"rule": list(rows), **numbers}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one row per rule and run.

        Answers number the arms from 1. The answer of a run that never stopped is empty.
        """
        rows = (
            (rule, run, pulls, "" if answer == UNDECIDED else answer + 1)
            for i, rule in enumerate(self.rules)
            for run, (pulls, answer) in enumerate(
                zip(self.pulls[i].tolist(), self.answers[i].tolist(), strict=True)
            )
        )
        write_csv(path, ("rule", "run", "pulls", "answer"), rows)


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
    progress: Callable[[int, int], None] | None = None,
) -> Identification:
    """Simulate pulls until the best arm is known, and count the pulls and the errors.

    Each step pulls two arms: the leader, which has the largest online mean, and its rival, which
    has the largest upper bound among the other arms. A run stops when the leader's lower bound is
    at least the rival's upper bound.

    Up to three rules are compared. `"lucb-h"` computes bounds from online rewards and logs,
    `"lucb"` from online rewards alone, and `"trusting"` is `"lucb-h"` with bias bounds of 0. All
    rules see the same rewards, and those that use logs see the same logs.

    Args:
        bandit: The bandit to simulate. The rules rely on its bias bounds, which may be wrong. Runs
            of a `random_bandit` draw the same means as in `simulate`.
        delta: Allowed probability of a wrong answer if the bias bounds hold.
        radius: The confidence radius of the bounds. `"anytime"` is valid in all rounds at once, so
            a rule may stop as soon as its bounds separate. `"paper"` is σ √(2 log(K t/δ)/n) for K
            arms, n rewards, noise σ and δ = `delta`; it is proved only for one fixed round t.
        runs: Number of runs of each rule.
        seed: Seed of all noise.
        most_pulls: Number of pulls after which a run gives up.
        threads: The maximum number of threads; `None` for all cores.
        engine: `"compiled"` uses Numba. `"interpreted"` is far slower, with bit-identical results.
            `"auto"` is `"compiled"` if Numba is installed, else `"interpreted"`.
        progress: Called with (runs done, total runs) as results arrive.

    Example:
        >>> bandit = Bandit([0.9, 0.1], [0.9, 0.1], 50, bias_bound=0.1, noise=0.5)
        >>> result = identify(bandit, runs=20, engine="interpreted")
        >>> result.rules, result.error("lucb-h").value
        (('lucb-h', 'lucb', 'trusting'), 0.0)
    """
    check.optional_function(progress, "progress")
    _check_bandit(bandit)
    delta = check.number(delta, "delta", above=0.0, high=0.5)
    check.choice(radius, "radius", RADII)
    runs = check.whole(runs, "runs", low=1, high=10**7)
    seed = check.whole(seed, "seed")
    most_pulls = check.whole(most_pulls, "most_pulls", low=len(bandit.online), high=10**12)
    threads = threads_to_use(threads)
    compiled = _is_compiled(engine)
    names = rules_for(bandit)
    rule = Rule(_noise(bandit), delta, radius == "anytime")
    size = -(-runs // (JOBS * threads))
    jobs = [
        _Job(name, first, min(size, runs - first), bandit, rule, seed, most_pulls, compiled)
        for name in names
        for first in range(0, runs, size)
    ]
    pulls, answers = (np.empty((len(names), runs), np.int64) for _ in range(2))
    best = np.empty(runs, np.int64)
    done = 0
    pool = ThreadPoolExecutor(threads if compiled else 1)
    try:
        for job, played in zip(jobs, pool.map(_play, jobs), strict=True):
            row, columns = names.index(job.name), slice(job.first, job.first + job.runs)
            pulls[row, columns], answers[row, columns], best[columns] = played
            done += job.runs
            if progress is not None:
                progress(done, runs * len(names))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # Ctrl-C must not wait for running jobs
    right = int(best[0]) if bandit.means is None else best
    return Identification(tuple(names), pulls, answers, right, delta, radius, most_pulls, seed)


def _check_bandit(bandit: Bandit) -> None:
    """Reject bandits that have no unique best arm, or that LUCB-H cannot handle."""
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
    """Return σ such that rewards are σ-sub-Gaussian: half the length of their range, if finite."""
    low, high = bandit.reward_range
    return bandit.noise if math.isinf(high - low) else max((high - low) / 2.0, 1e-300)


def rules_for(bandit: Bandit) -> list[str]:
    """Return the names of the rules that `identify` compares for this bandit."""
    return list(_worlds(bandit))


def _worlds(bandit: Bandit, drawn: Floats | None = None, first: int = 0) -> dict[str, World]:
    """Return the world that each rule sees, by rule name; `drawn` are the runs' own means, if any.

    The worlds share arrays that each run overwrites, so play only one of them.
    """
    world = world_of(bandit, drawn, first)
    without = {"lucb": world._replace(offline_pulls=np.zeros_like(world.offline_pulls))}
    if not world.offline_pulls.any():
        return without
    with_logs = {"lucb-h": world, **without}
    own_bias = bandit.exact and bandit.bias is not None  # each run has its own bounds
    if not own_bias and not world.bias_bounds[world.offline_pulls > 0].any():
        return with_logs
    zero = np.zeros_like(world.bias_bounds)
    return with_logs | {"trusting": world._replace(bias_bounds=zero, exact=False)}


def _is_compiled(engine: str) -> bool:
    check.choice(engine, "engine", ENGINES)
    installed = SIMULATION_ENGINES["every-round"].is_installed
    if engine == "auto" and not installed:
        warnings.warn(
            "Numba is not installed, so runs are interpreted. Compiled they are some hundred times "
            f"faster: {how_to_install('fast')}",
            stacklevel=3,
        )
    return engine == "compiled" or (engine == "auto" and installed)


class _Job(NamedTuple):
    """Consecutive runs of one rule."""

    name: str
    first: int
    runs: int
    bandit: Bandit
    rule: Rule
    seed: int
    most_pulls: int
    compiled: bool


def _play(job: _Job) -> tuple[Ints, Ints, Any]:
    """Play a job's runs, and return the number of pulls, the answer and the best arm of each."""
    bandit, drawn = job.bandit, None
    if bandit.means is not None:
        drawn = drawn_means(bandit, job.seed, job.first, job.runs, compiled=job.compiled)
    world = _worlds(bandit, drawn, job.first)[job.name]
    state, keys = allocate_with(world, 2), keys_of(job.seed, job.name)
    pulls, answers = np.empty(job.runs, np.int64), np.empty(job.runs, np.int64)
    arguments = job.rule, world, keys, job.first, job.most_pulls, state, pulls, answers
    play = kernels.loop(play_runs, *arguments) if job.compiled else play_runs
    with wrapping():
        play(*arguments)
    return pulls, answers, np.argmax(bandit.online if drawn is None else drawn[:, 0], axis=-1)
