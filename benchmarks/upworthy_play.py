"""Policies on pairs of tests: who plays, with which promise, and the clicks that each loses."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.retests import Pair
from driftanchor.core.check import Floats
from driftanchor.live.terms import default_policy
from driftanchor.policies import Policy, make
from driftanchor.simulation import Bandit, simulate


class Entry(NamedTuple):
    """A policy, what it is promised, and how sure that is."""

    policy: str
    promise: str = "V"  # V, W, or both
    source: str = "estimated"


class Bounds(NamedTuple):
    """V and W of every pair."""

    level: Floats
    relative: Floats


DEFAULT = "guarded-anchor-ts"
ENTRIES = {
    "ts": Entry("ts"),
    "optimistic-ts": Entry("optimistic-ts"),
    "ucb": Entry("ucb"),
    "hybrid-ts": Entry("hybrid-ts"),
    "hybrid-ucb": Entry("hybrid-ucb"),
    "artificial-replay": Entry("artificial-replay"),
    "min-ucb, V": Entry("min-ucb"),
    "anchor-ts, V": Entry("anchor-ts"),
    "anchor-ts, W": Entry("anchor-ts", "W"),
    "hierarchical-ts, W": Entry("hierarchical-ts", "W"),
    "sam-ts, W": Entry("sam-ts", "W"),
    f"{DEFAULT}, V": Entry(DEFAULT),
    f"{DEFAULT}, W": Entry(DEFAULT, "W"),
    f"{DEFAULT}, V and W": Entry(DEFAULT, "V and W"),
    f"{DEFAULT}, W proved": Entry(DEFAULT, "W", "proved"),
}

Lost = dict[str, Floats]  # clicks lost by (pair, run)


def policy_of(pair: Pair, entry: Entry) -> Policy:
    """In the units of the earlier test, as `Learner` sets them."""
    default, _ = default_policy(pair.offline, (0.0, 1.0), entry.source)
    if entry.policy == DEFAULT:
        return default
    return make(entry.policy, prior_mean=default.prior_mean, noise=default.noise)


def world(pair: Pair, promise: str, level: float, relative: float) -> Bandit:
    """The later test, with the earlier one as given logs."""
    logs = pair.offline
    if promise == "V and W":  # V alone says that no arm is farther than 2 V from another
        relative = min(relative, 2 * level)
    return Bandit(
        pair.online,
        logs.mean,
        logs.n,
        level if "V" in promise else math.inf,
        reward="bernoulli",
        logs="given",
        relative_bound=relative if "W" in promise else None,
    )


def play(pairs: list[Pair], bounds: Bounds, labels: Iterable[str], asked: Any) -> Lost:
    """Every entry on every pair."""
    lost: dict[str, list[Floats]] = {label: [] for label in labels}
    for number, (pair, v, w) in enumerate(zip(pairs, *bounds, strict=True)):
        for label, rows in lost.items():
            entry = ENTRIES[label]
            result = simulate(
                {label: policy_of(pair, entry)},
                world(pair, entry.promise, float(v), float(w)),
                horizon=min(pair.impressions, asked.most),
                runs=asked.runs,
                seed=asked.seed + number,
                checkpoints=1,
                engine=asked.engine,
            )
            rows.append(result.final(label))
    return {label: np.stack(rows) for label, rows in lost.items()}


def without_learning(pairs: list[Pair], asked: Any) -> Lost:
    """What two rules lose that look at nothing online: an arm at random, and the log's best."""
    found: dict[str, list[float]] = {"an arm at random": [], "always the log's best": []}
    for pair in pairs:
        gaps = pair.online.max() - pair.online
        horizon = min(pair.impressions, asked.most)
        found["an arm at random"].append(horizon * float(gaps.mean()))
        found["always the log's best"].append(horizon * float(gaps[pair.offline.mean.argmax()]))
    return {name: np.array(rows)[:, None] for name, rows in found.items()}


def stakes(pairs: list[Pair], asked: Any) -> Floats:
    """The most clicks that can be lost in each pair: the worst arm in every round."""
    return np.array([min(p.impressions, asked.most) * np.ptp(p.online) for p in pairs])
