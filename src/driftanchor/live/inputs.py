"""What a learner is given, checked and put into the form it works with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import bias_bounds, check_promises, relative_bounds
from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.live.units import EPS, Range, guarded_for, warn_of_units
from driftanchor.policies import POLICIES, make
from driftanchor.policies.base import Policy


def rule(
    policy: Policy | None, offline: OfflineData, reward_range: Range, source: str | None
) -> tuple[Policy, tuple[str, ...]]:
    """The policy, and why it is what it is when it is the default, guarded Anchor-TS.

    A policy of one's own gets a warning when its units do not fit the logs.
    """
    if source is not None:
        check.choice(source, "bias_bound_source", list(EPS))
    if policy is None:
        return guarded_for(offline, reward_range, source or "estimated")
    if not isinstance(policy, Policy):
        raise InvalidInput(f"policy must be a Policy such as AnchorTS(), got {policy!r}")
    if source is not None:
        raise InvalidInput(
            f"bias_bound_source is {source!r} and a policy is given: it sets eps of the default "
            "policy; use GuardedAnchorTS(eps=…) or leave one of them out"
        )
    warn_of_units(policy, offline)
    return policy, ()


def over(offline: OfflineData | None, labels: Iterable[str] | None) -> OfflineData:
    """The offline data over the arms asked for; those without logs have none."""
    if offline is None:
        return OfflineData.empty(Arms(() if labels is None else labels))
    if labels is None:
        return offline
    arms = Arms(labels)
    for label in offline.arms:
        if label not in arms.labels:
            raise InvalidInput(
                f"arm {label!r} has logs and is not among arms: add it, or drop its logs"
            )
    where = {label: column for column, label in enumerate(offline.arms)}

    def row(values: Ints | Floats, absent: float) -> list[float]:
        return [values[where[label]] if label in where else absent for label in arms]

    nan = math.nan
    n, mean, variance = row(offline.n, 0), row(offline.mean, nan), row(offline.variance, nan)
    return OfflineData(arms, n, mean, variance, offline.source, offline.provenance)


def promises(
    bias_bound: object, relative_bound: object, offline: OfflineData
) -> tuple[Floats, Floats]:
    """The bias bounds and the relative bounds; logs without a promise are refused."""
    if bias_bound is None and relative_bound is None:
        for label, n in zip(offline.arms, offline.n, strict=True):
            if n > 0:
                raise InvalidInput(
                    f"bias_bound is missing and arm {label!r} has {n} logged rewards: say how far "
                    "its online mean may be from its offline mean, inf if nothing is known; or "
                    "give relative_bound, how far arms may have moved apart"
                )
    level = bias_bounds(math.inf if bias_bound is None else bias_bound, offline.arms)
    return level, relative_bounds(relative_bound, offline.arms)


def checked(level: Floats, relative: Floats, offline: OfflineData) -> tuple[Floats, Floats]:
    """Both kinds of bounds of all arms, if they can hold together."""
    check_promises(level, relative, offline.n, offline.arms)
    return check.frozen(level), check.frozen(relative)


def valid_range(reward_range: object) -> Range:
    """Lowest and highest reward; without a declared range anything finite goes."""
    if reward_range is None:
        return (-math.inf, math.inf)
    return check.rising_pair(reward_range, "reward_range")


def rewards(
    arm: str | Sequence[str], reward: float | Sequence[float], arms: Arms, reward_range: Range
) -> tuple[list[int], list[float]]:
    """Columns and rewards of one update, or of a batch."""
    one = isinstance(arm, str)
    labels = [arm] if one else check.ordered(arm, "arms")
    given = [reward] if one else check.ordered(reward, "rewards")
    if len(labels) != len(given):
        raise InvalidInput(f"{len(labels)} arms and {len(given)} rewards: give one for each")
    columns = [arms.column(label) for label in labels]
    low, high = reward_range
    numbers = [
        check.number(x, f"reward of arm {label!r}", low=low, high=high)
        for label, x in zip(labels, given, strict=True)
    ]
    return columns, numbers


def saved_policy(saved: object, given: Policy | None) -> Policy:
    """The policy of a saved learner: one of this package, or the one given."""
    if not isinstance(saved, dict) or not isinstance(saved.get("parameters"), dict):
        raise UnreadableState(f"the learner record has no usable policy: {saved!r}")
    name, parameters = saved.get("name"), saved["parameters"]
    if given is not None and not isinstance(given, Policy):
        raise InvalidInput(f"policy must be a Policy such as AnchorTS(), got {shown(given)}")
    known = POLICIES.get(name) if isinstance(name, str) else None
    if given is None and known is not None and saved.get("class") == known.__name__:
        return make(known.name, **parameters)
    if given is None:
        raise UnreadableState(
            f"saved with the policy {shown(name)} of your own: give it to load(policy=…)"
        )
    if given.name != name or given.parameters() != parameters:
        raise InvalidInput(
            f"policy is {given.name!r} with {given.parameters()}, but the learner was saved with "
            f"{shown(name)} and {shown(parameters)}"
        )
    return given
