"""Tails: what a policy's index does above and below a level, for engines that skip draws.

An engine that leaps over rounds asks three things of an arm whose belief is frozen: how likely its
index is above a level, and for an index given that it is above, or at most, that level. These are
the index laws of the sampling policies; each policy names its own in one line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, exponential, normal, uniform
from driftanchor.core.posterior import Posterior


class Tails(NamedTuple):
    """The index law of a policy, as functions of what it believes of an arm.

    A belief has a `mean` and an `sd`, and its index is above mean + x·sd, for x > 0, with at most
    the chance that a standard normal is above x.

    Attributes:
        above: P(index > level).
        below: P(index ≤ level), with its own precision where it is small.
        draw_above: An index given that it is above the level.
        draw_below: An index given that it is at most the level.
        contend: An index, or −∞ as soon as some draws show that it is below the level.
        weight: How many pulls the mean of the belief stands for: the mean of a played arm is a
            random walk over this count.
        leader_below: A bound on P(index ≤ level) while the mean is at least `mean` and the
            standard deviation at most `sd`, for a level below `mean`.
    """

    above: Callable[[Any, float], float]
    below: Callable[[Any, float], float]
    draw_above: Callable[[Any, float, Stream], float]
    draw_below: Callable[[Any, float, Stream], float]
    contend: Callable[[Any, float, Stream], float]
    weight: Callable[[ArmEvidence], float]
    leader_below: Callable[[float, float, float], float]


@apart
def upper(x: float) -> float:
    """P(z > x) of a standard normal."""
    return 0.5 * math.erfc(x * math.sqrt(0.5))


@apart
def draw_upper(x: float, stream: Stream) -> float:
    """A standard normal given that it is above x (Robert 1995 beyond the centre)."""
    if x < 0.5:
        while True:
            z = normal(stream)
            if z > x:
                return z
    rate = 0.5 * (x + math.sqrt(x * x + 4.0))
    while True:
        z = x + exponential(stream) / rate
        if uniform(stream) < math.exp(-0.5 * (z - rate) * (z - rate)):
            return z


def sample_above(law: Posterior, level: float, stream: Stream) -> float:
    """A draw of a normal law given that it is above the level."""
    return law.mean + law.sd * draw_upper((level - law.mean) / law.sd, stream)


def sample_below(law: Posterior, level: float, stream: Stream) -> float:
    """A draw of a normal law given that it is at most the level."""
    return law.mean - law.sd * draw_upper((law.mean - level) / law.sd, stream)


# One normal sample: TS and hybrid TS


def normal_above(belief: Posterior, level: float) -> float:
    """P(θ > level)."""
    return upper((level - belief.mean) / belief.sd)


def normal_below(belief: Posterior, level: float) -> float:
    """P(θ ≤ level)."""
    return upper((belief.mean - level) / belief.sd)


def normal_contend(belief: Posterior, level: float, stream: Stream) -> float:
    """θ, whatever the level: one draw is the least there is."""
    return belief.mean + belief.sd * normal(stream)


def online_weight(arm: ArmEvidence) -> float:
    """Pulls of the online posterior, its prior counting as one."""
    return arm.pulls + 1


def hybrid_weight(arm: ArmEvidence) -> float:
    """Pulls of the hybrid posterior."""
    return arm.pulls + arm.offline_pulls + 1


def normal_leader_below(mean: float, sd: float, level: float) -> float:
    """P(θ ≤ level) grows as the mean falls and the deviation grows, for a level below the mean."""
    return upper((mean - level) / sd)


TS_TAILS = Tails(
    normal_above,
    normal_below,
    sample_above,
    sample_below,
    normal_contend,
    online_weight,
    normal_leader_below,
)
HYBRID_TS_TAILS = TS_TAILS._replace(weight=hybrid_weight)


# The larger of the mean and a sample: optimistic TS


def optimistic_above(belief: Posterior, level: float) -> float:
    """P(max(mean, θ) > level)."""
    return 1.0 if belief.mean > level else normal_above(belief, level)


def optimistic_below(belief: Posterior, level: float) -> float:
    """P(max(mean, θ) ≤ level)."""
    return 0.0 if belief.mean > level else normal_below(belief, level)


def optimistic_draw_above(belief: Posterior, level: float, stream: Stream) -> float:
    """An index above the level: any index, when the mean is."""
    if belief.mean > level:
        return optimistic_contend(belief, level, stream)
    return sample_above(belief, level, stream)


def optimistic_draw_below(belief: Posterior, level: float, stream: Stream) -> float:
    """An index at most the level, which is then at least the mean."""
    return max(belief.mean, sample_below(belief, level, stream))


def optimistic_contend(belief: Posterior, level: float, stream: Stream) -> float:
    """max(mean, θ), whatever the level."""
    return max(belief.mean, normal_contend(belief, level, stream))


def optimistic_leader_below(mean: float, sd: float, level: float) -> float:
    """An index is never below the mean."""
    return 0.0


OPTIMISTIC_TAILS = Tails(
    optimistic_above,
    optimistic_below,
    optimistic_draw_above,
    optimistic_draw_below,
    optimistic_contend,
    online_weight,
    optimistic_leader_below,
)
