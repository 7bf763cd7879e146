"""The risk of stopping now: how likely each arm is best, and what the leader may lose.

The beliefs are those of the default rule, whatever the campaign's policy. Given the common move c
of all arms, the belief about an arm with T live rewards of sum S and N logged ones of mean m is

    N((S + N' m)/(T + N'), σ²/(T + N')),   N' = 1/(1/N + (B/2)²/σ²),

where B is the tighter bound: V, or W with m shifted by c. We integrate over c, which has the law of
`common_move`. This is the exact posterior for normal rewards if each arm moved by a root mean
square of B/2. Moves that would take means out of the reward range get little weight.

The guarded rule never lets logs pull its estimate further than two standard errors from the live
mean. Here the limit is a confidence interval for the live mean with the same error rate. For
bounded rewards that interval is valid for any number of rewards, so two conversions do not outvote
a thousand logged visits. If the limit applies, the belief uses the standard deviation of the live
rewards alone. An unknown arm is assumed to pay as much as the best arm, with the noise of one
reward.

Nothing is random: the same terms and state give the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Bools, Floats
from driftanchor.core.common_move import common_move, is_relative, moved, moved_pulls, own_sd
from driftanchor.core.evidence import ArmEvidence, Evidence, arm_at
from driftanchor.core.posterior import Posterior
from driftanchor.core.promises import Range
from driftanchor.core.record import Record
from driftanchor.core.stats.anytime import fixed_sample_interval
from driftanchor.core.stats.distributions import normal_cdf
from driftanchor.core.stats.largest import Loss, best_chances, loss_of
from driftanchor.live.decide import situation
from driftanchor.live.state import State
from driftanchor.live.terms import Terms
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS, promises_may_fail
from driftanchor.render.numbers import percent, rounded

PER = 1_000.0  # losses are per this many decisions
MIN_MOVES, MAX_MOVES = 13, 201  # values of the common move
FEW = 5  # live rewards that an arm without logs needs before it is ranked
SQRT_2 = math.sqrt(2.0)
TINY = 1e-300
MAX_SDS = 6.0  # of the common move
ROUNDING = 1e-9  # closer probabilities count as equal


@dataclass(frozen=True, eq=False)
class Outlook:
    """Beliefs about the arms, and the loss from playing only the leader from now on.

    Attributes:
        leader: The column of the playable arm that is most likely the best.
        p_best: The probability that each arm is the best playable one.
        means: The posterior mean of each arm.
        sds: The posterior standard deviation of each arm.
        loss: The expected loss, in rewards per 1,000 decisions.
        loss_95: The 95 % quantile of the loss.
        difference: The smallest loss that matters, per 1,000 decisions; None if not given.
        known: Which arms have logs that count or enough live rewards; None if all have. Beliefs
            about other arms are little more than the prior and are not displayed.
        can_rank: Whether at least two arms are known; otherwise probabilities and losses are not
            displayed either.
    """

    leader: int
    p_best: Floats
    means: Floats
    sds: Floats
    loss: float
    loss_95: float
    difference: float | None = None
    known: Bools | None = None
    can_rank: bool = True

    @property
    def is_enough(self) -> bool | None:
        """Whether the loss is too small to matter, with a probability of 95 %."""
        return None if self.difference is None else self.loss_95 <= self.difference

    def knows(self, column: int) -> bool:
        """Return whether to display the belief about an arm; false for arms added later."""
        return column < self.means.size and (self.known is None or bool(self.known[column]))

    def to_json(self) -> Record:
        """Return a JSON-ready record."""
        return {
            "leader": self.leader,
            "p_best": self.p_best.tolist(),
            "means": self.means.tolist(),
            "sds": self.sds.tolist(),
            "loss": self.loss,
            "loss_95": self.loss_95,
            "difference": self.difference,
            "is_enough": self.is_enough,
            "can_rank": self.can_rank,
        }


def outlook(
    terms: Terms, state: State, difference: float | None = None, *, with_loss: bool = True
) -> Outlook:
    """Compute the risk of stopping now.

    Args:
        terms: The terms in force.
        state: The current state.
        difference: The smallest difference between arms that matters, in rewards per decision.
        with_loss: Whether to compute the loss, which takes longest; otherwise it is NaN.

    Example:
        >>> from driftanchor import OfflineData
        >>> from driftanchor.live.state import fold
        >>> from driftanchor.live.state_events import Rewarded
        >>> logs = OfflineData.from_summary({"A": (900, 0.3), "B": (900, 0.2)})
        >>> terms = Terms.declare(offline=logs, bias_bound=0.1, reward_range=(0, 1), seed=1)
        >>> state = fold(State.start(terms.arms), Rewarded((0, 1) * 200, (0.5, 0.0) * 200))
        >>> now = outlook(terms, state, difference=0.01)
        >>> terms.arms[now.leader], now.p_best.round(3).tolist(), now.is_enough
        ('A', [1.0, 0.0], True)
    """
    matters = None
    if difference is not None:
        matters = PER * check.number(difference, "difference", above=0.0)
    evidence, _ = situation(terms, state)
    playable = np.flatnonzero(evidence.playable)
    common = Posterior(0.0, 0.0)
    if is_relative(evidence):
        common = common_move(evidence, terms.policy.noise)
    limits = _limits(terms, evidence)
    moves, weights = _moves(common, terms, evidence, limits)
    laws = np.array([_beliefs(terms, evidence, limits, move) for move in moves.tolist()])
    means, sds = laws[:, :, 0], laws[:, :, 1]
    mean = weights @ means
    spread = np.sqrt(weights @ (sds**2 + (means - mean) ** 2))
    place = int(mean[playable].argmax())
    believed = means[:, playable], sds[:, playable], weights
    chances = best_chances(*believed)
    p_best = np.zeros(len(terms.arms))
    p_best[playable] = chances
    if chances.max() - chances[place] > ROUNDING:  # a larger mean, known more precisely
        place = int(chances.argmax())
    lost = loss_of(*believed, place) if with_loss else Loss(math.nan, math.nan)
    low, high = terms.reward_range
    loss, loss_95 = (PER * min(x, high - low) for x in lost)
    bounds = np.minimum(evidence.bias_bounds, evidence.relative_bounds)
    known = (evidence.offline_pulls > 0) & (bounds < math.inf) | (evidence.pulls >= FEW)
    ranked = int(known[playable].sum()) >= min(2, playable.size)
    leader = int(playable[place])
    return Outlook(leader, p_best, mean, spread, loss, loss_95, matters, known, ranked)


def outlook_text(now: Outlook, labels: tuple[str, ...]) -> str:
    """Describe the risk of stopping now.

    Example:
        >>> now = Outlook(1, np.array([0.1, 0.9]), np.zeros(2), np.ones(2), 0.61, 3.2, 5.0)
        >>> print(outlook_text(now, ("A", "B")))  # doctest: +NORMALIZE_WHITESPACE
        'B' is best with a probability of 90 %. Playing it alone from now on would lose 0.61 rewards
        in 1,000 decisions on average, and with a probability of 95 % less than 3.20. That is below
        the 5.00 that matter to you: you can stop.
    """
    if not now.can_rank:
        return (
            "It is too early to say which arm is best: at least two arms need "
            f"{FEW} live rewards each, or logs that count."
        )
    worst = rounded(now.loss_95)
    text = (
        f"{labels[now.leader]!r} is best with a probability of "
        f"{percent(float(now.p_best[now.leader]))}. Playing it alone from now on would lose "
        f"{rounded(now.loss)} rewards in 1,000 decisions on average, and with a probability of "
        f"95 % {'nothing' if worst == '0' else f'less than {worst}'}."
    )
    if now.difference is None:
        return text
    if now.is_enough:
        return (
            f"{text} That is below the {rounded(now.difference)} that matter to you: you can stop."
        )
    return f"{text} That is more than the {rounded(now.difference)} that matter to you: continue."


def _moves(
    common: Posterior, terms: Terms, evidence: Evidence, limits: list[Range]
) -> tuple[Floats, Floats]:
    """Return a grid of common moves and their weights.

    The grid is finer if the move separates arms by more than their standard deviations. A move
    that would take a mean out of the reward range gets little weight: see `_chance_in_range`.
    """
    if common.sd == 0.0:
        return np.array([common.mean]), np.ones(1)
    ends = (common.mean - common.sd, common.mean + common.sd)
    below, above = (np.array(_beliefs(terms, evidence, limits, end)) for end in ends)
    push = (above[:, 0] - below[:, 0])[evidence.playable]
    steps = 2.0 * MAX_SDS * float(np.ptp(push)) / float(above[evidence.playable, 1].min())
    z = np.linspace(-MAX_SDS, MAX_SDS, int(np.clip(steps, MIN_MOVES, MAX_MOVES)) | 1)
    moves, weights = common.mean + common.sd * z, np.exp(-0.5 * z * z)
    possible = weights * _chance_in_range(terms, evidence, moves)
    if possible.sum() > TINY:
        weights = possible
    return moves, weights / weights.sum()


def _chance_in_range(terms: Terms, evidence: Evidence, moves: Floats) -> Floats:
    """Return, for each common move, the probability that all means are in the reward range.

    Given the move c, the mean of an arm with logs is N(m + c, (W/2)² + σ²/N). Normal beliefs ignore
    that rates lie between 0 and 1: without this weight, rates of 0.1 could move by −0.2.
    """
    (low, high), noise = terms.reward_range, terms.policy.noise
    chance = np.ones(moves.size)
    for column in range(evidence.pulls.size):
        arm = arm_at(evidence, column)
        if not (arm.offline_pulls > 0 and arm.relative_bound < math.inf):
            continue
        sd = math.hypot(own_sd(arm.relative_bound), noise / math.sqrt(arm.offline_pulls))
        means = arm.offline_mean + moves
        chance *= normal_cdf((high - means) / sd) - normal_cdf((low - means) / sd)
    return chance


def _limits(terms: Terms, evidence: Evidence) -> list[Range]:
    """Return the limits within which logs may pull the mean of each arm.

    An interval that reaches the end of the reward range sets no limit on that side, because no live
    reward contradicts the logs there.
    """
    policy = terms.policy
    arms = [arm_at(evidence, column) for column in range(evidence.pulls.size)]
    if not (isinstance(policy, GuardedAnchorTS) and promises_may_fail(policy)):
        return [(-math.inf, math.inf)] * len(arms)
    lowest, highest = terms.reward_range
    limits = []
    for arm in arms:
        low, high = live_interval(
            arm.pulls, arm.total, policy.noise, (lowest, highest), policy.clip
        )
        limits.append((low if low > lowest else -math.inf, high if high < highest else math.inf))
    return limits


def _beliefs(
    terms: Terms, evidence: Evidence, limits: list[Range], common: float
) -> list[Posterior]:
    """Return the belief about each arm, given the common move."""
    policy = terms.policy
    arms = [arm_at(evidence, column) for column in range(evidence.pulls.size)]
    beliefs = [
        belief(arm, common, policy.noise, ends) for arm, ends in zip(arms, limits, strict=True)
    ]
    known = [x.mean for x, on in zip(beliefs, evidence.playable, strict=True) if x and on]
    level = max(known, default=policy.prior_mean)
    return [x or Posterior(level, policy.noise) for x in beliefs]


def belief(arm: ArmEvidence, common: float, noise: float, limits: Range) -> Posterior | None:
    """Return the belief about one arm; None if it has neither rewards nor logs.

    Args:
        arm: The arm's live rewards and logs.
        common: How far all arms moved since the logs.
        noise: σ.
        limits: The limits within which logs may pull the mean.

    Example:
        >>> logged = ArmEvidence(2, 2.0, 1_000, 0.11, 0.0)  # two of two converted
        >>> limits = live_interval(2, 2.0, 0.31, (0.0, 1.0), 2.0)
        >>> [round(x, 2) for x in belief(logged, 0.0, 0.31, limits)]
        [0.15, 0.22]
    """
    there = moved(arm, common, noise)
    weight = 0.0
    if arm.offline_pulls > 0 and there.bias_bound < math.inf:
        weight = moved_pulls(float(arm.offline_pulls), own_sd(there.bias_bound), noise)
    n = arm.pulls + weight
    if n == 0.0:
        return None
    mean, sd = (arm.total + weight * there.offline_mean) / n, noise / math.sqrt(n)
    low, high = limits
    if not low <= mean <= high:
        return Posterior(max(low, min(mean, high)), noise / math.sqrt(arm.pulls))
    return Posterior(mean, sd)


def live_interval(
    pulls: float, total: float, noise: float, ends: Range, z: float, variance: float = math.nan
) -> Range:
    """Return a confidence interval for the live mean, from live rewards alone.

    For bounded rewards it is valid for any number of rewards (`fixed_sample_interval`). Otherwise
    rewards are taken to be normal.

    Args:
        pulls: The number of rewards; with 0 the interval is unlimited.
        total: The sum of the rewards.
        noise: σ, for rewards without a range.
        ends: The lowest and highest possible reward.
        z: The error rate is at most that of ±z normal standard errors.
        variance: The sample variance; NaN if unknown.

    Example:
        >>> [round(x, 3) for x in live_interval(2, 2.0, 0.3, (0.0, 1.0), 1.96)]
        [0.158, 1.0]
    """
    if not pulls:
        return -math.inf, math.inf
    mean, (lowest, highest) = total / pulls, ends
    if math.isinf(highest - lowest):
        radius = z * noise / math.sqrt(pulls)
        return mean - radius, mean + radius
    unit, miss = highest - lowest, max(math.erfc(z / SQRT_2), TINY)
    share = min(max((mean - lowest) / unit, 0.0), 1.0)
    low, high = fixed_sample_interval(float(pulls), share, variance / unit / unit, miss)
    return lowest + unit * low, lowest + unit * high
