"""The units of rewards: a policy's prior mean and noise, and the logs they should fit.

The paper's prior is N(0, 1). A policy left there while rewards are near 50 is broken, not careful
(E16), so a learner takes them from the logs or the declared range, or says that they do not fit.
"""

import math
import warnings
from dataclasses import replace

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.core.offline import OfflineData
from driftanchor.policies.anchor_ts import AnchorTS
from driftanchor.policies.base import Policy

Range = tuple[float, float]


def anchor_ts_for(offline: OfflineData, reward_range: Range) -> AnchorTS:
    """Anchor-TS with prior mean and noise from the logs; from the range where they are silent."""
    low, high = reward_range
    bounded = math.isfinite(low) and math.isfinite(high)
    mean, noise = offline.pooled_mean(), offline.pooled_noise()
    if math.isnan(mean):
        mean = (low + high) / 2 if bounded else 0.0
    if bounded:  # no law on a range has a larger standard deviation than half of it
        noise = min(noise, (high - low) / 2) if noise > 0 else (high - low) / 2
    elif offline.n.any() and not noise > 0:
        warnings.warn(
            "the logs have no variance, so noise=1 is assumed: give (n, mean, variance), a "
            "reward_range, or a policy with the noise of a reward",
            stacklevel=5,
        )
    return AnchorTS(prior_mean=mean, noise=noise if noise > 0 else 1.0)


def warn_of_units(policy: Policy, offline: OfflineData) -> None:
    """Warn when the logs lie more than one noise level away from a prior mean that matters."""
    mean = offline.pooled_mean()
    if math.isnan(mean) or abs(mean - policy.prior_mean) <= policy.noise:
        return
    if not _uses_prior(policy):
        return
    noise = offline.pooled_noise()
    hint = f"prior_mean={mean:.4g}" + (f", noise={noise:.4g}" if noise > 0 else "")
    warnings.warn(
        f"the logs have mean {mean:.4g}, far from prior_mean={policy.prior_mean:g} at "
        f"noise={policy.noise:g}: rewards are in other units than {type(policy).__name__} expects; "
        f"use {type(policy).__name__}({hint})",
        stacklevel=4,
    )


def _uses_prior(policy: Policy) -> bool:
    """Whether the index of an arm that was never played depends on the prior mean."""
    fresh = ArmEvidence(0, 0.0, 0, 0.0, 0.0)
    moved = replace(policy, prior_mean=policy.prior_mean + policy.noise)
    now, z = Round(1, 1), Draws(0.0, 0.0, 0.0)
    return policy.index(fresh, now, z) != moved.index(fresh, now, z)
