"""Guarded Anchor-TS: no arm is left alone while an upper bound of it beats the leader.

Anchor-TS plays an arm only when two samples exceed the leader, so an arm that was unlucky early
may wait for the square of the rounds that TS would make it wait, and a few runs in a hundred never
recover. The guard is the same median with the two samples replaced by two upper bounds. It is a
rule of this package and not of the paper; `docs/guarded.md` says why and has its numbers.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.noise import Draws, Stream
from driftanchor.core.posterior import median, online_posterior
from driftanchor.policies.anchor_ts import AnchorTS, anchored, posteriors
from driftanchor.policies.base import Best, Policy, challenge, draw


class Bounds(NamedTuple):
    """The three numbers of an arm whose median is its upper bound."""

    audit_bound: float  # a + A σ/(T + 1) + r_ε(T + 1)
    online_bound: float  # a + r_b(T + 1)
    hybrid_bound: float  # h + r_b(T + N + 1), or the joint bound where that is smaller


class Dials(NamedTuple):
    """What the bounds of one round are made with, besides the arm."""

    prior_mean: float  # P
    noise: float
    b: float
    eps: float
    budget: float  # A
    joint: bool
    rivals: int  # W: pulls of all arms but the one most pulled


@dataclass(frozen=True, kw_only=True)
class GuardedAnchorTS(AnchorTS):
    """Anchor-TS under a guard, with a prior that follows the leader.

    With T pulls and reward sum S online, N logged rewards of mean m, and bias bound V, in round t
    of K arms::

        L      = the largest S/T of the arms pulled so far; m₀ before the first pull
        P      = L + β σ, in place of m₀ wherever it stands
        a      = (S + P)/(T + 1), the anchor
        h      = (S + N m + P)/(T + N + 1) + N V/(T + N)
        r_b(n) = σ √(2 b log⁺(t/H(n)) / n)
        U      = median(a + A σ/(T + 1) + r_ε(T + 1), a + r_b(T + 1), h + r_b(T + N + 1))

    The leader is the arm with the largest a. If another arm's U is above the leader's, the arm
    with the largest U is played: a guard pull. Otherwise Anchor-TS draws, with prior mean P. Arms
    that share the largest a are led by the one with the largest U. A pull whose reward has not
    come counts in the n of the radii, so that it is not made again and again.

    With `form="separate"` H(n) = K n. With `form="joint"` H(n) = min(K n, n + W) in the first two
    radii, W the pulls (and one for each arm) of all arms but the most pulled: few close rivals are
    looked at longer than many distant ones. And logs and rewards bound the mean together: where
    a < m + V, the hybrid bound is at most the largest x ≥ m + V with ::

        n (x − a)² + N (x − m − V)² ≤ 2 b σ² log⁺(t/(K (n + N))),   n = T + 1

    Only differences of means, σ and V matter once an arm was pulled: adding a number to all
    rewards changes nothing. b = ε = 0 with `prior="fixed"` is Anchor-TS, decision for decision:
    b = 0 leaves no guard.

    Attributes:
        prior_mean: m₀; with `prior="leader"` it is forgotten after the first reward.
        noise: σ; better too large than too small.
        posterior_scale: c of the draws.
        b: How far the guard looks; 1 is the Lai–Robbins rate, and less lets bad runs come back.
        beta: β, how much better than the leader an arm is hoped to be before it is pulled.
        eps: ε, at most b: how much of its radius an arm keeps whatever its logs say, against a
            bias bound that is wrong. 0 where the bias bound is proved, 0.25 where it is a guess.
        budget: A, what an arm may lose to the leader, in σ, before its logs may silence it. An arm
            that is g better than the leader is silenced with probability near exp(−2 g A/σ). 0
            where the bias bound is proved.
        form: `"joint"`, or `"separate"` for the rule as it was first measured.
        prior: `"leader"` for P, or `"fixed"` for m₀ as in the paper; β is then not used.

    Example:
        >>> arm = ArmEvidence(pulls=3, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
        >>> guard = Guard(prior_mean=0.0, b=1.0, eps=0.1)  # what decides when P = 0
        >>> parts = guard.explain(arm, Round(t=100, arms=2), Draws(0, 0, 0))
        >>> {name: round(x, 2) for name, x in parts.items()}
        {'anchor': 0.3, 'audit_bound': 0.66, 'online_bound': 1.42, 'hybrid_bound': 1.48}
        >>> guard.index(arm, Round(t=100, arms=2), Draws(0, 0, 0))
        1.4237...
    """

    name = "guarded-anchor-ts"
    formula = "argmax U if above the leader's, U = median(a+Aσ/n+r_ε, a+r_b, h+r_b); else anchor-ts"
    source = "this package, after Anchor-TS and MOSS (Audibert & Bubeck 2009)"

    b: float = 1.0
    beta: float = 1.0
    eps: float = 0.1
    budget: float = 5.0
    form: str = "joint"
    prior: str = "leader"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("b", low=0.0)
        self.check_number("beta", low=0.0)
        self.check_number("eps", low=0.0, high=self.b)
        self.check_number("budget", low=0.0)
        self.check_choice("form", ("joint", "separate"))
        self.check_choice("prior", ("leader", "fixed"))

    @property
    def follows_leader(self) -> bool:
        """Whether P stands in place of m₀."""
        return self.prior == "leader"

    @property
    def joint(self) -> bool:
        """Whether logs and rewards bound an arm together, and rivals are counted."""
        return self.form == "joint"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The largest upper bound when the guard speaks, otherwise the largest draw."""
        dials = dials_now(self, evidence)
        guarding = guard_speaks(evidence, now, dials)
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if guarding:
                value = upper_bound(arm, now, dials)
            else:
                belief = posteriors(arm, dials.prior_mean, self.noise, self.posterior_scale)
                value = anchored(belief, draw(self, stream))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return best.column

    def for_round(self, evidence: Evidence, now: Round) -> Policy:
        """`Guard` when it speaks, otherwise Anchor-TS; both with the prior mean of this round."""
        dials = dials_now(self, evidence)
        if guard_speaks(evidence, now, dials):
            return Guard(**dials._asdict())
        return AnchorTS(
            prior_mean=dials.prior_mean, noise=self.noise, posterior_scale=self.posterior_scale
        )


@dataclass(frozen=True, kw_only=True)
class Guard(Policy):
    """Plays the largest upper bound U: what `GuardedAnchorTS` does in the round of a guard pull.

    Attributes:
        prior_mean: P.
        noise: σ.
        b: Of U.
        eps: ε of U.
        budget: A of U.
        joint: Whether U is that of `form="joint"`.
        rivals: W, pulls of all arms but the one most pulled.
    """

    name = "guard"
    formula = "median(a + Aσ/(T+1) + r_ε(T+1), a + r_b(T+1), h + r_b(T+N+1))"
    source = GuardedAnchorTS.source

    b: float
    eps: float
    budget: float = 0.0
    joint: bool = False
    rivals: int = 0

    @property
    def dials(self) -> Dials:
        """All of them, as the bounds take them."""
        return Dials(
            self.prior_mean, self.noise, self.b, self.eps, self.budget, self.joint, self.rivals
        )

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """U of one arm."""
        return upper_bound(arm, now, self.dials)

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """The anchor, by which arms lead, and the three numbers whose median is U."""
        anchor = online_posterior(arm, self.prior_mean, self.noise).mean
        three = bounds(arm, now, self.dials)
        return {"anchor": anchor, **three._asdict()}


def prior_mean_now(policy: GuardedAnchorTS, evidence: Evidence) -> float:
    """P: the leader's mean and β σ; m₀ stands for the mean before the first pull."""
    if not policy.follows_leader:
        return policy.prior_mean
    leader = -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column] and evidence.pulls[column] > 0:
            leader = max(leader, evidence.totals[column] / evidence.pulls[column])
    if leader == -math.inf:
        leader = policy.prior_mean
    return leader + policy.beta * policy.noise


