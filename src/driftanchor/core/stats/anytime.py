"""Anytime-valid intervals: valid at all sample sizes simultaneously, for tests after every reward.

Each interval comes from a family of fair bets that start with a capital of 1. It contains all means
that the bets have not refuted. By Ville's inequality, the probability that a bet against the true
mean ever reaches a capital of 1/α is at most α. A bet may be tuned to the logs, by its target
sample size or its prior, but never to the rewards being tested.

The functions run after every reward. They are plain scalar code, which runs interpreted or
compiled.
"""

from __future__ import annotations

import math

Interval = tuple[float, float]
BISECTIONS = 50  # steps of `likelihood_interval` for each end
STAKES = 6  # number of stakes, each twice the previous one
TARGET = 3  # position of the target stake
MAX_STAKE = 0.9  # a stake of 1 could lose the whole capital at once
MAX_STEPS = 60  # of Newton's method in `_largest_difference`
TOLERANCE = 1e-9  # on the log p-value
ROUNDING = 1e-3  # if the error of the log p-value is larger, the search failed
NEWTON_STEPS = 6
MAX_POWER = 0.95  # a larger κ is set to 1, because the two terms of its bound nearly cancel


def mixture_radius(n: float, alpha: float, target: float) -> float:
    """Return the half-width of an anytime-valid interval for the mean of n normal rewards.

    The rewards have standard deviation 1. Ville's inequality for the likelihood ratio mixed over
    N(0, 1/ρ) (Robbins 1970) gives::

        r(n) = √((n + ρ)/n² · (log((n + ρ)/ρ) + 2 log(1/α)))

    ρ nearly minimises r at n = target. For the difference between the mean of T rewards and the
    mean of N earlier rewards, use n = 1/(1/T + 1/N). This is valid because the likelihood
    ratio of location-invariant statistics is a martingale in T.

    Example:
        >>> [round(mixture_radius(n, 0.05, 100.0), 3) for n in (1, 100, 10_000)]
        [9.084, 0.304, 0.036]
    """
    penalty = -2.0 * math.log(alpha)
    rho = prior_weight(alpha, target)
    return math.sqrt((n + rho) * (math.log((n + rho) / rho) + penalty)) / n


def prior_weight(alpha: float, target: float) -> float:
    """Return ρ, the number of rewards that the prior of `mixture_radius` is worth.

    This ρ makes the interval nearly as short as possible after `target` rewards.

    Example:
        >>> round(prior_weight(0.05, 100.0), 2)
        12.6
    """
    penalty = -2.0 * math.log(alpha)
    return target / (penalty + math.log1p(penalty))


def empirical_bernstein_interval(
    n: float, total: float, squares: float, alpha: float, stake: float
) -> Interval:
    """Return an anytime-valid interval for the mean of values in [0, 1].

    The interval is short if the values vary little. The method is Theorem 4 of Howard, Ramdas,
    McAuliffe & Sekhon (2021). Let m be the true mean and ψ(λ) = −log(1 − λ) − λ. For each value x,
    let p be a prediction of x from earlier values, and let Q = Σ (x − p)². For each stake λ, the
    capital exp(λ Σ (x − m) − ψ(λ) Q) is a supermartingale. Splitting α over six stakes around the
    target stake gives::

        mean ± min over λ of (ψ(λ) Q + log(2 · 6/α)) / (λ n)

    Args:
        n: Number of values.
        total: Their sum.
        squares: Q, the sum of squared prediction errors; predictions must be in [0, 1].
        alpha: Probability that the interval ever misses the mean.
        stake: The target λ; see `target_stake`.

    Example:
        >>> ends = empirical_bernstein_interval(1000.0, 300.0, 10.0, 0.05, 0.9)
        >>> [round(x, 3) for x in ends]
        [0.285, 0.315]
    """
    if n == 0.0:
        return 0.0, 1.0
    penalty = math.log(2.0 * STAKES / alpha)
    half_width = math.inf
    for k in range(STAKES):
        bet = min(stake * 2.0 ** (k - TARGET), MAX_STAKE)
        cost = -math.log1p(-bet) - bet
        half_width = min(half_width, (cost * squares + penalty) / (bet * n))
    mean = total / n
    return max(mean - half_width, 0.0), min(mean + half_width, 1.0)


def target_stake(alpha: float, target: float, variance: float) -> float:
    """Return a nearly optimal stake for `empirical_bernstein_interval`.

    With this stake, the interval is nearly as short as possible after `target` values whose
    variance is `variance`.

    Example:
        >>> round(target_stake(0.05, 1000.0, 0.09), 3)
        0.286
    """
    return min(math.sqrt(2.0 * math.log(2.0 / alpha) / (target * max(variance, 1e-12))), MAX_STAKE)


