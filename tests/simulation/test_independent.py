"""A second simulator, written from algorithms.md sections 0 and 1 alone, agrees in law.

So does one for logs that moved together, written from the formulas of the relative promise.

Plain NumPy over all runs at once with NumPy's own generator; it shares no line with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from driftanchor import Bandit, simulate

if TYPE_CHECKING:
    from conftest import Chance

Array = npt.NDArray[np.float64]

HORIZON = 200
NAIVE_RUNS, RUNS = 1_800, 3_600  # worth as much as 2,400 of each, and cheaper


class World(NamedTuple):
    """What is known before the first round: online and offline means, N, V."""

    online: Array
    offline: Array
    logs: Array
    bound: Array


class State(NamedTuple):
    """All runs at once, by (run, arm): T, S, N, m, V, and the plays so far."""

    T: Array
    S: Array
    N: Array
    m: Array
    V: Array
    plays: int


def normal(mean: Array, n: Array, rng: np.random.Generator) -> Array:
    """Normals of variance 1/n; NumPy's own `normal` takes thrice as long with arrays."""
    return np.asarray(mean + rng.standard_normal(mean.shape) / np.sqrt(n))


def ts(s: State, rng: np.random.Generator) -> Array:
    return normal(s.S / (s.T + 1), s.T + 1, rng)


def anchor_ts(s: State, rng: np.random.Generator) -> Array:
    on_mean = s.S / (s.T + 1)
    hyb_mean = (s.S + s.N * s.m) / (s.T + s.N + 1)
    z = np.where(s.N > 0, s.N * s.V / np.maximum(s.T + s.N, 1), 0.0)
    theta_on = normal(on_mean, s.T + 1, rng)
    theta_hyb = normal(hyb_mean, s.T + s.N + 1, rng) + z
    return np.clip(theta_on, np.minimum(on_mean, theta_hyb), np.maximum(on_mean, theta_hyb))


def upper(mean_sum: Array, n: Array, log: Array | float) -> Array:
    safe = np.maximum(n, 1)
    return np.where(n > 0, mean_sum / safe + np.sqrt(2 * log / safe), np.inf)


def ucb(s: State, rng: np.random.Generator) -> Array:
    return upper(s.S, s.T, math.log(max(s.plays, 1)))


def hucb1(s: State, rng: np.random.Generator) -> Array:
    return upper(s.S + s.N * s.m, s.T + s.N, np.log(np.maximum(s.plays + s.N, 1)))


def min_ucb(s: State, rng: np.random.Generator) -> Array:
    log = math.log(max(s.plays, 1))
    pulled = np.maximum(s.T + s.N, 1)
    hybrid = upper(s.S + s.N * s.m, s.T + s.N, log)
    hybrid = hybrid + np.where(s.N > 0, s.N * s.V / pulled, 0.0)
    return np.where(s.T > 0, np.minimum(upper(s.S, s.T, log), hybrid), np.inf)


Rule = Callable[[State, np.random.Generator], Array]
RULES: dict[str, Rule] = {
    "anchor-ts": anchor_ts,
    "ts": ts,
    "ucb": ucb,
    "hybrid-ucb": hucb1,
    "min-ucb": min_ucb,
}

BASE = World(
    np.array([0.8] + [0.5] * 4),
    np.array([0.5] + [0.6] * 4),
    np.full(5, 200.0),
    np.array([0.3] + [0.1] * 4),
)
UNEVEN = World(
    np.array([0.2, 0.9, 0.5, 0.6]),
    np.array([0.8, 0.4, 0.5, 0.0]),
    np.array([40.0, 15.0, 100.0, 0.0]),
    np.array([0.6, np.inf, 0.1, 0.2]),
)
WORLDS = {"biased base": BASE, "uneven": UNEVEN}


