"""Guarded Anchor-TS written naively: plain NumPy over (run, arm), from the docstrings alone.

It shares no line with the package.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from guarded_cases import INF, Array

from driftanchor import Bandit, Evidence, GuardedAnchorTS


class Seen(NamedTuple):
    """All that is known, by (run, arm); V, W and who can be played by arm."""

    T: Array
    S: Array
    N: Array
    m: Array
    V: Array
    W: Array
    pending: Array
    playable: Array


class Naive(NamedTuple):
    """What the naive rule says: c and its sd by (run, 1), the rest by (run, arm) or run."""

    c: Array
    sd: Array
    guess: Array
    U: Array
    leader: Array
    threshold: Array
    guard: Array
    online: Array


def one_run(evidence: Evidence) -> Seen:
    return Seen(
        evidence.pulls[None] + 0.0,
        evidence.totals[None],
        evidence.offline_pulls + 0.0,
        evidence.offline_means[None],
        evidence.bias_bounds,
        evidence.relative_bounds,
        evidence.pending[None] + 0.0,
        evidence.playable,
    )


def worth(rule: GuardedAnchorTS, e: Seen, c: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Whether the logs speak, and as moved; their mean then, their bound, and N'."""
    with np.errstate(invalid="ignore"):
        level = c + e.W > e.V
    moves = (e.N > 0) & np.isfinite(e.W) & ~level
    bound = np.where(moves, e.W, e.V)
    speak = (e.N > 0) & np.isfinite(bound)
    bound = np.where(speak, bound, 0.0)
    mean = np.where(moves, e.m + c, e.m)
    counts = np.where(speak, 1 / (1 / np.maximum(e.N, 1) + (bound / rule.noise / 2) ** 2), 0.0)
    return speak, moves, mean, bound, counts


def joint_bound(n: Array, live: Array, logs: Array, u: Array, allowed: Array) -> Array:
    """The largest x ≥ u with n (x − live)² + N (x − u)² ≤ allowed, by halving; u where none is."""
    low, high = u.copy(), u + np.sqrt(allowed / np.maximum(logs, 1)) + 1e-9
    for _ in range(36):  # to less than 1e-9
        x = (low + high) / 2
        fits = n * (x - live) ** 2 + logs * (x - u) ** 2 <= allowed
        low, high = np.where(fits, x, low), np.where(fits, high, x)
    return low


