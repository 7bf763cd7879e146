"""Delayed rewards: estimate means while the rewards of recent decisions are still arriving.

A campaign with a reward window and a default reward learns of conversions when they happen, and of
all other outcomes only when the window closes. While decisions are pending, the average of the
rewards received so far is too high. So each decision is weighted by G(age), the expected share of
reports that have arrived when a decision has this age:

    pulls = Σ G(age)        mean = default + Σ (reward − default) / pulls

All arms share one curve G. It is estimated by the chain-ladder method, which insurers use for
claims not yet reported. For right-truncated delays this is the maximum-likelihood estimate.

Time is divided into slots, and the decisions made in the same slot form a cohort. Take all cohorts
that have completed slot j. Of their reports that arrived within j slots, let h_j be the share that
arrived in slot j itself. Then G(j − 1) = G(j) (1 − h_j), and G is 1 at the end of the window.

Until some cohort reaches the end of the window, the rest of the curve is extrapolated as
G(a) = (a / window)^θ. Then h_j = 1 − (j / (j + 1))^θ. With θ = 0, all reports are instant. With
θ = 1, they are spread evenly over the window. θ is estimated from the longest delays seen. The
uncertainty of θ lowers the effective number of pulls.

Background: Vernade, Cappé & Perchet, *Stochastic bandit models for delayed conversions* (UAI 2017),
divide by a known G.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints

MAX_SLOTS = 128  # per window
MIN_SLOTS = 16  # per window
MIN_SLOT = 60.0  # seconds; less if the window would otherwise have fewer than MIN_SLOTS slots
PRIOR_REPORTS = 1.0  # weight of the extrapolated curve at each delay, in reports
PRIOR_SHAPE, PRIOR_RATE = 1.0, 2.0  # gamma prior of θ: mean ½, standard deviation ½


class Arrival(NamedTuple):
    """Expected share of a cohort's reports that have arrived, as a function of the cohort's age.

    Attributes:
        shares: `shares[k]` is the share for a cohort that is k = 0, 1, …, S slots old. When slot k
            starts, reports with delays of up to k − 1 slots have arrived.
        errors: Relative standard error of each share.
    """

    shares: tuple[float, ...]
    errors: tuple[float, ...]


def slot_length(window: float) -> float:
    """Return the length of a time slot in seconds, for a reward window of `window` seconds.

    A slot is a 128th of the window, but at least a minute long. If the window is shorter than 16
    minutes, a slot is a 16th of the window.

    Example:
        >>> slot_length(7 * 86400), slot_length(3600), slot_length(80)
        (4725.0, 60.0, 5.0)
    """
    return max(window / MAX_SLOTS, min(MIN_SLOT, window / MIN_SLOTS))


def slot_count(window: float) -> int:
    """Return the number of slots in a reward window. The longest delay has this many slots.

    Example:
        >>> slot_count(7 * 86400), slot_count(3600), slot_count(100)
        (128, 60, 16)
    """
    return math.ceil(window / slot_length(window))


def arrival(reports: Ints) -> Arrival:
    """Estimate the share of a cohort's reports that has arrived, for each age of the cohort.

    `reports[k, d]` is the number of reports that arrived d = 0, …, S slots after the decision, for
    the cohort that is k slots old (k = 0 is the slot in progress). Do not count reports of the
    default reward: the end of the window implies that reward anyway.

    Example:
        >>> reports = np.zeros((9, 5), int)
        >>> reports[1:, 0], reports[2:, 1], reports[3:, 2] = 60, 30, 10  # S = 4, all in by slot 2
        >>> [round(share, 2) for share in arrival(reports).shares]
        [0.0, 0.6, 0.9, 1.0, 1.0]
    """
    end = reports.shape[1] - 1
    delays = np.arange(1, end + 1)
    in_slot, so_far = _counts(reports)
    # `oldest` is the longest delay completed by a cohort with reports. θ is fitted to the longer
    # half of the delays up to `oldest`.
    seen = delays[so_far > 0]
    oldest = int(seen[-1]) if seen.size else 0
    late = (delays > oldest // 2) & (delays <= oldest)
    shape = PRIOR_SHAPE + in_slot[late].sum()
    rate = PRIOR_RATE + (so_far[late] * np.log1p(1.0 / delays[late])).sum()
    theta = min(shape / rate, 1.0)
    prior = -np.expm1(theta * np.log(delays / (delays + 1.0)))
    weight = so_far + PRIOR_REPORTS
    hazard = (in_slot + PRIOR_REPORTS * prior) / weight
    ends = np.ones(end + 1)  # share that arrived by the end of slot j
    ends[:-1] = np.cumprod((1.0 - hazard)[::-1])[::-1]
    variance = np.zeros(end + 1)
    known = delays <= oldest
    steps = np.where(known, hazard / ((1.0 - hazard) * weight), 0.0)
    variance[:-1] = np.cumsum(steps[::-1])[::-1]
    ahead = math.log((end + 1.0) / (oldest + 1.0)) if oldest < end else 0.0
    # The power law is a guess: its whole contribution to log G counts as uncertain.
    variance[:-1] += ahead**2 * (shape / rate**2 + theta**2)
    # When slot k starts, the reports of all earlier slots have arrived.
    shares = np.concatenate(([0.0], ends[:-1]))
    errors = np.concatenate(([0.0], np.sqrt(variance[:-1])))
    return Arrival(tuple(shares.tolist()), tuple(errors.tolist()))


def _counts(reports: Ints) -> tuple[Floats, Floats]:
    """Return the numbers of reports with delays of exactly j and of at most j slots, j = 1, …, S.

    For each j, only cohorts that have completed slot j are counted.
    """
    through = np.cumsum(reports, axis=1)
    # Cohort k has completed the delays up to k − 1; its slot k is in progress.
    counted = np.arange(reports.shape[0])[:, None] > np.arange(reports.shape[1])[None, :]
    in_slot = np.where(counted, reports, 0).sum(axis=0)[1:]
    so_far = np.where(counted, through, 0).sum(axis=0)[1:]
    return in_slot.astype(float), so_far.astype(float)


class Cohorts(NamedTuple):
    """Decisions and their reports, by arm and by age of the cohort.

    Attributes:
        shown: `shown[a, k]` is the number of decisions for arm a in the cohort that is k = 0, …, S
            slots old.
        gained: Sum of reward − default reward over the reports of these decisions.
        closed: For each arm, the number of decisions in cohorts more than S slots old.
        closed_gained: For each arm, the sum of reward − default reward over closed decisions.
    """

    shown: Ints
    gained: Floats
    closed: Ints
    closed_gained: Floats


def effective(
    cohorts: Cohorts, default: float, arrived: Arrival, noise: float, expected: float
) -> tuple[Floats, Floats]:
    """Return each arm's effective number of live pulls and the matching reward total.

    The mean of arm a is `totals[a] / pulls[a]`, with variance noise² / pulls[a]. A decision is
    closed once its reward window has passed, and open before. A closed decision counts as one pull.
    An open decision counts as the share of its reports that should have arrived. This weight is
    then reduced, because two errors add to the variance: some reports are still missing, and the
    share is itself an estimate. All arms use the same estimated shares; adding the error of the
    shares to each arm separately is conservative. Both errors grow with the mean of reward −
    default. Late reports would bias an estimate of that mean, so `_max_gain` supplies an upper
    limit. Decisions in the slot in progress, k = 0, do not count yet.

    Args:
        cohorts: The decisions and their reports.
        default: Reward of a decision without a report.
        arrived: Expected share of arrived reports at each age; see `arrival`.
        noise: Standard deviation of a reward.
        expected: Absolute mean of reward − default in the logs. Without logs, pass `noise`.

    Example:
        >>> curve = Arrival((0.0, 0.5, 1.0), (0.0, 0.0, 0.0))
        >>> cohorts = Cohorts(
        ...     np.array([[7, 40, 0]]), np.array([[1.0, 2.0, 0.0]]), np.array([20]), np.array([2.0])
        ... )
        >>> pulls, totals = effective(cohorts, 0.0, curve, 0.3, 0.1)
        >>> totals / pulls  # 4 conversions of 20 + 40/2 decisions
        array([0.1])
    """
    shares = np.array(arrived.shares)
    if not (cohorts.closed.any() or cohorts.gained[:, 1:].any()):
        shares[:] = 0.0  # no report yet: rewards may be late, or there may be none
    shares[0] = 0.0
    open_, closed = cohorts.shown @ shares, cohorts.closed.astype(float)
    gained = cohorts.gained[:, 1:].sum(axis=1)
    ratio = (_max_gain(cohorts, open_, gained, noise, expected) / noise) ** 2
    divisor = np.where(open_ > 0.0, open_, 1.0)
    unreported = cohorts.shown @ (shares * (1.0 - shares)) / divisor
    curve_error = cohorts.shown @ (shares * np.array(arrived.errors)) / divisor
    open_pulls = open_ / (1.0 + ratio * (unreported + open_ * curve_error**2))
    pulls = closed + open_pulls
    totals = default * pulls + cohorts.closed_gained + open_pulls * gained / divisor
    return pulls, totals


def _max_gain(
    cohorts: Cohorts, open_: Floats, gained: Floats, noise: float, expected: float
) -> float:
    """Return an upper limit for the absolute mean of reward − default, pooled over all arms.

    It is the larger of the expected value and that of open decisions, capped at that of closed
    decisions plus one standard error.
    """
    seen = abs(gained.sum()) / open_.sum() if open_.any() else 0.0
    limit = max(expected, float(seen))
    closed = float(cohorts.closed.sum())
    if closed > 0.0:
        closed_mean = abs(float(cohorts.closed_gained.sum())) / closed
        limit = min(limit, closed_mean + noise / math.sqrt(closed))
    return limit
