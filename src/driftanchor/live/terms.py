"""Terms: the policy, logs, bounds and seed of a learner or campaign.

Without a policy, the default is guarded Anchor-TS with numbers that fit the logs. The paper's prior
is N(0, 1), which is wrong for rewards near 50 (E16), so the default takes its prior mean and noise
from the logs or from the range of rewards.
"""

from __future__ import annotations

import math
import secrets
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round, arm_at, means_seen
from driftanchor.core.noise import Draws, keyed_stream, wrapping
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.core.promises import (
    Range,
    bias_bounds,
    check_log_sizes,
    check_promises,
    relative_bounds,
    valid_range,
)
from driftanchor.errors import InvalidInput, shown
from driftanchor.live.state_events import ArmAdded, BoundsChanged, Distrusted, Event
from driftanchor.policies.base import Policy, valid_policy
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS
from driftanchor.shift.suggestion import Suggestion

# How much to insure against wrong bounds, by the source of the bounds: A and ε of the guard.
BUDGET = {"proved": 0.0, "estimated": 5.0, "guessed": 8.0}
EPS = {"proved": 0.0, "estimated": 0.2, "guessed": 0.4}
INSURANCE = {
    None: "bounds count as estimated unless you say that they are proved or guessed, so logs alone "
    "rule no arm out",
    "proved": "the bounds are proved, so logs may rule an arm out at once",
    "estimated": "the bounds are estimated, so logs alone rule no arm out",
    "guessed": "the bounds are guessed, so arms are tested longer before logs rule one out",
}