def fixed_sample_interval(n: float, mean: float, variance: float, alpha: float) -> Interval:
    """Return an interval for the true mean of n values in [0, 1], with n fixed in advance.

    The interval contains every m that satisfies Chernoff's bound, n kl(mean, m) ≤ log(2/α), where
    kl is the Kullback–Leibler divergence between Bernoulli distributions. If the sample variance is
    known, every m must also satisfy the empirical Bernstein bound of Maurer & Pontil (2009), which
    is tighter for values that vary little. The two bounds then share α evenly.

    Args:
        n: Number of values, at least 1.
        mean: Their mean.
        variance: Their sample variance; NaN if unknown.
        alpha: Maximum probability that the interval misses the true mean.

    Example:
        >>> [round(x, 3) for x in fixed_sample_interval(1000.0, 0.1, math.nan, 0.05)]
        [0.076, 0.128]
        >>> [round(x, 3) for x in fixed_sample_interval(1000.0, 0.1, 0.001, 0.05)]
        [0.085, 0.115]
    """
    known = variance == variance and n > 1.0
    share = alpha / 2.0 if known else alpha
    successes, failures = n * mean, n * (1.0 - mean)
    maximum = log_likelihood(successes, failures, mean)
    low, high = likelihood_interval(successes, failures, maximum - math.log(2.0 / share))
    if known:
        penalty = math.log(4.0 / share)
        half_width = math.sqrt(2.0 * variance * penalty / n) + 7.0 * penalty / (3.0 * (n - 1.0))
        low, high = max(low, mean - half_width), min(high, mean + half_width)
    return low, high


def bernoulli_difference(
    n: float,
    successes: float,
    logged: float,
    logged_successes: float,
    alpha: float,
    centre: float,
    weight: float,
    power: float = 1.0,
) -> Interval:
    """Return an anytime-valid interval for the true live mean minus the true logged mean.

    Consider pairs of a possible live mean and a possible logged mean. Each pair has two independent
    p-values. The p-value p of the live mean is the inverse of a Bernoulli likelihood ratio mixed
    over Beta(w c, w (1 − c)); it is valid at all n. The p-value q of the logged mean comes from
    Chernoff's bound.

    P(p q^κ ≤ x) is at most (x − κ x^(1/κ))/(1 − κ), or x (1 − log x) for κ = 1. We choose the limit
    x at which this bound is α. The interval spans the differences of all pairs with p q^κ > x. Its
    length is close to what the standard errors suggest. It is shorter than the difference of two
    separate intervals. A large logged sample determines the logged mean well, so q may get less
    weight: a smaller κ raises the limit x.

    The interval is valid for all values in [0, 1], not only for 0 and 1. The reason is that the
    logarithm is concave: on a value v between 0 and 1, a bet gains at most its average gain on 0/1
    values with mean v. The interval is tight for values of 0 and 1.

    Args:
        n: Number of live values.
        successes: Sum of the live values.
        logged: Number of logged values, at least 1.
        logged_successes: Sum of the logged values.
        alpha: Maximum probability that the interval ever misses the difference.
        centre: c, the expected live mean, in (0, 1).
        weight: w, the number of observations that this expectation is worth.
        power: κ, in (0, 1]; must be chosen before the first live value.

    Example:
        >>> [round(x, 3) for x in bernoulli_difference(1e3, 180.0, 2e3, 200.0, 0.01, 0.1, 20.0)]
        [0.02, 0.145]
    """
    if n == 0.0:
        return -1.0, 1.0
    power = power if power <= MAX_POWER else 1.0
    limit = product_limit(alpha, power)
    failures, logged_failures = max(n - successes, 0.0), max(logged - logged_successes, 0.0)
    a, b = weight * centre, weight * (1.0 - centre)
    live = log_beta(successes + a, failures + b) - log_beta(a, b)
    mean = logged_successes / (logged_successes + logged_failures)
    old = power * (log_likelihood(logged_successes, logged_failures, mean) - math.log(2.0))
    logged_successes, logged_failures = power * logged_successes, power * logged_failures
    high = _largest_difference(
        successes, failures, live, logged_successes, logged_failures, old, limit
    )
    low = _largest_difference(
        failures, successes, live, logged_failures, logged_successes, old, limit
    )
    return -low, high


