"""Anytime-valid confidence intervals for how far arms moved from their logs.

Two kinds of rewards need two tests:

- **A declared range with two ends.** The intervals assume nothing but the range. The variance of
  the logs is no bound, because a rising click rate increases it. Logs of 0/1 rewards, or without a
  variance, use the test for Bernoulli rewards. Other logs use a test whose interval is short if
  rewards vary little; it splits the error probability equally between the live mean and the logged
  mean. Both tests are valid for all rewards in the range: the logs, fixed before the first reward,
  only decide which is likely to be shorter.
- **No range.** Rewards are assumed to be normal, or lighter-tailed, with the policy's noise σ. A
  likelihood ratio that does not depend on the arm's level accounts exactly for the noise of the
  logs (Robbins's method, with n = 1/(1/T + 1/N) instead of T). It is valid if σ is not too small.

The interval is valid for every number of rewards of an arm, so it does not matter how often it is
computed or when the policy plays which arm.

**One arm against all others.** Intervals of single arms are too wide for comparisons: each has to
be valid by itself, and a common move must fit into all of them. So each arm is also compared with
all others together, which form one `Side`. Let D be the observed moves of a side's arms in units of
σ, d the true moves, and n the weights. The capital exp(u Σ n (D − d) − u² Σ n/2) is a bet that the
observed moves deviate by u. No bet gains on average, whichever arm is played when:

- for normal rewards n = 1/(1/T + 1/N), a likelihood ratio that includes the noise of the logs;
- for rewards in a range n = T, and σ is half of the range (Hoeffding). Here d and D are moves of
  the live mean only, and each arm's log has a separate bet, made once.

Bets are mixed over u ~ N(0, 1/ρ). Multiply the bets on the arm, on the others, and on the logs. The
product ever exceeds 1/miss with a probability of at most `miss` (Ville). If the bounds hold, the
true moves are within W of a common move. So an alarm is raised if the product is that large for all
moves that the bounds allow. Let a = n²/(2 (n + ρ)), let b be the same for the N rewards of a log,
and let Δ be the part of the gap between the two sides that the bounds do not explain. The smallest
product is::

    log E = Δ² / (1/a + 1/a' + Σ w²/b) − Σ log(1 + n/ρ)/2

where w is 1 for the arm's log, and n/Σn for the logs of the others.

All of it is plain scalar code, interpreted or compiled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.stats.anytime import (
    Interval,
    bernoulli_difference,
    empirical_bernstein_interval,
    fixed_sample_interval,
    mixture_radius,
    prior_weight,
    target_stake,
)
from driftanchor.core.stats.summary import is_binary
from driftanchor.live.terms import Terms

GAUSSIAN, BERNOULLI, BOUNDED = range(3)
TYPICAL = 5_000  # live rewards needed to detect a halved click rate
LEAST_POWER = 0.25  # minimum exponent of the logs' p-value
LOG_PRIOR = 0.25  # ρ/N of a bet on an arm's logs; on the other side, times its number of arms
VARIED = 0.1  # minimum variance, in ranges², to use half of the range as σ


class Ruler(NamedTuple):
    """The constants of an arm's tests, fixed before its first reward."""

    kind: int  # GAUSSIAN, BERNOULLI or BOUNDED
    bias_bound: float  # V
    relative_bound: float  # W
    logged: int  # N; 0 if the arm is not watched
    mean: float  # of the logs
    origin: float  # the lowest reward possible; 0 without a range
    unit: float  # the width of the range; σ without a range
    logs_low: float  # confidence interval of the true logged mean; used for BOUNDED only
    logs_high: float
    miss: float  # probability that the interval ever misses the move
    aim: float  # number of rewards for which the interval is tuned
    variance: float  # of a reward, in squared units; the stakes are tuned for it
    rest: float = 0.0  # the number of other arms that it is compared with; 0 for no such test


UNWATCHED = Ruler(GAUSSIAN, math.inf, math.inf, 0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0)