@dataclass(frozen=True, eq=False)
class Terms:
    """The policy, the logs, their bounds, and the seed.

    Terms are immutable. Adding an arm, distrusting its logs, or changing bounds creates new terms:
    see `after`.

    Together with a `State` and the number of a decision they determine that decision: see
    `driftanchor.live.decide`.

    Attributes:
        policy: The rule.
        offline: The logs of every arm.
        bias_bounds: V of every arm; `inf` for no bound.
        relative_bounds: W of every arm; `inf` for no bound.
        reward_range: The lowest and the highest reward possible.
        seed: The seed of the policy's noise.
        reasons: Why the default policy has its parameters; empty if the caller chose the policy.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], reward_range=(0, 1), seed=1)
        >>> terms.policy.name, terms.reasons[2]
        ('guarded-anchor-ts', 'noise 0.5: half of the range of rewards, the most it can be')
    """

    policy: Policy
    offline: OfflineData
    bias_bounds: Floats
    relative_bounds: Floats
    reward_range: Range
    seed: int
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_promises(self.relative_bounds, self.offline.n, self.arms)
        self.policy.check_rewards(self.reward_range, "rewards in reward_range")
        valid_range(self.reward_range, self.offline.mean)
        check.frozen(self.bias_bounds)
        check.frozen(self.relative_bounds)

    @classmethod
    def declare(
        cls,
        policy: Policy | None = None,
        *,
        offline: OfflineData | None = None,
        arms: Iterable[str] | None = None,
        bias_bound: object = None,
        relative_bound: object = None,
        bias_bound_source: str | None = None,
        reward_range: object = None,
        seed: int | None = None,
    ) -> Terms:
        """Validate the caller's arguments, fill in defaults, and warn about likely mistakes.

        The arguments are those of `Learner`. Warnings point to the line that called the
        constructor.
        """
        if offline is not None and not isinstance(offline, OfflineData):
            raise InvalidInput(f"must be OfflineData, got {shown(offline)}", argument="offline")
        logs = _over(offline, arms)
        ends = valid_range(reward_range)
        check_log_sizes(logs)
        level, relative = _promises(bias_bound, relative_bound, logs)
        key = secrets.randbits(53) if seed is None else check.whole(seed, "seed")
        warn_of_suggestion("bias_bound", bias_bound, logs)
        warn_of_suggestion("relative_bound", relative_bound, logs)
        if policy is None:
            rule, reasons = default_policy(logs, ends, bias_bound_source)
            return cls(rule, logs, level, relative, ends, key, reasons)
        _check_policy(policy, bias_bound_source)
        warn_of_other_units(policy, logs)
        ends = policy.reward_range if reward_range is None else ends
        return cls(policy, logs, level, relative, ends, key)

    @classmethod
    def restore(
        cls,
        policy: Policy,
        *,
        offline: OfflineData,
        bias_bounds: object,
        relative_bounds: object,
        reward_range: object,
        seed: object,
        reasons: Iterable[str] = (),
    ) -> Terms:
        """Restore stored terms: validate them, without defaults or warnings."""
        level, relative = _promises(bias_bounds, relative_bounds, offline)
        ends = valid_range(reward_range)
        key = check.whole(seed, "seed")
        return cls(policy, offline, level, relative, ends, key, tuple(reasons))

    @property
    def arms(self) -> Arms:
        """All arms, including paused ones."""
        return self.offline.arms

    @cached_property
    def offline_means(self) -> Floats:
        """The logged mean of each arm as policies see it; 0 without logs."""
        return check.frozen(means_seen(self.offline))

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each label."""
        return {label: column for column, label in enumerate(self.arms)}

    @cached_property
    def limits(self) -> Range:
        """The lowest and highest accepted reward."""
        low, high = self.reward_range
        return max(low, -check.LARGEST), min(high, check.LARGEST)

    def with_arm(
        self,
        label: str,
        offline: Summary = (0,),
        bias_bound: float | None = None,
        relative_bound: float | None = None,
    ) -> Terms:
        """Return the terms with a new last arm; the arguments are those of `Learner.add_arm`."""
        wider = self.offline.with_arm(label, offline)
        alone = OfflineData.from_summary({label: offline})
        level, relative = _promises(bias_bound, relative_bound, alone)
        return replace(
            self,
            offline=wider,
            bias_bounds=np.append(self.bias_bounds, level),
            relative_bounds=np.append(self.relative_bounds, relative),
        )

    def after(self, event: Event) -> Terms:
        """Return the terms after an event: an added arm, distrusted logs or new bounds."""
        if isinstance(event, BoundsChanged):
            level, relative = event.bias_bounds, event.relative_bounds
            return replace(
                self,
                bias_bounds=self.bias_bounds if level is None else np.array(level),
                relative_bounds=self.relative_bounds if relative is None else np.array(relative),
            )
        if isinstance(event, Distrusted):
            return self._without_logs_of(event.column)
        if isinstance(event, ArmAdded):
            return self.with_arm(event.label, event.offline, event.bias_bound, event.relative_bound)
        return self

    def _without_logs_of(self, column: int) -> Terms:
        """Return the terms with infinite bounds for an arm, so that rules ignore its logs.

        Infinite bounds are safer than removing the logs: the rule then uses the optimistic draw for
        an arm with live rewards. A relative bound left on a single arm has no meaning, and becomes
        ∞ too.
        """
        level, relative = self.bias_bounds.copy(), self.relative_bounds.copy()
        level[column] = relative[column] = math.inf
        if (np.isfinite(relative) & (self.offline.n > 0)).sum() < 2:
            relative[:] = math.inf
        return replace(self, bias_bounds=level, relative_bounds=relative)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Terms) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[object, ...]:
        bounds = (*self.bias_bounds.tolist(), *self.relative_bounds.tolist())
        rest = (self.reward_range, self.seed, self.reasons)
        return self.policy, self.offline, bounds, *rest


def _check_policy(policy: object, source: str | None) -> None:
    """Validate the caller's policy; only the default policy uses the source of the bounds."""
    if source is not None:
        check.choice(source, "bias_bound_source", list(EPS))
    valid_policy(policy)
    if source is not None:
        raise InvalidInput(
            f"is {source!r} and a policy is given: it sets eps of the default "
            "policy; use GuardedAnchorTS(eps=…) or leave one of them out",
            argument="bias_bound_source",
        )


def _over(offline: OfflineData | None, labels: Iterable[str] | None) -> OfflineData:
    """Return the offline data with the caller's arms; no logged arm may be left out."""
    if labels is None:
        if offline is None:
            raise InvalidInput("is missing: name the arms, or give offline data", argument="arms")
        return offline
    arms = Arms(labels)
    if offline is None:
        return OfflineData.empty(arms)
    for label in offline.arms:
        if label not in arms:
            raise InvalidInput(
                f"lacks {label!r}, which has logs: add it, or drop its logs", argument="arms"
            )
    return offline.over(arms)


def _promises(
    bias_bound: object, relative_bound: object, offline: OfflineData
) -> tuple[Floats, Floats]:
    """Return the bias bounds and the relative bounds; refuse logs without a bound."""
    if bias_bound is None and relative_bound is None:
        for label, n in zip(offline.arms, offline.n, strict=True):
            if n > 0:
                raise InvalidInput(
                    f"is missing and arm {label!r} has {n} logged rewards: say how far "
                    "its online mean may be from its offline mean, inf if nothing is known; or "
                    "give relative_bound, how far arms may have moved apart",
                    argument="bias_bound",
                )
    level = bias_bounds(math.inf if bias_bound is None else bias_bound, offline.arms)
    return level, relative_bounds(relative_bound, offline.arms)


