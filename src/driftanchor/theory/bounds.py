"""Regret bounds, lower bounds and savings, as functions that accept arrays.

All functions accept numbers or arrays and broadcast them as NumPy does. They return arrays, which
have shape () if all arguments are numbers. The bounds count online pulls of a sub-optimal arm.
Multiplied by the gap, they bound the regret from this arm.

Arguments:
    horizon: T ≥ 1, the number of rounds.
    gap: Δ > 0, the best online mean minus the arm's online mean.
    offline_pulls: N ≥ 0, the number of logged rewards of the arm.
    optimal_offline_pulls: N₁ ≥ 0, the number of logged rewards of the best arm. The bias bound of
        the best arm must be valid too.
    bias_bound: V ≥ 0; may be infinite.
    omega: ω ≥ 0 of the arm, from `effective_discrepancy`.
    noise: σ > 0, the standard deviation of a reward, known to the policy.
    posterior_scale: c > 0; the posterior variance after n pulls is c σ²/(n + 1).

Sources:
    Li, Fu, Chen & Kong (2026), arXiv 2605.10289: Theorem 1 and its appendix. E8, E11, … are entries
    of docs/evidence/errata.md.

    Cheung & Lyu (2024), "Leveraging (Biased) Information: Multi-armed Bandits with Offline Data",
    PMLR 235:8286, arXiv 2405.02594: MIN-UCB, as quoted below Theorem 1 of arXiv 2605.10289. The
    quotation omits the constant, so the constant is a parameter here.

    Lai & Robbins (1985). A policy is *uniformly consistent* if its regret is o(T^a) for every
    a > 0 on every bandit of the family. Every uniformly consistent policy pulls a sub-optimal arm
    at least (1 + o(1)) log T / kl times, where kl is the Kullback–Leibler divergence
    kl(arm, best arm) of the reward distributions. The bound is for online rewards alone. A policy
    with valid logs can need fewer pulls, because it knows more.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput, shown

LIMITS: dict[str, dict[str, Any]] = {
    "horizon": {"low": 1.0},
    "gap": {"above": 0.0},
    "offline_pulls": {"low": 0.0},
    "optimal_offline_pulls": {"low": 0.0},
    "omega": {"low": 0.0, "infinite": True},
    "bias_bound": {"low": 0.0, "infinite": True},
    "relative_bound": {"low": 0.0, "infinite": True},
    "noise": {"above": 0.0},
    "posterior_scale": {"above": 0.0},
    **{name: {"low": 0.0} for name in ("c", "c1", "c2", "c3")},
    **{name: {"low": 0.0, "high": 1.0} for name in ("p", "q", "mean", "best_mean")},
}
"""Limits that `array` checks, by argument name. Other arguments may be any finite number."""

SPLIT = 3.0
"""The analysis of Thompson sampling splits the gap into three parts and allots one to the bias. The
3ω/Δ in Theorem 1 comes from N ω/(T + N) ≥ Δ/3 in the proof of Lemma "goodEvent:sub-optimalArm"."""

ANCHOR_FACTOR = 0.5
"""Appendix "Pure Online Setting" of arXiv 2605.10289: the exploration threshold is L_i(T) for
Thompson sampling and L_i(T)/2 for Anchor-TS, because Anchor-TS squares the tail probability."""


def effective_discrepancy(
    online_mean: npt.ArrayLike, offline_mean: npt.ArrayLike, bias_bound: npt.ArrayLike
) -> Floats:
    """Return ω = V + offline mean − online mean, where V is the bias bound.

    If V is valid, ω lies in [0, 2V]: it is 0 if the logs understate the arm's mean by V, V if they
    are unbiased, and 2V if they overstate it by V. If ω is negative, V is not valid and no theorem
    holds, so the other functions reject a negative ω (E11 in docs/evidence/errata.md).

    Source: Theorem 1 of arXiv 2605.10289; Cheung & Lyu 2024 use the same ω.

    Example:
        >>> effective_discrepancy(0.5, [0.25, 0.5, 0.75, 0.0], 0.25).tolist()
        [0.0, 0.25, 0.5, -0.25]
    """
    online, offline, bound = arrays(
        online_mean=online_mean, offline_mean=offline_mean, bias_bound=bias_bound
    )
    return np.asarray(bound - (online - offline))  # in this order, exactly 0 if V = μ_on − μ_off


def anchor_savings(
    offline_pulls: npt.ArrayLike, omega: npt.ArrayLike, gap: npt.ArrayLike
) -> Floats:
    """Return N (1 − 3ω/Δ)₊, the number of online pulls that Anchor-TS saves thanks to logs.

    These are pulls of a sub-optimal arm with gap Δ and N logged rewards; ω comes from
    `effective_discrepancy`. The logs save N pulls if ω = 0, and none if ω ≥ Δ/3. The result never
    exceeds that of `min_ucb_savings` (E12 in docs/evidence/errata.md). Logs of the *optimal* arm
    are not discounted: see `anchor_pulls_shape`.

    Source: first term of Theorem 1, arXiv 2605.10289.

    Example:
        >>> anchor_savings(200, [0.0, 0.05, 0.1, 0.2], gap=0.3).round(9).tolist()
        [200.0, 100.0, 0.0, 0.0]
    """
    n, w, delta = arrays(offline_pulls=offline_pulls, omega=omega, gap=gap)
    return np.asarray(n * _positive_part(1.0 - SPLIT * _ratio(w, delta)))


def min_ucb_savings(
    offline_pulls: npt.ArrayLike, omega: npt.ArrayLike, gap: npt.ArrayLike
) -> Floats:
    """Return N ((1 − ω/Δ)₊)², the number of online pulls that MIN-UCB saves thanks to logs.

    These are pulls of a sub-optimal arm with gap Δ and N logged rewards; ω comes from
    `effective_discrepancy`. MIN-UCB saves at least as many as Anchor-TS (E12 in
    docs/evidence/errata.md).

    Source: Cheung & Lyu 2024, as quoted below Theorem 1 of arXiv 2605.10289.

    Example:
        >>> min_ucb_savings(200, [0.0, 0.05, 0.1, 0.2, 0.3], gap=0.3).round(2).tolist()
        [200.0, 138.89, 88.89, 22.22, 0.0]
    """
    n, w, delta = arrays(offline_pulls=offline_pulls, omega=omega, gap=gap)
    return np.asarray(n * _positive_part(1.0 - _ratio(w, delta)) ** 2)


class AnchorBound(NamedTuple):
    """The three terms of Theorem 1, which bounds the number of online pulls of a sub-optimal arm.

    Attributes:
        suboptimal: Pulls until the sub-optimal arm is known well enough. Logs of this arm reduce
            the number.
        optimal: Pulls until the best arm is known well enough. Logs of the best arm reduce the
            number.
        constant: Pulls until the online means are reliable. Logs do not reduce the number.
    """

    suboptimal: Floats
    optimal: Floats
    constant: Floats

    @property
    def total(self) -> Floats:
        """The sum of the three terms."""
        return np.asarray(self.suboptimal + self.optimal + self.constant)


def anchor_pulls_shape(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    offline_pulls: npt.ArrayLike,
    omega: npt.ArrayLike,
    optimal_offline_pulls: npt.ArrayLike,
    *,
    c1: npt.ArrayLike = 2.0,
    c2: npt.ArrayLike = 1.0,
    c3: npt.ArrayLike = 1.0,
) -> AnchorBound:
    """Return the bound of the Anchor-TS paper's Theorem 1, with constants of your choice.

    T is the horizon. The sub-optimal arm has the gap Δ and N logged rewards; its ω comes from
    `effective_discrepancy`. The best arm has N₁ logged rewards. The terms are::

        suboptimal = (C₁ log T/Δ² − N (1 − 3ω/Δ)₊)₊
        optimal    = (C₂ log T/Δ² − N₁)₊
        constant   = C₃/Δ²

    Use the bound to see how the number of pulls varies with logs, shift and gap, not to predict the
    number itself: with the constants of the proof it is vacuous (E10 in docs/evidence/errata.md).
    With the default C₁ and no logs, the first term is `lai_robbins` times log T for noise 1. For
    noise σ, use C₁ = 2σ². The default C₂ and C₃ are arbitrary.

    Source: Theorem 1 of arXiv 2605.10289.

    Example:
        >>> shape = anchor_pulls_shape(10_000, 0.3, [0, 200, 200], [0, 0, 0.05], [0, 0, 200])
        >>> shape.suboptimal.round(1).tolist(), shape.optimal.round(1).tolist()
        ([204.7, 4.7, 104.7], [102.3, 102.3, 0.0])
        >>> shape.total.round(1).tolist()
        [318.1, 118.1, 115.8]
    """
    t, delta, n, w, best, one, two, three = arrays(
        horizon=horizon,
        gap=gap,
        offline_pulls=offline_pulls,
        omega=omega,
        optimal_offline_pulls=optimal_offline_pulls,
        c1=c1,
        c2=c2,
        c3=c3,
    )
    terms = np.broadcast_arrays(
        _per_squared_gap(one * np.log(t), delta) - anchor_savings(n, w, delta),
        _per_squared_gap(two * np.log(t), delta) - best,
        _per_squared_gap(three, delta),
    )
    return AnchorBound(*map(_positive_part, terms))


def min_ucb_bound(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    offline_pulls: npt.ArrayLike,
    omega: npt.ArrayLike,
    *,
    c: npt.ArrayLike = 2.0,
) -> Floats:
    """Return (C log T/Δ² − N ((1 − ω/Δ)₊)²)₊, the order of the number of pulls under MIN-UCB.

    These are pulls of a sub-optimal arm with gap Δ and N logged rewards. T is the horizon, and ω
    comes from `effective_discrepancy`. Logs of the optimal arm do not enter the bound. The source
    does not specify C. With the default C and no logs, the bound is `lai_robbins` times log T for
    noise 1. For noise σ, use C = 2σ².

    Example:
        >>> min_ucb_bound(10_000, 0.3, [0, 100, 200, 1000], omega=0.1).round(1).tolist()
        [204.7, 160.2, 115.8, 0.0]
    """
    t, delta, n, w, factor = arrays(
        horizon=horizon, gap=gap, offline_pulls=offline_pulls, omega=omega, c=c
    )
    pulls = _per_squared_gap(factor * np.log(t), delta)
    return _positive_part(pulls - min_ucb_savings(n, w, delta))


def online_ts_pulls(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    posterior_scale: npt.ArrayLike = 1.0,
) -> Floats:
    """Return 2 c σ² log T/Δ², the leading term of the number of pulls under Thompson sampling.

    These are pulls of a sub-optimal arm. T is the horizon, Δ the gap, σ the noise and c the
    posterior scale. Let p be the probability that the arm's sample exceeds the best mean. The arm
    is pulled until p falls to 1/T. After n pulls, the posterior variance is about c σ²/n, so
    p ≈ exp(−n Δ²/(2 c σ²)).

    With c = 1, this is exactly the Lai–Robbins rate.

    Source: Agrawal & Goyal 2013, Lemma 2.16, as used in the appendix of arXiv 2605.10289.

    Example:
        >>> float(online_ts_pulls(1e5, 0.5))
        92.1034...
    """
    t, delta, sigma, scale = arrays(
        horizon=horizon, gap=gap, noise=noise, posterior_scale=posterior_scale
    )
    return _per_squared_gap(2.0 * scale * sigma**2 * np.log(t), delta)


def online_anchor_pulls(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    posterior_scale: npt.ArrayLike = 1.0,
) -> Floats:
    """Return c σ² log T/Δ², the leading term of the number of pulls under Anchor-TS without logs.

    These are pulls of a sub-optimal arm. T is the horizon, Δ the gap, σ the noise and c the
    posterior scale. An index below the best mean exceeds it only if *two* samples do, so the result
    is half of `online_ts_pulls`. With c = 1 and Gaussian rewards, it is half of what uniformly
    consistent policies need (`lai_robbins` times log T): rare runs never recover (E13 in
    docs/evidence/errata.md). With c = 2, it equals that minimum; the theorem covers c = 4.

    Source: appendix "Pure Online Setting" of arXiv 2605.10289.

    Example:
        >>> needed = lai_robbins(0.5) * np.log(1e5)
        >>> (online_anchor_pulls(1e5, 0.5, posterior_scale=[1, 2, 4]) / needed).tolist()
        [0.5, 1.0, 2.0]
    """
    pulls = online_ts_pulls(horizon, gap, noise=noise, posterior_scale=posterior_scale)
    return np.asarray(ANCHOR_FACTOR * pulls)


def lai_robbins(gap: npt.ArrayLike, noise: npt.ArrayLike = 1.0) -> Floats:
    """Return 2σ²/Δ², the lower bound on the number of pulls of an arm, divided by log T.

    The arm is sub-optimal and has Gaussian rewards. σ is the noise, Δ the gap and T the horizon.
    The bound holds for uniformly consistent policies: on every bandit, their regret grows more
    slowly than any power of T.

    Source: Lai & Robbins 1985, with kl(N(μ, σ²), N(μ + Δ, σ²)) = Δ²/(2σ²).

    Example:
        >>> float(lai_robbins(0.5) * np.log(1e5))
        92.1034...
    """
    delta, sigma = arrays(gap=gap, noise=noise)
    return _per_squared_gap(2.0 * sigma**2, delta)


def lai_robbins_bernoulli(mean: npt.ArrayLike, best_mean: npt.ArrayLike) -> Floats:
    """Return 1/kl(μ, μ*), the lower bound on the number of pulls of an arm, divided by log T.

    The arm is sub-optimal and has Bernoulli rewards with mean μ. μ* > μ is the mean of the best
    arm, kl the Kullback–Leibler divergence and T the horizon. By Pinsker's inequality, the result
    is at most 1/(2 (μ* − μ)²), the value for Gaussian rewards with σ = 1/2. It is 0 if μ* = 1,
    because then a single failure proves that an arm is not the best.

    Source: Lai & Robbins 1985.

    Example:
        >>> lai_robbins_bernoulli([0.2, 0.02], [0.5, 0.05]).round(2).tolist()
        [5.19, 82.35]
    """
    p, q = arrays(mean=mean, best_mean=best_mean)
    if not np.all(p < q):
        low, high = (x[~(p < q)][0] for x in np.broadcast_arrays(p, q))
        raise InvalidInput(f"must be greater than mean {low:g}, got {high:g}", argument="best_mean")
    with np.errstate(divide="ignore", over="ignore"):  # kl underflows if μ is close to μ*
        return np.asarray(1.0 / kl_bernoulli(p, q))


def kl_bernoulli(p: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Return the Bernoulli KL divergence, p log(p/q) + (1 − p) log((1 − p)/(1 − q)).

    0 log 0 counts as 0. The divergence is infinite if q is 0 or 1 and p differs from q. The
    Anchor-TS paper writes the divergence as d(p, q). Its Lemma "vanilla-bad-event-mu" misprints
    d(x, μ) as d(x, y) (E8 in docs/evidence/errata.md).

    Example:
        >>> kl_bernoulli([0.5, 0.0, 0.5], [0.25, 0.5, 1.0]).round(4).tolist()
        [0.1438, 0.6931, inf]
    """
    a, b = arrays(p=p, q=q)
    return _positive_part(_kl_term(a, b, b - a) + _kl_term(1.0 - a, 1.0 - b, a - b))


