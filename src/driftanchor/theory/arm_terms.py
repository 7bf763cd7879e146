"""The terms of all regret bounds, computed together for the arms of one bandit."""

import math

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.theory.bounds import (
    anchor_pulls_shape,
    anchor_savings,
    array,
    effective_discrepancy,
    lai_robbins,
    min_ucb_bound,
    min_ucb_savings,
    online_anchor_pulls,
)

TERMS = {
    "gap": "Δ, the regret of one pull",
    "omega": "ω = V + offline mean − online mean, or W + offline mean + common move − online mean "
    "if that is smaller; 0 if the bound does not cover the bias",
    "logs": "N, logged rewards",
    "anchor saves": "N (1 − 3ω/Δ)₊, pulls that Anchor-TS saves thanks to logs",
    "min-ucb saves": "N ((1 − ω/Δ)₊)², pulls that MIN-UCB saves thanks to logs",
    "lai-robbins": "2σ² log T/Δ², the pulls that TS and every consistent policy need without logs",
    "anchor online": "σ² log T/Δ², the leading term of Anchor-TS without logs",
    "anchor shape": "Theorem 1 with C₁ = 2σ², C₂ = C₃ = σ²",
    "min-ucb shape": "(2σ² log T/Δ² − savings)₊",
}


def arm_terms(
    online: npt.ArrayLike,
    offline: npt.ArrayLike,
    offline_pulls: npt.ArrayLike,
    bias_bound: npt.ArrayLike,
    horizon: float,
    noise: float = 1.0,
    relative_bound: npt.ArrayLike = math.inf,
    common_shift: float = 0.0,
) -> tuple[list[int], dict[str, Floats]]:
    """Return the columns of the sub-optimal arms, and a dict with the terms of these arms.

    For each key of `TERMS`, the dict has an array with one value per sub-optimal arm.

    The paper's theorems cover bias bounds V only, with ω = V + offline mean − online mean. They
    extend to a relative bound W if the common move c is known: then ω = W + offline mean + c −
    online mean. The terms leave out the cost of learning c. If an arm has both bounds, the smaller
    ω is used.

    Args:
        online: Mean online reward of each arm.
        offline: Mean offline reward of each arm.
        offline_pulls: Number of logged rewards of each arm.
        bias_bound: Bias bound V of each arm.
        horizon: Number of rounds.
        noise: σ, the standard deviation of a reward.
        relative_bound: Relative bound W of each arm; infinite if there is none.
        common_shift: c, the common move of all arms. The online means must already include it.

    Example:
        >>> columns, terms = arm_terms([0.8, 0.5], [0.8, 0.5], [100, 100], [0, 0], 10_000)
        >>> columns, terms["anchor saves"].tolist(), terms["lai-robbins"].round(1).tolist()
        ([1], [100.0], [204.7])
    """
    means = array(online, "online")
    worse = means < means.max()
    if not worse.any():
        raise InvalidInput(
            "has no arm worse than the best: there is nothing to lose", argument="online"
        )
    logs, past = array(offline_pulls, "offline_pulls"), array(offline, "offline")
    gap, n = (means.max() - means)[worse], logs[worse]
    level = effective_discrepancy(means, past, bias_bound)
    relative = effective_discrepancy(
        means, past + array(common_shift, "common_shift"), array(relative_bound, "relative_bound")
    )
    omega = np.maximum(np.minimum(level, relative), 0.0)[worse]
    variance = float(array(noise, "noise")) ** 2
    best = logs[int(np.argmax(means))]
    values = (
        gap,
        omega,
        n,
        anchor_savings(n, omega, gap),
        min_ucb_savings(n, omega, gap),
        lai_robbins(gap, noise) * np.log(horizon),
        online_anchor_pulls(horizon, gap, noise=noise),
        anchor_pulls_shape(
            horizon, gap, n, omega, best, c1=2 * variance, c2=variance, c3=variance
        ).total,
        min_ucb_bound(horizon, gap, n, omega, c=2 * variance),
    )
    return np.flatnonzero(worse).tolist(), dict(zip(TERMS, values, strict=True))
