"""The recommendation: the default rule, a better rule, or a cold start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.record import encode
from driftanchor.core.stats.intervals import Estimate, mean_estimate
from driftanchor.planning.contenders import BLIND, HEEDING, RULE, RULE_COLD
from driftanchor.planning.scenes import Lost

BASELINE = RULE_COLD  # the cold start; every rule is compared with it
MATTERS = 0.05  # smaller differences, relative to the baseline's loss, do not count
TAIL = 0.95  # 19 of 20 worlds


class Safety(NamedTuple):
    """The risk of a rule, compared with the baseline world by world.

    Attributes:
        safe: Whether its extra loss in the worst case is at most the baseline's expected loss.
        ratio: Loss relative to the baseline, not exceeded in 19 of 20 expected worlds.
        extra: Extra loss over the baseline in the worst case, in rewards.
    """

    safe: bool
    ratio: float
    extra: Estimate

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {"safe": self.safe, "ratio": encode(self.ratio), "extra": self.extra.to_json()}


@dataclass(frozen=True)
class SafeChoice:
    """The recommendation and its reasons.

    Attributes:
        rule: The best rule with the logs: the default rule unless another is better.
        uses_logs: Whether that rule is safe and saves enough to matter.
        safety: The risk of each contender.
        bolder: A rule that saves much more than the recommendation but loses more in the worst
            case, if there is one.
    """

    rule: str
    uses_logs: bool
    safety: Mapping[str, Safety]
    bolder: str | None

    @property
    def best(self) -> str:
        """The recommended rule, or the baseline."""
        return self.rule if self.uses_logs else BASELINE


def safe_choice(expected: Lost, worst: Lost) -> SafeChoice:
    """Choose the rule, and decide whether to use the logs.

    A rule is safe if its mean extra loss over the baseline in the worst case is at most the
    baseline's mean loss in the expected worlds.

    Another safe rule replaces the default rule only if it is better in two ways. In the expected
    worlds it loses less: the 95 % interval of the paired difference excludes 0, and the difference
    is at least 5 % of the baseline's loss. In the worst case it does not lose more: the upper end
    of the paired interval is at most 5 % of the baseline's loss. Rules that read the bounds are
    considered first; a rule that trusts the logs must also beat those.

    Args:
        expected: Losses in the expected worlds, by contender and world.
        worst: Losses in the same worlds with the worst-case shift.
    """
    cold = float(expected[BASELINE].mean())
    safety = {label: _safety(label, expected, worst) for label in expected}

    def better(label: str, other: str) -> bool:
        gain = mean_estimate(expected[other] - expected[label])
        risk = mean_estimate(worst[label] - worst[other])
        return matters(gain, cold) and risk.high <= MATTERS * cold

    rule = RULE
    learning = [label for label in (*HEEDING, BLIND) if label in expected]
    for label in learning:
        if safety[label].safe and better(label, rule):
            rule = label
    saved = mean_estimate(expected[BASELINE] - expected[rule])
    uses_logs = safety[rule].safe and matters(saved, cold)
    best = rule if uses_logs else BASELINE
    gains = {label: mean_estimate(expected[best] - expected[label]) for label in learning}
    bolder = [
        label
        for label, gain in gains.items()
        if matters(gain, cold) and worst[label].mean() > worst[best].mean()
    ]
    return SafeChoice(
        rule, uses_logs, safety, max(bolder, key=lambda x: gains[x].value, default=None)
    )


def matters(saved: Estimate, cold: float) -> bool:
    """Return whether a saving is significant and at least 5 % of the baseline's loss.

    Example:
        >>> [matters(Estimate(5, low, 9), cold) for low, cold in ((1, 50), (-1, 50), (1, 200))]
        [True, False, False]
    """
    return saved.low > 0 and saved.value >= MATTERS * cold


def ratio_in_most_worlds(lost: Floats, cold: Floats) -> float:
    """Return the smallest r such that `lost <= r * cold` in at least 19 of 20 worlds.

    Example:
        >>> cold = np.full(20, 10.0)
        >>> ratio_in_most_worlds(np.arange(1.0, 21.0), cold)
        1.9
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(lost <= 0, 0.0, lost / cold)
    return float(np.quantile(ratios, TAIL, method="inverted_cdf"))


def _safety(label: str, expected: Lost, worst: Lost) -> Safety:
    extra = mean_estimate(worst[label] - worst[BASELINE])
    limit = float(expected[BASELINE].mean())
    ratio = ratio_in_most_worlds(expected[label], expected[BASELINE])
    return Safety(extra.value <= limit, ratio, extra)