def ruler_of(terms: Terms, column: int, miss: float) -> Ruler:
    """Return the test parameters of an arm; only arms with logs and a bound are watched.

    The interval is tuned for the number of rewards at which a move of twice the bound is
    detectable, but at most the number of logged rewards. For bounded rewards it is tuned for a move
    of half the distance to the nearer end of the range, such as a halved click rate, if that move
    is larger. Tuning for too small a move delays the detection of all others; tuning for too large
    a move costs little. With a relative bound, half of the error probability goes to the
    comparison with all others, unless the rewards of some arms vary too little for it.
    """
    logged, mean = int(terms.offline.n[column]), float(terms.offline.mean[column])
    level, relative = float(terms.bias_bounds[column]), float(terms.relative_bounds[column])
    bound = min(level, relative)
    if logged == 0 or bound == math.inf:
        return UNWATCHED
    low, high = terms.reward_range
    if math.isinf(high - low):
        noise, rest = terms.policy.noise, _others(terms, relative)
        miss = 0.5 * miss if rest else miss
        aim = _aim(logged, 1.0, bound / noise, miss)
        return Ruler(
            GAUSSIAN, level, relative, logged, mean, 0.0, noise, mean, mean, miss, aim, 1.0, rest
        )
    unit = high - low
    share, spread = (mean - low) / unit, float(terms.offline.variance[column]) / unit / unit
    share = min(max(share, 0.0), 1.0)  # a mean may be rounded
    smooth = (share * logged + 0.5) / (logged + 1.0)
    bernoulli = math.isnan(spread) or bool(is_binary(logged, share, spread))
    variance = smooth * (1.0 - smooth) if bernoulli else max(spread, 1.0 / logged**2)
    shown = max(bound / unit, 0.25 * min(smooth, 1.0 - smooth))
    rest = _others(terms, relative)
    miss = 0.5 * miss if rest else miss
    ends = fixed_sample_interval(float(logged), share, spread, miss / 2.0)
    return Ruler(
        BERNOULLI if bernoulli else BOUNDED,
        level,
        relative,
        logged,
        mean,
        low,
        unit,
        low + unit * ends[0],
        low + unit * ends[1],
        miss,
        # Bernoulli bets are centred on the logged mean, and the bound lies beyond it.
        _aim(logged, variance, (2.0 if bernoulli else 1.0) * shown, miss),
        variance,
        rest,
    )


def _others(terms: Terms, relative: float) -> int:
    """Return the number of other arms that an arm with this bound is compared with."""
    logs, (low, high) = terms.offline, terms.reward_range
    together = (logs.n > 0) & (terms.relative_bounds < math.inf)
    if relative == math.inf:
        return 0
    if math.isfinite(high - low):
        shares = (logs.mean[together] - low) / (high - low)
        known = logs.variance[together] / (high - low) ** 2
        if (np.where(np.isnan(known), shares * (1.0 - shares), known) < VARIED).any():
            return 0
    return int(together.sum()) - 1


def _aim(logged: int, variance: float, bound: float, miss: float) -> float:
    """Return the number of rewards, from 1 to N, after which the radius is about the bound."""
    if bound * bound * logged <= variance * 1e-6:
        return float(logged)
    return float(np.clip(variance / bound / bound / prior_weight(miss, 1.0), 1.0, logged))


def move_interval(ruler: Ruler, n: float, total: float, squares: float) -> Interval:
    """Return the interval for a watched arm's live mean minus its true logged mean.

    Args:
        ruler: The arm's ruler.
        n: The number of live rewards.
        total: The sum of live rewards.
        squares: The sum of squared errors of `prediction`.

    Example:
        >>> from driftanchor import OfflineData
        >>> logs = OfflineData.from_summary({"A": (2000, 0.1), "B": (2000, 0.1)})
        >>> terms = Terms.declare(offline=logs, bias_bound=0.02, reward_range=(0, 1), seed=1)
        >>> ruler = ruler_of(terms, 0, miss=0.01)
        >>> [round(x, 3) for x in move_interval(ruler, 1000, 180.0, 0.0)]
        [0.02, 0.145]
    """
    if n == 0:
        return -math.inf, math.inf
    if ruler.kind == GAUSSIAN:
        move = total / n - ruler.mean
        both = 1.0 / (1.0 / n + 1.0 / ruler.logged)
        reach = ruler.unit * mixture_radius(both, ruler.miss, ruler.aim)
        return move - reach, move + reach
    hits = min(max((total - n * ruler.origin) / ruler.unit, 0.0), n * 1.0)
    if ruler.kind == BERNOULLI:
        old = min(max((ruler.mean - ruler.origin) / ruler.unit, 0.0), 1.0) * ruler.logged
        centre = (old + 0.5) / (ruler.logged + 1.0)
        weight = max(prior_weight(ruler.miss, ruler.aim), 1.0)
        low, high = bernoulli_difference(
            n * 1.0, hits, ruler.logged * 1.0, old, ruler.miss, centre, weight, logs_power(ruler)
        )
        return ruler.unit * low, ruler.unit * high
    half = ruler.miss / 2.0
    stake = target_stake(half, ruler.aim, ruler.variance)
    wide = squares / ruler.unit / ruler.unit
    low, high = empirical_bernstein_interval(n * 1.0, hits, wide, half, stake)
    return (
        ruler.origin + ruler.unit * low - ruler.logs_high,
        ruler.origin + ruler.unit * high - ruler.logs_low,
    )