def naive(rule: Rule, world: World, seed: int, runs: int) -> Array:
    """The pulls of each arm at the horizon, by (run, arm)."""
    rng = np.random.default_rng(seed)
    shape = (runs, world.online.size)
    every = np.arange(runs)
    m = rng.normal(world.offline, 1 / np.sqrt(np.maximum(world.logs, 1)), shape)
    pulls, sums = np.zeros(shape), np.zeros(shape)
    for plays in range(HORIZON):
        index = rule(State(pulls, sums, world.logs, m, world.bound, plays), rng)
        best = index == index.max(axis=1, keepdims=True)
        arm = np.argmax(best, axis=1)
        tied = best.sum(axis=1) > 1
        if tied.any():  # each of them is as likely
            ties = best[tied]
            arm[tied] = np.argmax(ties * rng.uniform(0.5, 1.0, ties.shape), axis=1)
        sums[every, arm] += world.online[arm] + rng.standard_normal(runs)
        pulls[every, arm] += 1
    return pulls


def same_law(a: Array, b: Array, false_alarm: float) -> None:
    """The two-sample test of Kolmogorov and Smirnov, from its limit law."""
    values = np.unique(np.concatenate([a, b]))
    shares = [np.searchsorted(np.sort(x), values, side="right") / x.size for x in (a, b)]
    distance = np.abs(shares[0] - shares[1]).max()
    limit = math.sqrt(math.log(2 / false_alarm) / 2 * (1 / a.size + 1 / b.size))
    assert distance < limit, (distance, limit)


def agree(
    name: str, bandit: Bandit, naively: Array, seed: int, each: float, chance: Chance
) -> None:
    """Four tests of the package's runs against the naive pulls, each with this false alarm.

    Means that are a fifth of a standard deviation apart are told apart nineteen times in twenty,
    and in `make torture`, with ten times the runs, those a sixteenth apart.
    """
    runs = len(naively) * RUNS // NAIVE_RUNS
    result = simulate(name, bandit, horizon=HORIZON, runs=runs, seed=seed, checkpoints=1)
    regret = naively @ bandit.gaps
    chance.same_mean(result.final(name), regret, false_alarm=each)
    same_law(np.round(result.final(name), 6), np.round(regret, 6), each)
    for arm in (0, 1):
        pulls = result.pulls[0, :, arm].astype(np.float64)
        chance.same_mean(pulls, naively[:, arm], false_alarm=each)


@pytest.mark.slow
@pytest.mark.parametrize("world", list(WORLDS))
@pytest.mark.parametrize("name", list(RULES))
def test_it_agrees_with_the_package(name: str, world: str, chance: Chance, times: int) -> None:
    """Regret (mean and law) and the pulls of the first two arms: false alarm 1e-4 in all."""
    known = WORLDS[world]
    each = 1e-4 / (4 * len(RULES) * len(WORLDS))
    seed = [*RULES].index(name) * 10 + [*WORLDS].index(world)
    naively = naive(RULES[name], known, seed, NAIVE_RUNS * times)
    bandit = Bandit(known.online, known.offline, known.logs.astype(int), known.bound)
    agree(name, bandit, naively, seed, each, chance)


class Together(NamedTuple):
    """A world whose arms moved together: online means as they are now, N, V and W."""

    online: Array
    offline: Array
    logs: Array
    bound: Array
    relative: Array


def believed_move(s: State, relative: Array, rng: np.random.Generator) -> Array:
    """One draw of the common move in each run."""
    used = (s.T > 0) & (s.N > 0) & np.isfinite(relative)
    variance = 1 / np.maximum(s.T, 1) + 1 / np.maximum(s.N, 1) + (relative / 2) ** 2
    w = np.where(used, 1 / variance, 0.0)
    y = s.S / np.maximum(s.T, 1) - s.m
    level = s.V[s.N > 0].max()
    q = w.sum(axis=1) + (0.0 if np.isinf(level) else 4 / level**2)
    known = q > 0
    q = np.where(known, q, 1.0)
    draw = (w * y).sum(axis=1) / q + rng.normal(size=len(q)) / np.sqrt(q)
    return np.asarray(np.where(known, draw, 0.0)[:, None])


