"""Whether the logs are in the units that a policy expects: its prior mean and its noise."""

import math
import warnings
from dataclasses import replace

import numpy as np

from driftanchor.core.arms import Arms
from driftanchor.core.evidence import Evidence, Round, arm_at, gather
from driftanchor.core.noise import Draws, keyed_stream, wrapping
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally
from driftanchor.policies.base import Policy


def warn_of_other_units(policy: Policy, offline: OfflineData) -> None:
    """Warn when the logs lie far from a prior mean that matters, or vary far more than the noise.

    The warning names the line that called the caller's caller, which makes a learner.
    """
    mean, noise = offline.pooled_mean(), offline.pooled_noise()
    if abs(mean - policy.prior_mean) > policy.noise and _uses_prior(policy):
        found = f"mean {mean:.4g}, far from prior_mean={policy.prior_mean:g} at noise"
        hint = f"prior_mean={mean:.4g}" + (f", noise={noise:.4g}" if noise > 0 else "")
    elif noise > 2 * policy.noise:
        found = f"standard deviation {noise:.4g} within arms, more than twice noise"
        hint = f"noise={noise:.4g}"
    else:  # also where the logs are silent: comparisons with NaN are false
        return
    name = type(policy).__name__
    warnings.warn(
        f"the logs have {found}={policy.noise:g}: rewards are in other units than {name} expects; "
        f"use {name}({hint})",
        stacklevel=4,
    )


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
    # Towards 0: a prior mean must not become too large.
    moved = replace(
        policy, prior_mean=policy.prior_mean - math.copysign(policy.noise, policy.prior_mean)
    )
    try:
        return _fresh_index(policy, evidence) != _fresh_index(moved, evidence)
    except Exception:  # of a policy of one's own: the first pull says what is wrong with it
        return False


def _fresh_index(policy: Policy, evidence: Evidence) -> float:
    now = Round(2, 2)
    with wrapping():
        account = policy.account(evidence, now, keyed_stream(0, "units", 0))
    if account.arms:
        return account.arms[1][0]
    return policy.index(arm_at(evidence, 1), now, Draws(0.0, 0.0, 0.0))