def naive(rule: GuardedAnchorTS, e: Seen, t: int) -> Naive:
    """The rule line by line, as its docstrings have it."""
    s, runs = rule.noise, len(e.T)
    counted, arms = np.maximum(e.T, 1), max(1, int(e.playable.sum()))
    pulled = e.T > 0
    live = e.S / counted

    c, sd = np.zeros((runs, 1)), np.zeros((runs, 1))
    largest = e.V[e.N > 0].max(initial=0.0)
    if np.isfinite(e.W).any() and largest > 0:
        used = pulled & (e.N > 0) & np.isfinite(e.W)
        w = np.where(used, 1 / (s**2 * (1 / counted + 1 / np.maximum(e.N, 1)) + e.W**2 / 4), 0.0)
        q = w.sum(axis=1, keepdims=True) + 4 / largest**2
        total = np.where(used, w * (live - e.m), 0.0).sum(axis=1, keepdims=True)
        c = np.where(q > 0, total / np.where(q > 0, q, 1.0), 0.0)
        sd = np.where(q > 0, 1 / np.sqrt(np.where(q > 0, q, 1.0)), s)

    speak, moves, m, bound, weight = worth(rule, e, c)
    n = e.T + e.pending

    def best(values: Array, among: Array) -> Array:
        found = np.where(among & e.playable, values, -INF).max(axis=1, keepdims=True)
        return np.asarray(found)

    level = best(live, pulled)
    level = np.where(level == -INF, best(m, speak), level)
    level = np.where(level == -INF, rule.prior_mean, level)
    total = e.T + weight
    guesses = np.where(total > 0, (e.S + weight * m) / np.where(total > 0, total, 1.0), level)
    may_fail = rule.budget > 0 or rule.eps > 0
    reach = rule.clip * s / np.sqrt(counted)
    limited = np.where(pulled, np.clip(guesses, live - reach, live + reach), guesses)
    guesses = limited if may_fail else guesses

    def r(count: Array, share: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(s * np.sqrt(2 * np.maximum(0, np.log(t / share)) / count))

    mine = np.where(e.playable, n + 1, 0.0)
    others = mine.sum(axis=1, keepdims=True) - mine.max(axis=1, keepdims=True)
    x, r1 = np.where(pulled, live, level), r(np.maximum(n, 1), np.minimum(arms * n, n + others))
    online = np.where(n > 0, x + 0.5 * s / np.maximum(n, 1) + r1, INF)
    audit = x + rule.budget * s / np.maximum(n, 1) + (math.sqrt(rule.eps) * r1 if rule.eps else 0.0)
    audit = np.where(n > 0, audit, INF)
    if not may_fail:
        audit = np.where(pulled, audit, -INF)

    u = m + bound * np.where(moves & (not may_fail), 2, 1)
    both = np.where(speak, n + e.N, 1.0)
    r2 = r(both, arms * both)
    pooled = (e.S + e.N * u) / np.maximum(e.T + e.N, 1) + r2
    logs = np.broadcast_to(e.N, n.shape)
    joint = np.minimum(pooled, joint_bound(n, live, logs, u, both * r2**2))
    hybrid = np.where(pulled, np.where(live < u, joint, pooled), u + r2)
    n2 = np.where(moves, n + weight, 1.0)
    likely = np.where(total > 0, (e.S + weight * m) / np.where(total > 0, total, 1.0), 0.0)
    likely = likely + np.maximum(s / np.sqrt(n2), r(n2, arms * n2))
    hybrid = np.where(moves & may_fail, np.minimum(hybrid, likely), hybrid)

    fit = np.where(e.playable, guesses, -INF)
    leader = fit.argmax(axis=1)
    lead = np.arange(runs), leader
    margin = np.where(speak[lead], 0.0, sd[:, 0] * math.sqrt(2 * math.log(t + 1)))[:, None]
    hybrid = hybrid + margin
    upper = np.sort([audit, online, hybrid], axis=0)[1]
    upper = np.where(e.pending >= np.maximum(4, e.T), np.minimum(upper, hybrid), upper)
    upper = np.where(speak, upper, online)
    threshold = np.maximum(fit[lead], upper[lead])
    guard = np.where(e.playable, upper, -INF).max(axis=1) > threshold
    return Naive(c, sd, guesses, upper, leader, threshold, guard, online)


def naive_index(
    rule: GuardedAnchorTS, e: Seen, ours: Naive, c: Array, on: Array, hyb: Array
) -> Array:
    """U in a guard pull, otherwise the median of the guess and two samples."""
    _, _, m, _, weight = worth(rule, e, c)
    total = np.where(e.T + weight > 0, e.T + weight, 1.0)
    hybrid = (e.S + weight * m) / total + rule.noise / np.sqrt(total) * hyb
    counted = np.maximum(e.T, 1)
    online = np.where(e.T > 0, e.S / counted + rule.noise / np.sqrt(counted) * on, hybrid)
    drawn = np.sort([ours.guess, online, hybrid], axis=0)[1]
    drawn = np.where(e.T + weight > 0, drawn, ours.online)
    return np.asarray(np.where(ours.guard[:, None], ours.U, drawn))


def naive_pulls(rule: GuardedAnchorTS, world: Bandit, horizon: int, runs: int, seed: int) -> Array:
    """The pulls of each arm at the horizon, by (run, arm), with NumPy's own noise."""
    rng, every, shape = np.random.default_rng(seed), np.arange(runs), (runs, world.online.size)
    logs = world.offline_pulls + 0.0
    m = np.where(logs > 0, rng.normal(world.offline, 1 / np.sqrt(np.maximum(logs, 1)), shape), 0.0)
    pulls, total, pending = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    coming: list[tuple[Array, Array]] = []
    on = np.ones(shape[1], np.bool_)
    for t in range(1, horizon + 1):
        if len(coming) > world.delay:
            due, reward = coming.pop(0)
            pulls[every, due] += 1
            total[every, due] += reward
            pending[every, due] -= 1
        e = Seen(pulls, total, logs, m, world.bias_bound, world.relative_bound, pending, on)
        ours = naive(rule, e, t)
        c = ours.c + ours.sd * rng.normal(size=(runs, 1))
        index = naive_index(rule, e, ours, c, rng.normal(size=shape), rng.normal(size=shape))
        best = index == index.max(axis=1, keepdims=True)
        column = np.argmax(best * rng.uniform(0.5, 1.0, shape), axis=1)
        coming.append((column, rng.normal(world.online[column], 1.0)))
        pending[every, column] += 1
    return np.asarray(pulls + pending)