def logs_power(ruler: Ruler) -> float:
    """Return κ of `bernoulli_difference`, from the number of logged rewards alone.

    With r live rewards per logged one, the squared length of the interval is about proportional to
    (log(1/miss) − log(1 − κ)) (1 + r/κ), which is least near κ² = r log(1/miss) while κ is small.
    κ must not depend on the logged mean: the bound on the product holds for a fixed κ.
    """
    share = TYPICAL / ruler.logged
    return min(max(math.sqrt(-math.log(ruler.miss) * share), LEAST_POWER), 1.0)


class Side(NamedTuple):
    """One side of a comparison: an arm, or several arms pooled."""

    n: float  # the weight
    move: float  # the mean of the moves, in σ, weighted by n
    bound: float  # the mean of the bounds, in σ, weighted by n
    prior: float  # ρ, in rewards; fixed before the first reward
    logs: float  # Σ w²/b
    price: float  # Σ log(1 + N/ρ)/2, of the bets on logs


NO_ARMS = Side(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def with_log(side: Side, logged: float, share: float) -> Side:
    """Return the side with a bet on its log, with ρ = share · N."""
    b = 0.5 * logged / (1.0 + share)
    return Side(side.n, side.move, side.bound, side.prior, 1.0 / b, 0.5 * math.log1p(1.0 / share))


def add_side(every: Side, arm: Side) -> Side:
    """Add an arm to the weighted sums over all arms, from which `rest_of` subtracts one."""
    return Side(
        every.n + arm.n,
        every.move + arm.n * arm.move,
        every.bound + arm.n * arm.bound,
        every.prior,
        every.logs + arm.n * arm.n * arm.logs,
        every.price + arm.price,
    )


def rest_of(every: Side, arm: Side, prior: float) -> Side:
    """Return all arms but one as one side.

    Args:
        every: Weighted sums over all arms, from `add_side`.
        arm: The arm to leave out, as it was added.
        prior: ρ of the others.
    """
    n = max(every.n - arm.n, 1e-9)
    return Side(
        n,
        (every.move - arm.n * arm.move) / n,
        max((every.bound - arm.n * arm.bound) / n, 0.0),
        prior,
        max(every.logs - arm.n * arm.n * arm.logs, 0.0) / (n * n),
        max(every.price - arm.price, 0.0),
    )


def log_evidence(one: Side, other: Side) -> float:
    """Return log E, the evidence that two sides moved further apart than their bounds allow.

    Example:
        >>> one, other = Side(500, 0.5, 0.1, 25, 0, 0), Side(900, 0, 0.1, 99, 0, 0)
        >>> round(log_evidence(one, other), 2)
        10.82
    """
    gap = max(abs(one.move - other.move) - one.bound - other.bound, 0.0)
    return gap * gap / _spread(one, other) - _price(one) - _price(other)


def gap_radius(one: Side, other: Side, miss: float) -> float:
    """Return the radius of a confidence interval for the difference of two moves."""
    return math.sqrt((_price(one) + _price(other) - math.log(miss)) * _spread(one, other))


def _spread(one: Side, other: Side) -> float:
    a = 0.5 * one.n * one.n / (one.n + one.prior)
    b = 0.5 * other.n * other.n / (other.n + other.prior)
    return 1.0 / a + one.logs + 1.0 / b + other.logs


def _price(side: Side) -> float:
    return 0.5 * math.log1p(side.n / side.prior) + side.price


def side_of(ruler: Ruler, n: float, total: float, among: float) -> Side:
    """Return an arm with live rewards as a `Side` of `among` arms."""
    noise = ruler_noise(ruler)
    move, bound = (total / n - ruler.mean) / noise, ruler.relative_bound / noise
    if ruler.kind == GAUSSIAN:
        both = 1.0 / (1.0 / n + 1.0 / ruler.logged)
        return Side(both, move, bound, apart_prior(ruler), 0.0, 0.0)
    side = Side(n * 1.0, move, bound, apart_prior(ruler), 0.0, 0.0)
    return with_log(side, ruler.logged * 1.0, LOG_PRIOR * among)


def ruler_noise(ruler: Ruler) -> float:
    """Return σ for comparisons: that of the policy, or half of the range."""
    return ruler.unit if ruler.kind == GAUSSIAN else 0.5 * ruler.unit


def apart_prior(ruler: Ruler) -> float:
    """Return ρ of an arm, from the number of rewards at which the comparison is sharpest."""
    bound = max(ruler.relative_bound / ruler_noise(ruler), 1e-9)
    weight = prior_weight(ruler.miss, 1.0)
    return weight * min(max(1.0 / (bound * bound * weight), 1.0), ruler.logged * 1.0)


def prediction(ruler: Ruler, n: float, total: float) -> float:
    """Predict the next reward from the rewards before it and the logs."""
    return (total + ruler.mean) / (n + 1.0)
