"""Who is compared: ways of going cold, and ways of using the logs, in the units of the logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from driftanchor.core.offline import OfflineData
from driftanchor.live import inputs
from driftanchor.live.units import Range
from driftanchor.policies import make
from driftanchor.policies.base import Policy

RULE = "guarded-anchor-ts"
RULE_COLD = "guarded-anchor-ts-cold"
BLIND = "hybrid-ts"


@dataclass(frozen=True)
class Contender:
    """A policy, and what it has.

    Attributes:
        policy: The rule.
        cold: Whether it plays without the logs.
        heeds_bound: Whether it looks at the bias bound.
        what: In words.
    """

    policy: Policy
    cold: bool
    heeds_bound: bool
    what: str


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

    def made(name: str) -> Policy:
        return make(name, **units)

    return {
        "ts": Contender(made("ts"), True, False, "cold: Thompson sampling"),
        RULE_COLD: Contender(rule, True, False, "cold: the default rule"),
        BLIND: Contender(made(BLIND), False, False, "trusts the logs blindly"),
        "min-ucb": Contender(made("min-ucb"), False, True, "logs and V: MIN-UCB"),
        "anchor-ts": Contender(made("anchor-ts"), False, True, "logs and V: Anchor-TS"),
        RULE: Contender(rule, False, True, "logs and V: the default rule"),
    }, reasons
