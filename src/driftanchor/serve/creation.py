"""Create a campaign from a request body."""

from __future__ import annotations

from typing import Any

from driftanchor.core import check
from driftanchor.core.offline import OfflineData
from driftanchor.errors import Conflict, InvalidInput
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.policies import POLICIES, make
from driftanchor.policies.base import Policy
from driftanchor.serve.request_bodies import CreateBody
from driftanchor.serve.served import Served

AGREED = (
    "bias_bound", "relative_bound", "bias_bound_source", "reward", "reward_window",
    "default_reward", "late", "sticky", "exposure", "floor", "control", "on_alarm", "matters",
    "allow_outside", "seed",
)  # fmt: skip


def create(served: Served, body: CreateBody) -> tuple[Campaign, bool]:
    """The campaign, and whether it is new; one that is the same may be there already.

    Raises:
        Conflict: There is another campaign of this name.
    """
    terms = _terms(body)
    try:
        return Campaign.create(body.name, store=served.store, clock=served.clock, **terms), True
    except Conflict:
        terms["if_exists"] = "load"
        Campaign.create(body.name, store=served.store, clock=served.clock, **terms)
        return served.campaign(body.name), False


def _terms(body: CreateBody) -> dict[str, Any]:
    """What was sent, as `Campaign.create` takes it."""
    terms: dict[str, Any] = {name: getattr(body, name) for name in AGREED}
    if (body.offline is None) == (body.arms is None):
        raise InvalidInput("give offline or arms, and not both", argument="arms")
    if body.offline is not None:
        summary = {label: logged.summary() for label, logged in body.offline.items()}
        terms["offline"] = OfflineData.from_summary(summary)
    else:
        terms["arms"] = body.arms
    if body.reward_range is not None:
        terms["reward_range"] = tuple(body.reward_range)
    return {**terms, "policy": _policy(body)}


def _policy(body: CreateBody) -> Policy | None:
    """The policy, which is one of this package: others are code, and code is not sent."""
    if body.policy is None:
        if body.parameters:
            raise InvalidInput("is for a policy, and none is named", argument="parameters")
        return None
    check.choice(body.policy, "policy", list(POLICIES))
    return make(body.policy, **body.parameters)