def dials_now(policy: GuardedAnchorTS, evidence: Evidence) -> Dials:
    """The policy's numbers, the prior mean P and the pulls of rivals W in this round."""
    pulls, most = 0, 0
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            n = evidence.pulls[column] + evidence.pending[column] + 1
            pulls += n
            most = max(most, n)
    return Dials(
        prior_mean_now(policy, evidence),
        policy.noise,
        policy.b,
        policy.eps,
        policy.budget,
        policy.joint,
        pulls - most,
    )


def guard_speaks(evidence: Evidence, now: Round, dials: Dials) -> bool:
    """Whether some arm's U is above that of the leader, the arm with the largest a."""
    if dials.b == 0.0:  # nothing to look with
        return False
    leader_mean, leader_bound, largest = -math.inf, -math.inf, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm = arm_at(evidence, column)
            mean = online_posterior(arm, dials.prior_mean, dials.noise).mean
            bound = upper_bound(arm, now, dials)
            if mean > leader_mean or (mean == leader_mean and bound > leader_bound):
                leader_mean, leader_bound = mean, bound
            largest = max(largest, bound)
    return largest > leader_bound


def upper_bound(arm: ArmEvidence, now: Round, dials: Dials) -> float:
    """U: Anchor-TS's median, with bounds in place of samples."""
    three = bounds(arm, now, dials)
    return median(three.audit_bound, three.online_bound, three.hybrid_bound)


def bounds(arm: ArmEvidence, now: Round, dials: Dials) -> Bounds:
    """The three numbers of one arm."""
    belief = posteriors(arm, dials.prior_mean, dials.noise, 1.0)
    n = arm.pulls + arm.pending + 1
    share = now.arms * n
    if dials.joint:
        share = min(share, n + dials.rivals)
    audit = belief.mean + dials.noise * (dials.budget / n + radius(dials.eps, n, now.t, share))
    online = belief.mean + dials.noise * radius(dials.b, n, now.t, share)
    if arm.offline_pulls == 0:  # h = a then, and U is the online bound
        return Bounds(audit, online, online)
    both = n + arm.offline_pulls
    reach = dials.noise * radius(dials.b, both, now.t, now.arms * both)
    hybrid = belief.hybrid_mean + reach
    if dials.joint:
        hybrid = min(hybrid, joint_bound(arm, belief.mean, both, reach))
    return Bounds(audit, online, hybrid)


def joint_bound(arm: ArmEvidence, mean: float, n: float, reach: float) -> float:
    """The largest x that rewards and logs allow together, n (x − a)² + N (x − m − V)² ≤ n r².

    Of n rewards in all, N are logged; below m + V the logs do not object, so it is at least that.
    """
    most_logged = arm.offline_mean + arm.bias_bound  # the largest online mean they fit
    if mean >= most_logged:
        return math.inf
    share = arm.offline_pulls / n
    middle = mean + share * (most_logged - mean)
    left = reach**2 - share * (1.0 - share) * (most_logged - mean) ** 2
    if not left > 0.0:
        return most_logged
    return max(most_logged, middle + math.sqrt(left))


def radius(b: float, n: float, t: int, share: float) -> float:
    """r_b(n)/σ = √(2 b log⁺(t/H) / n): 0 for an arm that had its share H of the rounds."""
    if t <= share:
        return 0.0
    return math.sqrt(2.0 * b * math.log(t / share) / n)
