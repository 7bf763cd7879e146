"""How an engine asks for a policy's index law; compiled, each is the function that policy names."""

from __future__ import annotations

from typing import Any

from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Policy
from driftanchor.policies.tails import Tails


def above(policy: Policy, belief: Any, level: float) -> float:
    """P(index > level)."""
    return _tails(policy).above(belief, level)


def below(policy: Policy, belief: Any, level: float) -> float:
    """P(index ≤ level)."""
    return _tails(policy).below(belief, level)


def draw_above(policy: Policy, belief: Any, level: float, stream: Stream) -> float:
    """An index given that it is above the level."""
    return _tails(policy).draw_above(belief, level, stream)


def draw_below(policy: Policy, belief: Any, level: float, stream: Stream) -> float:
    """An index given that it is at most the level."""
    return _tails(policy).draw_below(belief, level, stream)


def contend(policy: Policy, belief: Any, level: float, stream: Stream) -> float:
    """An index, or −∞ where it is below the level."""
    return _tails(policy).contend(belief, level, stream)


def weight(policy: Policy, arm: ArmEvidence) -> float:
    """How many pulls the mean of the arm's belief stands for."""
    return _tails(policy).weight(arm)


def leader_below(policy: Policy, mean: float, sd: float, level: float) -> float:
    """A bound on P(index ≤ level) of a leader with at least this mean and at most this sd."""
    return _tails(policy).leader_below(mean, sd, level)


ASKED = (above, below, draw_above, draw_below, contend, weight, leader_below)


def _tails(policy: Policy) -> Tails:
    if policy.tails is None:
        raise ValueError(f"policy {policy.name!r} has no tails")
    return policy.tails
