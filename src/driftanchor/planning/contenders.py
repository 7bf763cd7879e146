"""The contenders: rules to compare, with and without the logs, scaled to the logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import Range
from driftanchor.live.terms import default_policy
from driftanchor.policies import make
from driftanchor.policies.base import Policy

RULE = "guarded-anchor-ts"
RULE_COLD = "guarded-anchor-ts-cold"
BLIND = "hybrid-ts"
LOG_BEST = "log-best"
HEEDING = {
    "hierarchical-ts": "uses the logs and how far arms may have moved: hierarchical TS",
    "min-ucb": "uses the logs and how far arms may have moved: MIN-UCB",
    "anchor-ts": "uses the logs and how far arms may have moved: Anchor-TS",
}

# The logs and the bounds that are declared; the logs alone, as if no arm had moved on its own; or
# no logs.
Given = Literal["promise", "trust", "nothing"]


@dataclass(frozen=True)
class Contender:
    """A rule with its inputs.

    Attributes:
        policy: The rule; `None` to always play the arm with the best logged mean.
        given: The logs and bounds that the rule sees.
        what: A description.
    """

    policy: Policy | None
    given: Given
    what: str

    @property
    def cold(self) -> bool:
        """Whether the rule plays without the logs."""
        return self.given == "nothing"

    def to_json(self) -> dict[str, Any]:
        """Return the policy and its parameters as JSON."""
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
    rule, reasons = default_policy(offline, reward_range, source)
    units = {"prior_mean": rule.prior_mean, "noise": rule.noise}
    default = "uses the logs and how far arms may have moved, and is insured: the default rule"
    cold = "without the logs"
    return {
        "ts": Contender(make("ts", **units), "nothing", f"{cold}: Thompson sampling"),
        RULE_COLD: Contender(rule, "nothing", f"{cold}: the default rule"),
        BLIND: Contender(make(BLIND, **units), "trust", "trusts the logs blindly"),
        LOG_BEST: Contender(None, "trust", "always plays the arm with the best logs"),
        **{x: Contender(make(x, **units), "promise", what) for x, what in HEEDING.items()},
        RULE: Contender(rule, "promise", default),
    }, reasons