def pulled_together(s: State, relative: Array, rng: np.random.Generator) -> State:
    """The logs as a rule for levels sees them once the common move is drawn."""
    c = believed_move(s, relative, rng)
    move = (s.N > 0) & np.isfinite(relative) & (c + relative <= s.V)
    fewer = s.N / (1 + s.N * np.where(np.isinf(relative), 0.0, relative) ** 2 / 4)
    return s._replace(
        N=np.where(move, fewer, s.N),
        m=np.where(move, s.m + c, s.m),
        V=np.where(move, relative, np.where(s.N > 0, s.V, 0.0)),
    )


def anchor_together(s: State, relative: Array, rng: np.random.Generator) -> Array:
    return anchor_ts(pulled_together(s, relative, rng), rng)


def hierarchical(s: State, relative: Array, rng: np.random.Generator) -> Array:
    c = believed_move(s, relative, rng)
    own = np.minimum(s.V, relative) / 2
    n = np.where(s.N > 0, 1 / (1 / np.maximum(s.N, 1) + own**2), 0.0)
    mean = s.m + np.where(np.isfinite(relative), c, 0.0)
    return normal((s.S + n * mean) / (s.T + n + 1), s.T + n + 1, rng)


def sam(s: State, relative: Array, rng: np.random.Generator) -> Array:
    s = pulled_together(s, relative, rng)
    pulls, logs = np.maximum(s.T, 1), np.where(s.N > 0, s.N, 1.0)
    mean = s.S / pulls
    d = np.abs(mean - s.m)
    bound = np.where(np.isinf(s.V), 0.0, s.V)
    w = 1 / (1 + np.exp(-s.T * bound * (bound - 2 * d) / 2))
    fits, vague = 1 / logs + 1 / pulls, 1 + 1 / pulls
    f = w * np.exp(-(d**2) / (2 * fits)) / np.sqrt(fits)
    g = (1 - w) * np.exp(-(mean**2) / (2 * vague)) / np.sqrt(vague)
    chance = np.where(s.T > 0, f / (f + g), 0.5)
    chance = np.where((s.N > 0) & np.isfinite(s.V), chance, 0.0)
    informed = normal((s.S + logs * s.m) / (s.T + logs), s.T + logs, rng)
    alone = normal(s.S / (s.T + 1), s.T + 1, rng)
    return np.where(rng.uniform(size=s.T.shape) < chance, informed, alone)


SharedRule = Callable[[State, Array, np.random.Generator], Array]
SHARED: dict[str, SharedRule] = {
    "anchor-ts": anchor_together,
    "hierarchical-ts": hierarchical,
    "sam-ts": sam,
}
TOGETHER = {
    "one bound": Together(
        np.array([0.8, 0.5, 0.4, 0.5]) - 1.0,
        np.array([0.7, 0.6, 0.4, 0.0]),
        np.array([40.0, 15.0, 100.0, 0.0]),
        np.full(4, np.inf),
        np.array([0.2, 0.2, 0.05, 0.1]),
    ),
    "both bounds": Together(
        np.array([0.8, 0.5, 0.4]) + 0.2,
        np.array([0.7, 0.6, 0.4]),
        np.array([40.0, 15.0, 100.0]),
        np.array([0.3, 0.2, 0.4]),
        np.array([0.2, np.inf, 0.3]),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("world", list(TOGETHER))
@pytest.mark.parametrize("name", list(SHARED))
def test_it_agrees_where_logs_move_together(
    name: str, world: str, chance: Chance, times: int
) -> None:
    """Regret (mean and law) and the pulls of the first two arms: false alarm 1e-4 in all."""
    known = TOGETHER[world]
    each = 1e-4 / (4 * len(SHARED) * len(TOGETHER))
    seed = 500 + [*SHARED].index(name) * 10 + [*TOGETHER].index(world)
    levels = World(known.online, known.offline, known.logs, known.bound)
    rule = SHARED[name]
    naively = naive(lambda s, rng: rule(s, known.relative, rng), levels, seed, NAIVE_RUNS * times)
    bandit = Bandit(
        known.online,
        known.offline,
        known.logs.astype(int),
        known.bound,
        relative_bound=known.relative,
    )
    agree(name, bandit, naively, seed, each, chance)