def default_policy(
    offline: OfflineData, reward_range: Range, source: str | None = None
) -> tuple[GuardedAnchorTS, tuple[str, ...]]:
    """Return the default policy, and the reason for each of its parameters.

    Warns if the logs have no variance and no range is declared. The warning points to the line
    that called the caller's caller.

    Args:
        offline: The logs.
        reward_range: The lowest and the highest reward possible.
        source: The source of the bounds: `"proved"`, `"estimated"` or `"guessed"`; `None` for
            `"estimated"`.

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
    """Return the noise and its reason; NaN if unknown. It is at most half the range."""
    half = (reward_range[1] - reward_range[0]) / 2
    limit = offline.noise_limit()
    if check.SMALLEST <= limit <= min(half, check.LARGEST):
        sd = offline.pooled_noise()
        return limit, f"the upper 95 % limit of the standard deviation within arms, {sd:.4g}"
    if math.isfinite(half):
        return half, "half of the range of rewards, the most it can be"
    return math.nan, "assumed; give the range of rewards, or logs with variances"


def warn_of_suggestion(
    name: str, given: object, offline: OfflineData, *, stacklevel: int = 4
) -> None:
    """Warn if a suggestion has no bound, or was made for other arms.

    Args:
        name: `"bias_bound"` or `"relative_bound"`.
        given: The argument of that name, a suggestion or not.
        offline: The logs that it is used for.
        stacklevel: As for `warnings.warn`; by default the line that called the caller's caller.
    """
    if not isinstance(given, Suggestion):
        return
    if math.isinf(getattr(given, name)):
        meaning = given.meaning if name == "bias_bound" else given.relative_meaning
        warnings.warn(
            f"{name} is a Suggestion without a bound (inf), so it promises nothing. {meaning} Give "
            f"{name} a number, or inf for no promise",
            stacklevel=stacklevel,
        )
        return
    logged = [label for label, n in zip(offline.arms, offline.n, strict=True) if n > 0]
    strangers = [label for label in logged if label not in given.arms]
    if strangers:
        warnings.warn(
            f"{name} is a Suggestion from other arms: it saw {shown(list(given.arms))}, and never "
            f"{shown(strangers)}. Make it from the periods of these arms too, or give {name} the "
            "number if all arms move alike",
            stacklevel=stacklevel,
        )


def warn_of_other_units(policy: Policy, offline: OfflineData) -> None:
    """Warn if the logs are far from the policy's prior mean, or vary far more than its noise.

    The warning points to the line that called the caller's caller.
    """
    mean, noise = offline.pooled_mean(), offline.pooled_noise()
    if abs(mean - policy.prior_mean) > policy.noise and _uses_prior(policy):
        finding = f"mean {mean:.4g}, far from prior_mean={policy.prior_mean:g} at noise"
        hint = f"prior_mean={mean:.4g}" + (f", noise={noise:.4g}" if noise > 0 else "")
    elif noise > 2 * policy.noise:
        finding = f"standard deviation {noise:.4g} within arms, more than twice noise"
        hint = f"noise={noise:.4g}"
    else:  # also without logs, because comparisons with NaN are false
        return
    name = type(policy).__name__
    warnings.warn(
        f"the logs have {finding}={policy.noise:g}: rewards are in other units than {name} "
        f"expects; use {name}({hint})",
        stacklevel=4,
    )


def _uses_prior(policy: Policy) -> bool:
    """Return whether the index of an unplayed arm depends on the prior mean.

    The test evidence also has a played arm, because a prior may depend on the leader.
    """
    none = np.zeros(2, np.int64)
    evidence = Evidence(
        pulls=np.array([1, 0]),
        totals=np.zeros(2),
        offline_pulls=none,
        offline_means=np.zeros(2),
        bias_bounds=np.zeros(2),
        playable=np.ones(2, np.bool_),
        memory=np.zeros((2, policy.memory)),
        pending=none,
        relative_bounds=np.full(2, np.inf),
    )
    # Towards 0: a prior mean must not become too large.
    moved = replace(
        policy, prior_mean=policy.prior_mean - math.copysign(policy.noise, policy.prior_mean)
    )
    try:
        return _fresh_index(policy, evidence) != _fresh_index(moved, evidence)
    except Exception:  # of a custom policy: the first pull will raise the error
        return False


def _fresh_index(policy: Policy, evidence: Evidence) -> float:
    now = Round(2, 2)
    with wrapping():
        account = policy.account(evidence, now, keyed_stream(0, "units", 0))
    if account.arms:
        return account.arms[1][0]
    return policy.index(arm_at(evidence, 1), now, Draws(0.0, 0.0, 0.0))
