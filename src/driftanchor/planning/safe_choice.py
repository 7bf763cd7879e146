"""The verdict's reasons: which rules are safe, and which of them is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftanchor.core.stats.intervals import Estimate, mean_estimate
from driftanchor.planning.contenders import LOG_BEST, RULE, Contenders
from driftanchor.planning.scenes import Lost

MATTERS = 0.05  # of what is lost without the logs: to save less is not worth the trouble
# Times what is lost without the logs: to lose more is not safe.
TAIL_LIMIT = 1.1  # for the 95 % quantile in the expected worlds
BAD_LIMIT = 2.0  # for the mean in a bad case
TAIL = 0.95


class Safety(NamedTuple):
    """What a rule may lose.

    Attributes:
        safe: Whether both of the following are within their limits.
        tail: Its 95 % quantile in the expected worlds.
        cold_tail: The same without the logs.
        worst: Its largest mean in the bad cases that the promise allows.
        cold_worst: In that case, without the logs.
    """

    safe: bool
    tail: float
    cold_tail: float
    worst: float
    cold_worst: float

    @property
    def long_tail(self) -> bool:
        """Whether it is the tail in the expected worlds that makes it unsafe."""
        return self.tail > TAIL_LIMIT * self.cold_tail


@dataclass(frozen=True)
class SafeChoice:
    """Who is safe, and who is best.

    Attributes:
        baseline: The better way without the logs.
        best: The best safe choice; `baseline` where no safe rule saves enough to matter.
        safety: Of each contender.
        bolder: A rule that saves much more and is not safe, if there is one.
    """

    baseline: str
    best: str
    safety: Mapping[str, Safety]
    bolder: str | None

    @property
    def uses_logs(self) -> bool:
        """Whether the logs are to be used."""
        return self.best != self.baseline


def cold_baseline(lost: Lost, contenders: Contenders) -> str:
    """Who plays without the logs and loses least."""
    cold = [label for label, one in contenders.items() if one.cold]
    return min(cold, key=lambda label: float(lost[label].mean()))


def safe_choice(lost: Lost, bad: Sequence[Lost], contenders: Contenders) -> SafeChoice:
    """Find the best safe choice.

    A rule is safe if its 95 % quantile in the expected worlds is at most 1.1 times that of playing
    without the logs, and if in no bad case that the promise allows its mean is above twice what is
    lost without the logs, in that case or in the expected worlds, whichever is more: where a bad
    case is nearly a tie, hardly anything can be lost, and a ratio says nothing.

    Of the safe rules that save enough to matter the one with the lowest mean is best. Of those that
    save almost as much the default rule is preferred, because it is insured against broken
    promises; then the best rule that looks at the bounds at all.

    Args:
        lost: In the expected worlds, by each contender in each world.
        bad: The same in each bad case.
        contenders: All of them.
    """
    baseline = cold_baseline(lost, contenders)
    cold = float(lost[baseline].mean())
    slack = MATTERS * cold
    safety = {label: _safety(label, baseline, lost, bad) for label in contenders}
    saved = {
        label: mean_estimate(lost[baseline] - lost[label])
        for label, one in contenders.items()
        if not one.cold
    }
    learning = [label for label in saved if label != LOG_BEST]  # who never learns is never best
    helpful = [label for label in learning if matters(saved[label], cold)]
    fit = {x: saved[x].value for x in helpful if safety[x].safe}
    best = _preferred(fit, slack, contenders) if fit else baseline
    got = fit.get(best, 0.0)
    more = {x: saved[x].value for x in helpful if not safety[x].safe}
    more = {x: value for x, value in more.items() if value >= got + slack}
    bolder = max(more, key=more.__getitem__) if more else None
    return SafeChoice(baseline, best, safety, bolder)


def _preferred(fit: Mapping[str, float], slack: float, contenders: Contenders) -> str:
    """Of the rules that save almost as much as the best, the one that is insured best."""
    close = [label for label, value in fit.items() if value >= max(fit.values()) - slack]
    if RULE in close:
        return RULE
    heeding = [label for label in close if contenders[label].heeds_bound]
    return max(heeding or close, key=fit.__getitem__)


def matters(saved: Estimate, cold: float) -> bool:
    """Whether a saving is above what chance explains, and enough of what is lost without logs.

    Example:
        >>> [matters(Estimate(5, low, 9), cold) for low, cold in ((1, 50), (-1, 50), (1, 200))]
        [True, False, False]
    """
    return saved.low > 0 and saved.value >= MATTERS * cold


def _safety(label: str, baseline: str, lost: Lost, bad: Sequence[Lost]) -> Safety:
    tail, cold_tail = (float(np.quantile(lost[x], TAIL)) for x in (label, baseline))
    usual = float(lost[baseline].mean())
    cases = [(float(x[label].mean()), float(x[baseline].mean())) for x in bad]
    worst, there = max(cases, key=lambda case: case[0] / max(case[1], usual, 1e-300))
    risk = Safety(worst <= BAD_LIMIT * max(there, usual), tail, cold_tail, worst, there)
    return risk._replace(safe=risk.safe and not risk.long_tail)
