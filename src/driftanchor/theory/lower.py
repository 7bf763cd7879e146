"""What no policy can avoid: the lower bound of Lai & Robbins (1985).

A policy is *uniformly consistent* when its regret is o(T^a) for every a > 0 on every bandit of the
family. Every such policy pulls a sub-optimal arm at least (1 + o(1)) log T / kl times, both in
expectation and in probability, where kl is the divergence of the arm's law from that of the best.
The bound is for online rewards alone: valid logs are knowledge, and can go below it.
"""

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.theory import inputs


def lai_robbins(gap: npt.ArrayLike, noise: npt.ArrayLike = 1.0) -> Floats:
    """Pulls of a Gaussian sub-optimal arm for each unit of log T, 2σ²/Δ².

    Source: Lai & Robbins 1985, with kl(N(μ, σ²), N(μ + Δ, σ²)) = Δ²/(2σ²).

    Args:
        gap: Δ > 0.
        noise: σ > 0, known to the policy.

    Example:
        >>> float(lai_robbins(0.5) * np.log(1e5))
        92.1034...
    """
    delta = inputs.array(gap, "gap", above=0.0)
    sigma = inputs.array(noise, "noise", above=0.0)
    inputs.fit(gap=delta, noise=sigma)
    return inputs.per_squared_gap(2.0 * sigma**2, delta)


def lai_robbins_bernoulli(mean: npt.ArrayLike, best_mean: npt.ArrayLike) -> Floats:
    """Pulls of a Bernoulli sub-optimal arm for each unit of log T, 1/kl(μ, μ*).

    Never more than 1/(2Δ²), the Gaussian value at σ = 1/2 (Pinsker); 0 when μ* = 1, since one
    failure then rules the arm out.

    Source: Lai & Robbins 1985.

    Args:
        mean: μ in [0, 1) of the arm.
        best_mean: μ* in (0, 1], above μ.

    Example:
        >>> lai_robbins_bernoulli([0.2, 0.02], [0.5, 0.05]).round(2).tolist()
        [5.19, 82.35]
    """
    p = inputs.array(mean, "mean", low=0.0, high=1.0)
    q = inputs.array(best_mean, "best_mean", low=0.0, high=1.0)
    inputs.fit(mean=p, best_mean=q)
    if not np.all(p < q):
        low, high = (x[~(p < q)][0] for x in np.broadcast_arrays(p, q))
        raise InvalidInput(f"must be greater than mean {low:g}, got {high:g}", argument="best_mean")
    with np.errstate(divide="ignore", over="ignore"):  # kl underflows where μ and μ* all but meet
        return np.asarray(1.0 / kl_bernoulli(p, q))


def kl_bernoulli(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Kullback–Leibler divergence of Bernoulli laws, p log(p/q) + (1 − p) log((1 − p)/(1 − q)).

    With 0 log 0 = 0; infinite when q is 0 or 1 and p is not the same. It is d(p, q) of Lemma
    "vanilla-bad-event-mu" in arXiv 2605.10289, where d(x, y) is printed for d(x, μ) (E8).

    Args:
        p: In [0, 1].
        q: In [0, 1].

    Example:
        >>> kl_bernoulli([0.5, 0.0, 0.5], [0.25, 0.5, 1.0]).round(4).tolist()
        [0.1438, 0.6931, inf]
    """
    a = inputs.array(p, "p", low=0.0, high=1.0)
    b = inputs.array(q, "q", low=0.0, high=1.0)
    inputs.fit(p=a, q=b)
    return inputs.positive_part(_term(a, b, b - a) + _term(1.0 - a, 1.0 - b, a - b))


def _term(x: Floats, y: Floats, change: Floats) -> Floats:
    """One term x log(x/y), where y = x + change; `log1p` keeps digits when y is near x."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # in what `where` drops
        near = -x * np.log1p(change / x)
        far = x * (np.log(x) - np.log(y))
    return np.where(x == 0.0, 0.0, np.where(np.abs(change) <= x / 2, near, far))
