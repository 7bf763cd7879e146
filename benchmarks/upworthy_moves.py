"""How far packages moved from one test to the next, in numbers and sentences."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.retests import Pair, Retests
from benchmarks.tables import Blocks
from driftanchor.core.check import Floats
from driftanchor.shift.two_way import Spread

DRAWS = 4_000  # of the own moves behind the noise of a pair


def of_own_moves(data: Retests, pairs: list[Pair], bounds: Floats, asked: Any) -> Blocks:
    """How far arms moved from each other, and how often W covers it, with noise and without."""
    spread = Spread(data.contrasts())
    tau = math.sqrt(2 * spread.own2)
    low, high = (math.sqrt(2 * x) for x in spread.own_interval(0.05))
    halves = [float(np.ptp(pair.online - pair.offline.mean)) / 2 for pair in pairs]
    seen = sum(half <= w for half, w in zip(halves, bounds, strict=True))
    rng = np.random.default_rng(asked.seed)
    behind = sum(
        float((np.ptp(own_moves(pair, tau, rng), axis=1) / 2 <= w).mean())
        for pair, w in zip(pairs, bounds, strict=True)
    )
    text = (
        f"W from the other pairs is {bounds.min():.4f} to {bounds.max():.4f}, "
        f"{np.median(bounds):.4f} in the median. The own move of a package from one test to the "
        f"next has the standard deviation {tau:.4f} (95 % interval {low:.4f} to {high:.4f}). Click "
        f"rates as they were counted moved within W of a common move in {seen} of {len(pairs)} "
        f"pairs. With the noise of counting taken out, W covers {behind:.1f} of {len(pairs)} pairs "
        "in expectation."
    )
    return {"upworthy-own": {"kind": "text", "text": text}}


def own_moves(pair: Pair, tau: float, rng: np.random.Generator) -> Floats:
    """Draws of the true own moves of a pair's arms, given its two tests.

    Own moves are N(0, τ²), the common move may be anything, and rates have the noise of coins.
    """
    moves = pair.online - pair.offline.mean
    noise = np.zeros(len(moves))
    for counts in (pair.earlier, pair.later):
        shown, clicks = np.array(list(counts.values()), dtype=np.float64).T
        noise += np.maximum(clicks, 1.0) / shown**2 * (1 - clicks / shown)
    contrast = np.diff(np.eye(len(moves)), axis=0)
    own = tau**2 * np.eye(len(moves))
    gain = own @ contrast.T @ np.linalg.inv(contrast @ (own + np.diag(noise)) @ contrast.T)
    left = own - gain @ contrast @ own
    return rng.multivariate_normal(gain @ contrast @ moves, left, DRAWS, method="svd")


def told(data: Retests, pairs: list[Pair], bounds: Floats, asked: Any) -> Blocks:
    """What the pairs are like, in numbers."""
    moves = [pair.online - pair.offline.mean for pair in pairs]
    between = data.history().one_way(pooled=True)
    tau = math.sqrt(between.estimate()[0])
    low, high = (math.sqrt(x[0]) for x in between.interval(0.05))
    within = sum(bool((np.abs(move) <= v).all()) for move, v in zip(moves, bounds, strict=True))
    same = sum(int(p.offline.mean.argmax() == p.online.argmax()) for p in pairs)
    medians: dict[str, Callable[[Pair], float]] = {
        "gap": lambda p: float(np.ptp(p.online)),
        "rate": lambda p: float(p.online.mean()),
        "noise": lambda p: p.offline.pooled_noise(),
    }
    middle = {name: float(np.median([of(p) for p in pairs])) for name, of in medians.items()}
    common = float(np.median([abs(move.mean()) for move in moves]))
    own = float(np.median([np.abs(move - move.mean()).mean() for move in moves]))
    every = data.pairs(1)
    rates = np.concatenate([pair.offline.mean for pair in every])
    sizes = np.abs(np.concatenate([pair.online - pair.offline.mean for pair in every]))
    ends = np.quantile(rates, [0.25, 0.75])
    rare, often = np.median(sizes[rates < ends[0]]), np.median(sizes[rates > ends[1]])
    horizons = [min(p.impressions, asked.most) for p in pairs]
    text = (
        f"{len(data.arms):,} packages were tested more than once; {len(pairs)} pairs of tests "
        f"share two packages or more, {sum(len(p.earlier) for p in pairs)} packages in all. "
        f"Between two tests of a package τ is {tau:.4f} (95 % interval {low:.4f} to {high:.4f}), "
        f"and V from the other retests is {bounds.min():.4f} to {bounds.max():.4f}. In the median "
        f"pair the click rate is {middle['rate']:.4f}, σ {middle['noise']:.3f}, and the best "
        f"package {middle['gap']:.4f} above the worst. V covers all moves in {within} of "
        f"{len(pairs)} pairs. All shared packages together moved by {common:.4f} in the median "
        f"pair, and each from the others by {own:.4f}. Moves grow with the rate: of all retests "
        f"the median move is {rare:.4f} in the quarter with the lowest rates and {often:.4f} in "
        f"that with the highest. In {same} of {len(pairs)} pairs the log's best package is the "
        f"best again. Rounds: {min(horizons):,} to {max(horizons):,} (at most {asked.most:,}); "
        f"{asked.runs} runs of each policy on each pair, seed {asked.seed}."
    )
    return {"upworthy-data": {"kind": "text", "text": text}}
