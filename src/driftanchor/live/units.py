"""The units of rewards: a policy's prior mean and noise, and the logs they should fit.

The paper's prior is N(0, 1). A policy left there while rewards are near 50 is broken, not careful
(E16), so a learner takes them from the logs or the declared range, or says that they do not fit.
"""

import math
import warnings
from dataclasses import replace

import numpy as np

from driftanchor.core.arms import Arms
from driftanchor.core.evidence import Evidence, Round, arm_at, gather
from driftanchor.core.noise import Draws
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally
from driftanchor.policies.base import Policy
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS

Range = tuple[float, float]

# How much to insure against a wrong bias bound, by where it comes from: ε and A of the guard.
EPS = {"proved": 0.0, "estimated": 0.1, "guessed": 0.25}
BUDGET = {"proved": 0.0, "estimated": 5.0, "guessed": 5.0}


def guarded_for(
    offline: OfflineData, reward_range: Range, source: str
) -> tuple[GuardedAnchorTS, tuple[str, ...]]:
    """The default policy, and in words why each of its numbers is what it is."""
    mean, mean_from = _prior_mean(offline, reward_range)
    noise, noise_from = _noise(offline, reward_range)
    policy = GuardedAnchorTS(prior_mean=mean, noise=noise, eps=EPS[source], budget=BUDGET[source])
    reasons = (
        "guarded-anchor-ts is the default; AnchorTS() is the paper's rule, without the guard",
        f"prior_mean {mean:.4g}: {mean_from}; it is forgotten after the first reward",
        f"noise {noise:.4g}: {noise_from}",
        f"eps {policy.eps:g}, budget {policy.budget:g}: the bias bound is {source}",
    )
    return policy, reasons if offline.n.any() else reasons[:-1]


def warn_of_units(policy: Policy, offline: OfflineData) -> None:
    """Warn when the logs do not fit a prior mean that matters, or rewards vary far more."""
    mean, noise = offline.pooled_mean(), offline.pooled_noise()
    if abs(mean - policy.prior_mean) > policy.noise and _uses_prior(policy):
        told = f"mean {mean:.4g}, far from prior_mean={policy.prior_mean:g} at noise"
        hint = f"prior_mean={mean:.4g}" + (f", noise={noise:.4g}" if noise > 0 else "")
    elif noise > 2 * policy.noise:
        told = f"standard deviation {noise:.4g} within arms, more than twice noise"
        hint = f"noise={noise:.4g}"
    else:  # and where the logs are silent: comparisons with NaN are false
        return
    name = type(policy).__name__
    warnings.warn(
        f"the logs have {told}={policy.noise:g}: rewards are in other units than {name} expects; "
        f"use {name}({hint})",
        stacklevel=4,
    )


def _prior_mean(offline: OfflineData, reward_range: Range) -> tuple[float, str]:
    mean, middle = offline.pooled_mean(), sum(reward_range) / 2
    if not math.isnan(mean):
        return mean, "the mean of the logs"
    if math.isfinite(middle):
        return middle, "the middle of reward_range"
    return 0.0, "nothing is known"


def _noise(offline: OfflineData, reward_range: Range) -> tuple[float, str]:
    """At most half the range: no law on it has a larger standard deviation."""
    half = (reward_range[1] - reward_range[0]) / 2
    limit = offline.noise_limit()
    if 0 < limit <= half:
        sd = offline.pooled_noise()
        return limit, f"the upper 95 % limit of the standard deviation within arms, {sd:.4g}"
    if math.isfinite(half):
        return half, "half of reward_range, the most it can be"
    if offline.n.any():
        warnings.warn(
            "the logs have no variance, so noise=1 is assumed: give (n, mean, variance), a "
            "reward_range, or a policy with the noise of a reward",
            stacklevel=5,
        )
    return 1.0, "assumed; give a reward_range, or logs with variances"


def _uses_prior(policy: Policy) -> bool:
    """Whether the index of an arm that was never played depends on the prior mean.

    Another arm was played: a prior that follows the leader has then left the prior mean.
    """
    arms = Arms(["played", "fresh"])
    evidence = gather(
        Tally.empty(arms).add(0, 0.0),
        OfflineData.empty(arms),
        np.zeros(2),
        np.ones(2, np.bool_),
        np.zeros((2, policy.memory)),
        np.zeros(2, np.int64),
        np.full(2, np.inf),
    )
    moved = replace(policy, prior_mean=policy.prior_mean + policy.noise)
    return _fresh_index(policy, evidence) != _fresh_index(moved, evidence)


def _fresh_index(policy: Policy, evidence: Evidence) -> float:
    now = Round(2, 2)
    rule = policy.for_round(evidence, now)
    return rule.index(arm_at(evidence, 1), now, Draws(0.0, 0.0, 0.0))
