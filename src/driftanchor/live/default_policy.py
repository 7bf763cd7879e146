"""The default policy: guarded Anchor-TS with numbers that fit the logs.

The paper's prior is N(0, 1). A policy that keeps it while rewards are near 50 is broken (E16), so
the default takes its prior mean and noise from the logs or from the declared range of rewards.
"""

import math
import warnings

from driftanchor.core import check
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import Range
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS

# How much to insure against bounds that do not hold, by where the bounds come from: A and ε of the
# guard.
BUDGET = {"proved": 0.0, "estimated": 5.0, "guessed": 8.0}
EPS = {"proved": 0.0, "estimated": 0.2, "guessed": 0.4}
INSURANCE = {
    None: "bounds count as estimated unless you say that they are proved or guessed, so logs alone "
    "rule no arm out",
    "proved": "the bounds are proved, so logs may rule an arm out at once",
    "estimated": "the bounds are estimated, so logs alone rule no arm out",
    "guessed": "the bounds are guessed, so arms are tested longer before logs rule one out",
}


def default_policy(
    offline: OfflineData, reward_range: Range, source: str | None = None
) -> tuple[GuardedAnchorTS, tuple[str, ...]]:
    """The default policy, and the reasons for each of its numbers.

    It warns when the logs have no variance and no range is declared. The warning names the line
    that called the caller's caller: a function that makes a learner or a plan.

    Args:
        offline: The logs.
        reward_range: The lowest and the highest reward possible.
        source: Where the promised bounds come from: `"proved"`, `"estimated"` or `"guessed"`;
            `None` for `"estimated"`.

    Example:
        >>> logs = OfflineData.from_summary({"A": (200, 50.0, 90.0)})
        >>> policy, reasons = default_policy(logs, (0.0, 100.0))
        >>> policy.prior_mean, reasons[1]
        (50.0, 'prior_mean 50: the mean of the logs; it is forgotten after the first reward')
    """
    if source is not None:
        check.choice(source, "bias_bound_source", list(EPS))
    known = source or "estimated"
    mean, mean_from = _prior_mean(offline, reward_range)
    noise, noise_from = _noise(offline, reward_range)
    if math.isnan(noise):
        noise = 1.0
        if offline.n.any():
            warnings.warn(
                "the logs have no variance, so noise=1 is assumed: give (n, mean, variance), a "
                "reward_range, or a policy with the noise of a reward",
                stacklevel=4,
            )
    policy = GuardedAnchorTS(prior_mean=mean, noise=noise, eps=EPS[known], budget=BUDGET[known])
    reasons = (
        "guarded-anchor-ts is the default; anchor-ts is the paper's rule, without the guard",
        f"prior_mean {mean:.4g}: {mean_from}; it is forgotten after the first reward",
        f"noise {noise:.4g}: {noise_from}",
        f"budget {policy.budget:g}, eps {policy.eps:g}: {INSURANCE[source]}",
    )
    return policy, reasons if offline.n.any() else reasons[:-1]


def _prior_mean(offline: OfflineData, reward_range: Range) -> tuple[float, str]:
    mean, middle = offline.pooled_mean(), sum(reward_range) / 2
    if not math.isnan(mean):
        return mean, "the mean of the logs"
    if math.isfinite(middle):
        return middle, "the middle of the range of rewards"
    return 0.0, "nothing is known"


def _noise(offline: OfflineData, reward_range: Range) -> tuple[float, str]:
    """NaN where nothing is known; at most half the range, as for every law on it."""
    half = (reward_range[1] - reward_range[0]) / 2
    limit = offline.noise_limit()
    if check.SMALLEST <= limit <= min(half, check.LARGEST):
        sd = offline.pooled_noise()
        return limit, f"the upper 95 % limit of the standard deviation within arms, {sd:.4g}"
    if math.isfinite(half):
        return half, "half of the range of rewards, the most it can be"
    return math.nan, "assumed; give the range of rewards, or logs with variances"