def _kl_term(x: Floats, y: Floats, change: Floats) -> Floats:
    """Return x log(x/y) for y = x + change. The result is precise even if y is close to x."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # `where` drops these
        near = -x * np.log1p(change / x)
        far = x * (np.log(x) - np.log(y))
    return np.where(x == 0.0, 0.0, np.where(np.abs(change) <= x / 2, near, far))


def array(value: npt.ArrayLike, name: str) -> Floats:
    """Convert an argument to an array of floats and check it against its `LIMITS`.

    Example:
        >>> array([0.3, -0.1], "gap")
        Traceback (most recent call last):
            ...
        driftanchor.errors.InvalidInput: gap of element 1 must be greater than 0, got -0.1
    """
    try:
        raw = np.asarray(value)
    except ValueError:
        raise InvalidInput(
            f"must be an array, got the ragged {shown(value)}", argument=name
        ) from None
    if raw.dtype.kind not in "iuf":
        raise InvalidInput(f"must be numbers, got {shown(value)}", argument=name)
    limits = LIMITS.get(name, {})
    x = raw.astype(np.float64)
    good = (x >= limits.get("low", -math.inf)) & (x <= limits.get("high", math.inf))
    if not limits.get("infinite"):
        good &= np.isfinite(x)
    if "above" in limits:
        good &= x > limits["above"]
    if not good.all():
        at = np.unravel_index(int(np.argmin(good)), good.shape)
        check.number(raw[at], name, of=f"element {', '.join(map(str, at))}" if at else "", **limits)
    return x


def arrays(**values: npt.ArrayLike) -> list[Floats]:
    """Convert arguments with `array`, and check that their shapes broadcast together.

    Example:
        >>> arrays(gap=np.ones(3), omega=np.ones(2))
        Traceback (most recent call last):
            ...
        driftanchor.errors.InvalidInput: shapes do not fit together: gap (3,), omega (2,)
    """
    checked = {name: array(value, name) for name, value in values.items()}
    try:
        np.broadcast_shapes(*(x.shape for x in checked.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {x.shape}" for name, x in checked.items() if x.ndim)
        raise InvalidInput(f"shapes do not fit together: {shapes}") from None
    return list(checked.values())


def _ratio(omega: Floats, gap: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(omega / gap)


def _per_squared_gap(x: npt.ArrayLike, gap: Floats) -> Floats:
    """Return x/gap². The result is 0 if x is 0, and infinite if a tiny gap makes it overflow."""
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(x, np.float64) / gap / gap)


def _positive_part(x: npt.ArrayLike) -> Floats:
    return np.asarray(np.maximum(x, 0.0))
