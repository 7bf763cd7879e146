"""Where a mean is, right at all numbers of rewards together: for tests that look after each reward.

Each interval comes from a fair bet that nobody wins often (Ville): if m is the mean, the capital
of a bet against m reaches 1/ε with a probability of at most ε, ever. What the bets know beforehand
(how many rewards to aim at, where to look) may come from logs, never from the rewards themselves.
Plain scalar code, interpreted or compiled.
"""

from __future__ import annotations

import math

Interval = tuple[float, float]
STEPS = 50  # of a bisection between 0 and 1
STAKES = 6  # sizes of a bet, each twice the one before,
FIRST = 3  # the one aimed at being so many doublings from the smallest
BOLDEST = 0.9  # the largest stake; at 1 all may be lost at once


def mixture_radius(n: float, miss: float, aim: float) -> float:
    """A radius for σ = 1 that holds for all n at once, but for a chance of `miss`.

    Ville's inequality for the likelihood ratio mixed over N(0, 1/ρ) (Robbins 1970)::

        r(n) = √((n + ρ)/n² · (log((n + ρ)/ρ) + 2 log(1/miss)))

    ρ, in rewards, is such that r is nearly as small as it can be at n = aim. For the difference of
    the means of T rewards and of N that were there before, n = 1/(1/T + 1/N): the likelihood ratio
    of what does not depend on the level is a martingale in T.

    Example:
        >>> [round(mixture_radius(n, 0.05, 100.0), 3) for n in (1, 100, 10_000)]
        [9.084, 0.304, 0.036]
    """
    log_miss = -2.0 * math.log(miss)
    rho = prior_weight(miss, aim)
    return math.sqrt((n + rho) * (math.log((n + rho) / rho) + log_miss)) / n


def prior_weight(miss: float, aim: float) -> float:
    """ρ of `mixture_radius`: the rewards that the prior of a mixture is worth.

    Example:
        >>> round(prior_weight(0.05, 100.0), 2)
        12.6
    """
    log_miss = -2.0 * math.log(miss)
    return aim / (log_miss + math.log1p(log_miss))


def coin_interval(n: float, total: float, miss: float, centre: float, weight: float) -> Interval:
    """Where the mean of values in [0, 1] is, at all n at once; sharp if all of them are 0 or 1.

    The likelihood ratio of coins, mixed over Beta(w c, w (1 − c)). It is a fair bet for coins, and
    for other values in [0, 1] a bet that gains no more, as the logarithm is concave.

    Args:
        n: Values.
        total: Their sum.
        miss: The chance that the interval ever misses the mean.
        centre: c, where the mean is expected; in (0, 1).
        weight: w, how sure that is, in values.

    Example:
        >>> [round(x, 3) for x in coin_interval(1000.0, 100.0, 0.05, 0.1, 20.0)]
        [0.073, 0.133]
    """
    if n == 0.0:
        return 0.0, 1.0
    a, b = weight * centre, weight * (1.0 - centre)
    misses = max(n - total, 0.0)
    gain = log_beta(total + a, misses + b) - log_beta(a, b) + math.log(miss)
    return likely_means(total, misses, gain)


def log_beta(a: float, b: float) -> float:
    """The logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_chance(hits: float, misses: float, mean: float) -> float:
    """The log-likelihood of coins; hits and misses need not be whole."""
    value = 0.0
    if hits > 0.0:
        value += hits * math.log(mean) if mean > 0.0 else -math.inf
    if misses > 0.0:
        value += misses * math.log1p(-mean) if mean < 1.0 else -math.inf
    return value


def likely_means(hits: float, misses: float, least: float) -> Interval:
    """The means whose log-likelihood is at least so large, rounded outwards."""
    mean = hits / (hits + misses)
    low, high = 0.0, mean
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if log_chance(hits, misses, middle) < least:
            low = middle
        else:
            high = middle
    bottom, low, high = low, mean, 1.0
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if log_chance(hits, misses, middle) < least:
            high = middle
        else:
            low = middle
    return bottom, high


def spread_interval(n: float, total: float, squares: float, miss: float, stake: float) -> Interval:
    """Where the mean of values in [0, 1] is, at all n at once; short if they vary little.

    Howard, Ramdas, McAuliffe & Sekhon (2021), Theorem 4: with predictions p of each value x from
    those before it, Q = Σ (x − p)² and ψ(λ) = −log(1 − λ) − λ, the capital
    exp(λ Σ (x − m) − ψ(λ) Q) is a bet that nobody gains by, for each stake λ. The chance is shared
    among a few stakes around the one aimed at::

        mean ± min over λ of (ψ(λ) Q + log(2 · 6/miss)) / (λ n)

    Args:
        n: Values.
        total: Their sum.
        squares: Q, of predictions in [0, 1].
        miss: The chance that the interval ever misses the mean.
        stake: λ aimed at: `stake_for`.

    Example:
        >>> [round(x, 3) for x in spread_interval(1000.0, 300.0, 10.0, 0.05, 0.9)]
        [0.285, 0.315]
    """
    if n == 0.0:
        return 0.0, 1.0
    price = math.log(2.0 * STAKES / miss)
    half = math.inf
    for k in range(STAKES):
        bet = min(stake * 2.0 ** (k - FIRST), BOLDEST)
        half = min(half, ((-math.log1p(-bet) - bet) * squares + price) / (bet * n))
    mean = total / n
    return max(mean - half, 0.0), min(mean + half, 1.0)


def stake_for(miss: float, aim: float, variance: float) -> float:
    """The stake of `spread_interval` that is best after `aim` values of a variance.

    Example:
        >>> round(stake_for(0.05, 1000.0, 0.09), 3)
        0.286
    """
    return min(math.sqrt(2.0 * math.log(2.0 / miss) / (aim * max(variance, 1e-12))), BOLDEST)


def sample_interval(n: float, mean: float, variance: float, miss: float) -> Interval:
    """Where the true mean of n values in [0, 1] is, for one sample whose size is fixed.

    Chernoff's bound, n kl(mean, m) ≤ log(2/miss). Where the sample variance is known, the chance is
    shared with the empirical Bernstein bound of Maurer & Pontil (2009), which is the shorter one
    when values vary little.

    Args:
        n: Values, at least 1.
        mean: Their mean.
        variance: Their sample variance; NaN where it is not known.
        miss: The chance that the interval misses the true mean.

    Example:
        >>> [round(x, 3) for x in sample_interval(1000.0, 0.1, math.nan, 0.05)]
        [0.076, 0.128]
        >>> [round(x, 3) for x in sample_interval(1000.0, 0.1, 0.001, 0.05)]
        [0.085, 0.115]
    """
    known = variance == variance and n > 1.0
    share = miss / 2.0 if known else miss
    limit = math.log(2.0 / share)
    hits, misses = n * mean, n * (1.0 - mean)
    best = log_chance(hits, misses, mean)
    bottom, top = likely_means(hits, misses, best - limit)
    if known:
        price = math.log(4.0 / share)
        half = math.sqrt(2.0 * variance * price / n) + 7.0 * price / (3.0 * (n - 1.0))
        bottom, top = max(bottom, mean - half), min(top, mean + half)
    return bottom, top
