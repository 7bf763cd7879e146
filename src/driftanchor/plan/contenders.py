"""Who is compared: ways to play without the logs and with them, in the units of the logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftanchor.core.offline import OfflineData
from driftanchor.live import inputs
from driftanchor.live.units import Range
from driftanchor.policies import make
from driftanchor.policies.base import Policy

RULE = "guarded-anchor-ts"
RULE_COLD = "guarded-anchor-ts-cold"
BLIND = "hybrid-ts"
LOG_BEST = "log-best"
HEEDING = {
    "min-ucb": "uses the logs and how far arms may have moved: MIN-UCB",
    "anchor-ts": "uses the logs and how far arms may have moved: Anchor-TS",
}


@dataclass(frozen=True)
class Contender:
    """A rule, and what it is given.

    Attributes:
        policy: The rule; `None` for the arm with the best logs, which needs none.
        cold: Whether it plays without the logs.
        heeds_bound: Whether it looks at the bounds that are declared.
        what: In words.
    """

    policy: Policy | None
    cold: bool
    heeds_bound: bool
    what: str

    def to_json(self) -> dict[str, Any]:
        """Its policy and parameters, for programs."""
        if self.policy is None:
            return {"policy": None, "logs": True}
        return {"policy": self.policy.name, "logs": not self.cold, **self.policy.parameters()}


Contenders = Mapping[str, Contender]


def contenders(
    offline: OfflineData, reward_range: Range, source: str | None
) -> tuple[dict[str, Contender], tuple[str, ...]]:
    """All of them with the units that a `Learner` would take, and why these.

    The default rule takes part twice, with and without the logs: otherwise what it does better
    than Thompson sampling would be put down to the logs.
    """
    rule, reasons = inputs.rule(None, offline, reward_range, source)
    units = {"prior_mean": rule.prior_mean, "noise": rule.noise}
    default = "uses the logs and how far arms may have moved, and is insured: the default rule"
    return {
        "ts": Contender(make("ts", **units), True, False, "without the logs: Thompson sampling"),
        RULE_COLD: Contender(rule, True, False, "without the logs: the default rule"),
        BLIND: Contender(make(BLIND, **units), False, False, "trusts the logs blindly"),
        LOG_BEST: Contender(None, False, False, "always plays the arm with the best logs"),
        **{x: Contender(make(x, **units), False, True, what) for x, what in HEEDING.items()},
        RULE: Contender(rule, False, True, default),
    }, reasons
