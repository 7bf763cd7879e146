"""Whether two engines have the same law: Kolmogorov–Smirnov over many runs, for `measure.py`."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.simulation import Bandit, simulate

TIMES = 15  # how many times the usual number of runs: 30,000


BOTH = ("anchor-ts", "ts")  # hybrid TS has the law of TS, and optimistic TS is half of Anchor-TS


class Setting(NamedTuple):
    """A bandit, how long it is played, and by which policies."""

    bandit: Bandit
    horizon: int = 10_000
    policies: tuple[str, ...] = BOTH


def settings() -> dict[str, Setting]:
    """Where the engines are compared."""
    biased = Bandit.paper(biased=True)
    spread = np.linspace(0.2, 0.9, 500)
    bernoulli = Bandit([0.6, 0.5, 0.4], [0.5, 0.5, 0.5], [20, 0, 100], reward="bernoulli")
    return {
        "biased": Setting(biased),
        "small gap": Setting(Bandit.paper(biased=False, gap=0.1, coverage="suboptimal")),
        "no logs": Setting(Bandit(biased.online)),
        "V = 0.6": Setting(
            Bandit(biased.online, biased.offline, 200, 0.6), policies=("anchor-ts",)
        ),
        "Bernoulli": Setting(bernoulli),
        "500 arms": Setting(Bandit(spread, spread[::-1], 20, 0.7), 300),
        "biased, long": Setting(biased, 100_000, ("anchor-ts",)),
    }


def chance_of_gap(a: Floats | Ints, b: Floats | Ints) -> float:
    """A bound on the chance that two samples of one law differ so much (Massart 1990).

    The largest distance of the two distribution functions, as in Kolmogorov and Smirnov's test;
    ties make the bound only more careful.
    """
    values = np.union1d(a, b)
    below_a = np.searchsorted(np.sort(a), values, side="right") / a.size
    below_b = np.searchsorted(np.sort(b), values, side="right") / b.size
    gap = float(np.abs(below_a - below_b).max())
    return min(1.0, 2.0 * math.exp(-2.0 * gap * gap / (1 / a.size + 1 / b.size)))


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """The block of the page: the least chance for each setting, policy and engine."""
    rows = list(compare(TIMES * runs, seed, progress))
    return {"engines": {"kind": "exactness", "runs": TIMES * runs, "seed": seed, "rows": rows}}


def compare(runs: int, seed: int, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """One row for each setting, policy and engine: the least chances over regret and over arms."""
    for name, (bandit, horizon, policies) in settings().items():
        effort: dict[str, Any] = {"horizon": horizon, "runs": runs, "checkpoints": 4}
        for policy in policies:
            progress(f"{name}: {policy}")
            every = simulate(policy, bandit, seed=seed, engine="every-round", **effort)
            for i, engine in enumerate(("thinned", "events")):
                other = simulate(policy, bandit, seed=seed + 1 + i, engine=engine, **effort)
                yield {
                    "setting": name,
                    "horizon": horizon,
                    "policy": policy,
                    "engine": engine,
                    "regret": _least(every.regret[0], other.regret[0]),
                    "pulls": _least(every.pulls[0], other.pulls[0]),
                    "checks": every.regret.shape[2] + every.pulls.shape[2],
                }


def _least(a: Floats | Ints, b: Floats | Ints) -> float:
    return min(chance_of_gap(a[:, i], b[:, i]) for i in range(a.shape[1]))
