"""The law of rewards that logs suggest, and what it leaves open of the means behind them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import Range
from driftanchor.core.stats.summary import is_binary
from driftanchor.errors import InvalidInput

LAWS = ("auto", "gaussian", "bernoulli")
JEFFREYS = 0.5  # added to successes and to failures: the flat prior for a rate
COINS = (0.0, 1.0)
NEAR = 0.1  # of a variance: numbers that people typed are rounded
FAIR = 0.5  # standard deviation of a fair coin; no other has more


@dataclass(frozen=True)
class RewardLaw:
    """How rewards are drawn.

    Attributes:
        name: `"gaussian"` or `"bernoulli"`, or `"resampled"` from rewards that were seen.
        noise: Standard deviation of a reward; of coins the most it can be.
        why: In words.
    """

    name: str
    noise: float
    why: str


def law_of(offline: OfflineData, asked: str, reward_range: Range) -> RewardLaw:
    """Coins where the variances are those of coins, otherwise Gaussian.

    Args:
        offline: The logs.
        asked: One of `LAWS`; `"auto"` to look at the logs.
        reward_range: Lowest and highest reward.

    Example:
        >>> logs = OfflineData.from_summary({"A": (4, 0.5, 1 / 3), "B": (5, 0.2, 0.2)})
        >>> law_of(logs, "auto", (0.0, 1.0)).name
        'bernoulli'
    """
    check.choice(asked, "law", LAWS)
    logged = offline.n > 0
    means, noise = offline.mean[logged], offline.pooled_noise()
    if asked != "gaussian" and is_binary(offline.n[logged], means, offline.variance[logged]).all():
        return RewardLaw("bernoulli", FAIR, "all logged rewards are 0 or 1")
    if asked == "bernoulli":
        if ((means < 0) | (means > 1)).any():
            raise InvalidInput(
                f"is 'bernoulli' and the logged means go from {means.min():g} to "
                f"{means.max():g}: rewards of 0 and 1 have means in between",
                argument="law",
            )
        _warn_of_no_coins(offline)
        return RewardLaw("bernoulli", FAIR, "as asked")
    if noise > 0:
        return RewardLaw("gaussian", noise, "noise as the logs have it within arms")
    if noise == 0:
        raise InvalidInput(
            "the logged rewards of each arm are all equal: there is no noise to simulate; is it "
            "the right column?"
        )
    half = (reward_range[1] - reward_range[0]) / 2
    if not math.isfinite(half):
        raise InvalidInput(
            "the logs have no variances, so the noise of a reward is not known: give (n, mean, "
            "variance), a reward_range, or law='bernoulli' for rewards of 0 and 1"
        )
    return RewardLaw("gaussian", half, "the logs have no variances: half of the range of rewards")


def _warn_of_no_coins(offline: OfflineData) -> None:
    """Warn where a logged variance is not near that of coins, m (1 − m)."""
    for label, n, m, variance in zip(
        offline.arms, offline.n, offline.mean, offline.variance, strict=True
    ):
        coins = m * (1 - m)
        if n > 1 and abs(variance * (n - 1) / n - coins) > NEAR * coins:
            warnings.warn(
                f"law is 'bernoulli', and the logged rewards are not all 0 or 1: those of arm "
                f"{label!r} have the variance {variance:.4g}, and coins with their mean {m:.4g} "
                f"have {coins:.4g}; leave law out to decide by the logs",
                stacklevel=4,
            )
            return


def draw_means(law: RewardLaw, offline: OfflineData, worlds: int, seed: int) -> Floats:
    """The means that may be behind the logs: one row for each world, drawn from their posterior.

    Gaussian: N(m, σ²/N). Coins: Beta(½ + N m, ½ + N (1 − m)). An arm without logs is taken for one
    like the others: in each world it has a draw of its own from the posterior of one of them. More
    worlds leave the first ones as they are.
    """
    rng, other = (np.random.default_rng(int(key(seed, f"plan/{x}"))) for x in ("means", "arms"))
    logged = np.flatnonzero(offline.n > 0)
    columns = np.tile(np.arange(len(offline.arms)), (worlds, 1))
    columns = np.where(offline.n > 0, columns, other.choice(logged, size=columns.shape))
    n, mean = offline.n[columns], offline.mean[columns]
    if law.name == "bernoulli":
        drawn = rng.beta(JEFFREYS + n * mean, JEFFREYS + n * (1 - mean))
    else:
        drawn = mean + law.noise / np.sqrt(n) * rng.standard_normal(mean.shape)
    return np.asarray(drawn)
