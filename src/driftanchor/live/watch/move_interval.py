"""An anytime-valid confidence interval for how far an arm moved from its logs.

Two kinds of rewards need two tests:

- **A declared range with two ends.** The intervals assume nothing but the range. The noise in the
  logs gives no bound, because a rising click rate has more noise. Logs of 0/1 rewards, or without a
  variance, use the test for coins. Other logs use a test whose interval is short if rewards vary
  little; it splits the error probability equally between the live mean and the logged mean. Both
  tests are valid for all rewards in the range: the logs, fixed before the first reward, only decide
  which is likely to be shorter.
- **No range.** Rewards are assumed to be normal, or lighter-tailed, with the policy's noise σ. A
  likelihood ratio that does not depend on the arm's level accounts exactly for the noise of the
  logs (Robbins's method, with n = 1/(1/T + 1/N) instead of T). It is valid if σ is not too small.

Plain scalar code, interpreted or compiled. The interval is valid for every number of rewards of an
arm, so it does not matter how often it is computed or when the policy plays which arm.
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
from driftanchor.live.watch.apart import OWN, Side, with_log

GAUSSIAN, COINS, SPREAD = range(3)
TYPICAL = 5_000  # live rewards needed to detect a halved click rate
LEAST_POWER = 0.25  # minimum exponent of the logs' p-value
VARIED = 0.1  # the least variance, in ranges², for which half of the range is a fair guess of σ


class Ruler(NamedTuple):
    """What an arm is measured with, fixed before its first reward."""

    kind: int  # GAUSSIAN, COINS or SPREAD
    bias_bound: float  # V
    relative_bound: float  # W
    logged: int  # N; 0 if the arm is not watched
    mean: float  # of the logs
    origin: float  # the lowest reward possible; 0 where there is no range
    unit: float  # the width of the range; σ where there is no range
    logs_low: float  # where the mean behind the logs is; used for SPREAD only
    logs_high: float
    miss: float  # the chance that the interval ever misses the move
    aim: float  # rewards at which the interval is to be shortest
    variance: float  # of a reward, in units; what the stakes aim at
    rest: float = 0.0  # for `apart`: how many other arms it is compared with; 0 for no such test


UNWATCHED = Ruler(GAUSSIAN, math.inf, math.inf, 0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0)


def ruler_of(terms: Terms, column: int, miss: float) -> Ruler:
    """Return the ruler of an arm; arms with logs and a bound are watched.

    The interval is tuned for the number of rewards at which a move of twice the bound is
    detectable, but at most the number of logged rewards. For bounded rewards it is tuned for a move
    of half the distance to the nearer end of the range, such as a halved click rate, if that move
    is larger. Tuning for too small a move delays the detection of all others; tuning for too large
    a move costs little. With a relative bound, half of the error probability goes to `apart`,
    unless the rewards of some arms vary too little for it.

    Args:
        terms: The terms in force.
        column: The arm.
        miss: The probability of a false alarm about the arm.
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
    coins = math.isnan(spread) or bool(is_binary(logged, share, spread))
    variance = smooth * (1.0 - smooth) if coins else max(spread, 1.0 / logged**2)
    shown = max(bound / unit, 0.25 * min(smooth, 1.0 - smooth))
    rest = _others(terms, relative)
    miss = 0.5 * miss if rest else miss
    ends = fixed_sample_interval(float(logged), share, spread, miss / 2.0)
    return Ruler(
        COINS if coins else SPREAD,
        level,
        relative,
        logged,
        mean,
        low,
        unit,
        low + unit * ends[0],
        low + unit * ends[1],
        miss,
        # The bets on coins are centred on the logged mean, and the bound lies beyond it.
        _aim(logged, variance, (2.0 if coins else 1.0) * shown, miss),
        variance,
        rest,
    )


def _others(terms: Terms, relative: float) -> int:
    """How many other arms one of this bound is compared with, all together; 0 for none."""
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
    """Rewards after which a radius is about as large as the bound; at least 1, at most N."""
    if bound * bound * logged <= variance * 1e-6:
        return float(logged)
    return float(np.clip(variance / bound / bound / prior_weight(miss, 1.0), 1.0, logged))


def move_interval(ruler: Ruler, n: float, total: float, squares: float) -> Interval:
    """Return the interval for a watched arm's live mean minus its true logged mean.

    Args:
        ruler: The arm's ruler.
        n: The number of live rewards.
        total: The sum of live rewards.
        squares: The sum of squared errors of `prediction`, each made before its reward came.

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
    if ruler.kind == COINS:
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


def side_of(ruler: Ruler, n: float, total: float, among: float) -> Side:
    """Return an arm with live rewards as a `Side` for `apart`.

    Args:
        ruler: The arm's ruler.
        n: The number of live rewards.
        total: The sum of live rewards.
        among: The number of arms on that side.
    """
    noise = ruler_noise(ruler)
    move, bound = (total / n - ruler.mean) / noise, ruler.relative_bound / noise
    if ruler.kind == GAUSSIAN:
        both = 1.0 / (1.0 / n + 1.0 / ruler.logged)
        return Side(both, move, bound, apart_prior(ruler), 0.0, 0.0)
    side = Side(n * 1.0, move, bound, apart_prior(ruler), 0.0, 0.0)
    return with_log(side, ruler.logged * 1.0, OWN * among)


def ruler_noise(ruler: Ruler) -> float:
    """σ of `apart`: that of the policy, or half of the range."""
    return ruler.unit if ruler.kind == GAUSSIAN else 0.5 * ruler.unit


def apart_prior(ruler: Ruler) -> float:
    """ρ of an arm in `apart`: the rewards at which it is to be sharpest, with the price of that."""
    bound = max(ruler.relative_bound / ruler_noise(ruler), 1e-9)
    weight = prior_weight(ruler.miss, 1.0)
    return weight * min(max(1.0 / (bound * bound * weight), 1.0), ruler.logged * 1.0)


def prediction(ruler: Ruler, n: float, total: float) -> float:
    """What the next reward is taken to be, from those before it and from the logs."""
    return (total + ruler.mean) / (n + 1.0)
