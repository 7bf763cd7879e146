"""Terms: the policy, logs, bounds and seed of a learner or campaign."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats
from driftanchor.core.evidence import means_seen
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.core.promises import (
    Range,
    bias_bounds,
    check_log_sizes,
    check_promises,
    relative_bounds,
    valid_range,
)
from driftanchor.errors import InvalidInput
from driftanchor.live.default_policy import EPS, default_policy
from driftanchor.live.state_events import ArmAdded, BoundsChanged, Distrusted, Event
from driftanchor.live.suggestion_check import warn_of_suggestion
from driftanchor.live.unit_check import warn_of_other_units
from driftanchor.policies.base import Policy, valid_policy


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
            raise InvalidInput(f"must be OfflineData, got {offline!r}", argument="offline")
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
        """Restore stored terms: validate them, without defaults or warnings.

        Args:
            policy: The rule.
            offline: The logs of every arm.
            bias_bounds: V of every arm.
            relative_bounds: W of every arm, or `None` for no bound.
            reward_range: The lowest and the highest reward possible.
            seed: The seed of the policy's noise.
            reasons: The stored reasons.
        """
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
    """A policy of the caller's choice; the source of the bounds is for the default policy only."""
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
    """The offline data over the arms that the caller names; no logged arm may be left out."""
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
    """The bias bounds and the relative bounds; logs without a promise are refused."""
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
