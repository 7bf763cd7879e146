"""How far the mean of coins moved from that of a sample taken before, at all times at once.

Both means have a p-value for each value that they may have: p of the live coins, right at all n
together, from `coin_interval`'s bet; and q of the sample, from Chernoff's bound. The two are
independent, so P(p q^κ ≤ x) is at most (x − κ x^(1/κ))/(1 − κ), and x (1 − log x) for κ = 1. So the
pairs of means for which p q^κ is above such an x hold the true pair, and the interval is from the
least to the largest difference in these pairs. It is about as long as the standard errors say,
while two intervals, one for each mean, add up to a longer one. A small κ suits a large sample: the
sample is then known so well that its p-value may count for less, and the limit x is larger.

Plain scalar code, interpreted or compiled.
"""

from __future__ import annotations

import math

from driftanchor.core.stats.anytime import Interval, likely_means, log_beta, log_chance

STEPS = 60  # of a search, at most
CLOSE = 1e-9  # how well the limit is met,
NEAR = 1e-3  # and how well at least; rounding is in between
NEWTON = 6
NEARLY_ONE = 0.95  # a larger κ counts as 1: the two terms of its bound nearly cancel


def coin_difference(
    n: float,
    hits: float,
    logged: float,
    logged_hits: float,
    miss: float,
    centre: float,
    weight: float,
    power: float = 1.0,
) -> Interval:
    """Where the mean of live values in [0, 1] minus the mean behind a sample of such values is.

    Args:
        n: Live values.
        hits: Their sum.
        logged: Values in the sample, at least 1.
        logged_hits: Their sum.
        miss: The chance that the interval ever misses the difference.
        centre: Where the live mean is expected, as in `coin_interval`.
        weight: How sure that is, in values.
        power: κ, in (0, 1]; chosen before the first live value.

    Example:
        >>> [round(x, 3) for x in coin_difference(1e3, 180.0, 2e3, 200.0, 0.01, 0.1, 20.0)]
        [0.02, 0.145]
    """
    if n == 0.0:
        return -1.0, 1.0
    power = power if power <= NEARLY_ONE else 1.0
    limit = product_limit(miss, power)
    misses, logged_misses = max(n - hits, 0.0), max(logged - logged_hits, 0.0)
    a, b = weight * centre, weight * (1.0 - centre)
    live = log_beta(hits + a, misses + b) - log_beta(a, b)
    mean = logged_hits / (logged_hits + logged_misses)
    old = power * (log_chance(logged_hits, logged_misses, mean) - math.log(2.0))
    logged_hits, logged_misses = power * logged_hits, power * logged_misses
    high = most_apart(hits, misses, live, logged_hits, logged_misses, old, limit)
    low = most_apart(misses, hits, live, logged_misses, logged_hits, old, limit)
    return -low, high


def product_limit(miss: float, power: float = 1.0) -> float:
    """−log x for the x at which the bound on P(p q^power ≤ x) is `miss`.

    Example:
        >>> round(product_limit(0.01), 3), round(product_limit(0.01, 0.5), 3)
        (6.638, 5.296)
    """
    price = -math.log(miss)
    if power > NEARLY_ONE:
        limit = price + math.log1p(price)  # below the solution, from where Newton's steps come down
        for _ in range(NEWTON):
            limit += (price + math.log1p(limit) - limit) * (1.0 + limit) / limit
        return limit
    limit = most = price - math.log1p(-power)
    for _ in range(NEWTON):  # comes down to the solution, and is valid at every step
        limit = most + math.log1p(-power * math.exp(limit - limit / power))
    return limit


def most_apart(
    hits: float,
    misses: float,
    live: float,
    logged_hits: float,
    logged_misses: float,
    old: float,
    limit: float,
) -> float:
    """Return the largest p − q with A(p)⁺ + B(q)⁺ ≤ limit.

    A = live − log L(p) and B = old − log L(q) are the negative logarithms of p-values of p and q,
    where L is the likelihood. To raise the likelihood of q to a power κ, multiply the logged hits
    and misses by κ. At the largest difference both have the same slope s, A′(p) = −B′(q) = s, which
    gives p and q. If a p-value would exceed 1, it is 1, and the other gets the whole limit.
    """
    low, high, slope = 0.0, math.inf, 1.0
    p, q, short = 0.0, 0.0, math.inf
    for _ in range(STEPS):
        p = steep_point(hits, misses, slope)
        q = 1.0 - steep_point(logged_misses, logged_hits, slope)
        together = live - log_chance(hits, misses, p) + old
        short = limit - (together - log_chance(logged_hits, logged_misses, q))
        if abs(short) <= CLOSE:
            break
        if short > 0.0:
            low = slope
        else:
            high = slope
        # A + B is nearly quadratic in s, so Newton's step is taken for s².
        give = room(hits, misses, p) + room(logged_hits, logged_misses, q)
        slope = math.sqrt(max(slope * slope + 2.0 * short / give, 0.0)) if give > 0.0 else low
        if not low < slope < high:
            slope = 0.5 * (low + high) if high < math.inf else 2.0 * low + 1.0
    if abs(short) > NEAR:  # nothing that a float can hold: the bet expected another world
        p = likely_means(hits, misses, live - limit)[1]
        q = likely_means(logged_hits, logged_misses, old - limit)[0]
    elif live < log_chance(hits, misses, p):
        p = likely_means(hits, misses, live)[1]
        q = likely_means(logged_hits, logged_misses, old - limit)[0]
    elif old < log_chance(logged_hits, logged_misses, q):
        p = likely_means(hits, misses, live - limit)[1]
        q = likely_means(logged_hits, logged_misses, old)[0]
    return p - q


def steep_point(hits: float, misses: float, slope: float) -> float:
    """The p above the mean at which −log L rises with a slope: misses/(1 − p) − hits/p = slope."""
    less = hits + misses - slope
    if hits == 0.0:
        return max(-less / slope, 0.0)
    root = math.sqrt(less * less + 4.0 * slope * hits)
    if less >= 0.0:
        return 2.0 * hits / (less + root)
    return (root - less) / (2.0 * slope)


def room(hits: float, misses: float, p: float) -> float:
    """How fast p follows a rising slope of −log L; 0 where it is held at 0 or 1."""
    bend = hits * (1.0 - p) * (1.0 - p) + misses * p * p
    if bend == 0.0:
        return 0.0
    return p * p * (1.0 - p) * (1.0 - p) / bend
