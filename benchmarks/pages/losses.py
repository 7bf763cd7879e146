"""What a policy loses in a world: the final regret of every run, and what pages keep of it."""

import functools

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import summarise
from driftanchor.policies.base import Policy
from driftanchor.simulation import Bandit, simulate

QUANTILES = {"median": 0.5, "q99": 0.99}


@functools.cache
def regrets(policy: Policy, bandit: Bandit, horizon: int, runs: int, seed: int) -> Floats:
    """Final regret of each run; the same runs are simulated once, whoever asks."""
    result = simulate(
        {"it": policy},
        bandit,
        horizon=horizon,
        runs=runs,
        seed=seed,
        checkpoints=1,
        engine="every-round",  # the engine that pairs runs
    )
    return result.final("it")


def statistics(lost: Floats) -> dict[str, float]:
    """Mean, standard error, median and 99 % quantile, as the pages keep them."""
    row = summarise(lost, QUANTILES)
    return {name: round(row[name], 3) for name in ("mean", "se", *QUANTILES)}