def product_limit(alpha: float, power: float = 1.0) -> float:
    """Return −log x, where x is chosen such that P(p q^power ≤ x) is at most alpha.

    p and q are independent p-values. At this x, the bound on the probability that is given in
    `bernoulli_difference` equals alpha.

    Example:
        >>> round(product_limit(0.01), 3), round(product_limit(0.01, 0.5), 3)
        (6.638, 5.296)
    """
    penalty = -math.log(alpha)
    if power > MAX_POWER:
        limit = penalty + math.log1p(penalty)  # starts below the solution
        for _ in range(NEWTON_STEPS):
            limit += (penalty + math.log1p(limit) - limit) * (1.0 + limit) / limit
        return limit
    limit = start = penalty - math.log1p(-power)
    for _ in range(NEWTON_STEPS):  # decreases towards the solution; every iterate is valid
        limit = start + math.log1p(-power * math.exp(limit - limit / power))
    return limit


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def log_likelihood(successes: float, failures: float, mean: float) -> float:
    """Return the Bernoulli log-likelihood of `mean`; the counts may be fractions."""
    value = 0.0
    if successes > 0.0:
        value += successes * math.log(mean) if mean > 0.0 else -math.inf
    if failures > 0.0:
        value += failures * math.log1p(-mean) if mean < 1.0 else -math.inf
    return value


def likelihood_interval(successes: float, failures: float, minimum: float) -> Interval:
    """Return the interval of means whose Bernoulli log-likelihood is at least `minimum`.

    Rounding errors can only widen the interval.
    """
    mean = successes / (successes + failures)
    low, high = 0.0, mean
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if log_likelihood(successes, failures, middle) < minimum:
            low = middle
        else:
            high = middle
    bottom, low, high = low, mean, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if log_likelihood(successes, failures, middle) < minimum:
            high = middle
        else:
            low = middle
    return bottom, high


def _largest_difference(
    successes: float,
    failures: float,
    live: float,
    logged_successes: float,
    logged_failures: float,
    old: float,
    limit: float,
) -> float:
    """Return the largest p − q such that the negative log p-values sum to at most `limit`.

    p is a live mean and q a logged mean. Let L be the likelihood of a mean. The negative log
    p-values are A = live − log L(p) and B = old − log L(q), or 0 if these are negative. To weight
    the p-value of q, the caller multiplies the logged counts and `old` by the weight. At the
    largest difference, A′(p) = −B′(q) = s, and the slope s determines p and q. If one p-value would
    exceed 1, it is set to 1, and the other one may use up the whole limit.
    """
    low, high, slope = 0.0, math.inf, 1.0
    p, q, slack = 0.0, 0.0, math.inf
    for _ in range(MAX_STEPS):
        p = _point_with_slope(successes, failures, slope)
        q = 1.0 - _point_with_slope(logged_failures, logged_successes, slope)
        log_p_values = live - log_likelihood(successes, failures, p) + old
        log_p_values -= log_likelihood(logged_successes, logged_failures, q)
        slack = limit - log_p_values
        if abs(slack) <= TOLERANCE:
            break
        if slack > 0.0:
            low = slope
        else:
            high = slope
        # A + B is nearly quadratic in s, so take a Newton step in s².
        derivative = _point_derivative(successes, failures, p)
        derivative += _point_derivative(logged_successes, logged_failures, q)
        if derivative > 0.0:
            slope = math.sqrt(max(slope * slope + 2.0 * slack / derivative, 0.0))
        else:
            slope = low
        if not low < slope < high:
            slope = 0.5 * (low + high) if high < math.inf else 2.0 * low + 1.0
    if abs(slack) > ROUNDING:  # the prior is too far from the values: give both the whole limit
        p = likelihood_interval(successes, failures, live - limit)[1]
        q = likelihood_interval(logged_successes, logged_failures, old - limit)[0]
    elif live < log_likelihood(successes, failures, p):
        p = likelihood_interval(successes, failures, live)[1]
        q = likelihood_interval(logged_successes, logged_failures, old - limit)[0]
    elif old < log_likelihood(logged_successes, logged_failures, q):
        p = likelihood_interval(successes, failures, live - limit)[1]
        q = likelihood_interval(logged_successes, logged_failures, old)[0]
    return p - q


def _point_with_slope(successes: float, failures: float, slope: float) -> float:
    """Return the p above the sample mean at which the negative log-likelihood has slope `slope`.

    The slope at p is failures/(1 − p) − successes/p.
    """
    less = successes + failures - slope
    if successes == 0.0:
        return max(-less / slope, 0.0)
    root = math.sqrt(less * less + 4.0 * slope * successes)
    if less >= 0.0:
        return 2.0 * successes / (less + root)
    return (root - less) / (2.0 * slope)


def _point_derivative(successes: float, failures: float, p: float) -> float:
    """Return the derivative of `_point_with_slope` with respect to the slope.

    The derivative is taken at the slope for which that function returns p. It is 0 if p is 0 or 1.
    """
    curvature = successes * (1.0 - p) * (1.0 - p) + failures * p * p
    if curvature == 0.0:
        return 0.0
    return p * p * (1.0 - p) * (1.0 - p) / curvature
