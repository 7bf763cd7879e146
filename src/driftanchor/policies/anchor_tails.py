"""The law of Anchor-TS's index: the median of the anchor and two independent normal samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, uniform
from driftanchor.core.posterior import Posterior, median
from driftanchor.policies.tails import (
    Tails,
    normal_above,
    normal_below,
    normal_contend,
    normal_leader_below,
    online_weight,
    sample_above,
    sample_below,
)

if TYPE_CHECKING:
    from driftanchor.policies.anchor_ts import TwoPosteriors


def online_law(belief: TwoPosteriors) -> Posterior:
    """The law of θ_on."""
    return Posterior(belief.mean, belief.sd)


def hybrid_law(belief: TwoPosteriors) -> Posterior:
    """The law of θ_hyb, shifted right."""
    return Posterior(belief.hybrid_mean, belief.hybrid_sd)


def anchor_above(belief: TwoPosteriors, level: float) -> float:
    """Above the anchor both samples must exceed the level; below it one is enough."""
    on, hyb = normal_above(online_law(belief), level), normal_above(hybrid_law(belief), level)
    if level >= belief.mean:
        return on * hyb
    return on + (1.0 - on) * hyb


def anchor_below(belief: TwoPosteriors, level: float) -> float:
    """Below the anchor both samples must be at most the level; above it one is enough."""
    on, hyb = normal_below(online_law(belief), level), normal_below(hybrid_law(belief), level)
    if level < belief.mean:
        return on * hyb
    return on + (1.0 - on) * hyb


@apart
def anchor_draw_above(belief: TwoPosteriors, level: float, stream: Stream) -> float:
    """An index above the level."""
    online, hybrid = online_law(belief), hybrid_law(belief)
    if level >= belief.mean:
        return min(sample_above(online, level, stream), sample_above(hybrid, level, stream))
    on, hyb = normal_above(online, level), normal_above(hybrid, level)
    u = uniform(stream) * (on + (1.0 - on) * hyb)
    if u < on * hyb:
        x, y = sample_above(online, level, stream), sample_above(hybrid, level, stream)
    elif u < on:
        x, y = sample_above(online, level, stream), sample_below(hybrid, level, stream)
    else:
        x, y = sample_below(online, level, stream), sample_above(hybrid, level, stream)
    return median(belief.mean, x, y)


@apart
def anchor_draw_below(belief: TwoPosteriors, level: float, stream: Stream) -> float:
    """An index at most the level."""
    online, hybrid = online_law(belief), hybrid_law(belief)
    if level < belief.mean:
        return max(sample_below(online, level, stream), sample_below(hybrid, level, stream))
    on, hyb = normal_below(online, level), normal_below(hybrid, level)
    u = uniform(stream) * (on + (1.0 - on) * hyb)
    if u < on * hyb:
        x, y = sample_below(online, level, stream), sample_below(hybrid, level, stream)
    elif u < on:
        x, y = sample_below(online, level, stream), sample_above(hybrid, level, stream)
    else:
        x, y = sample_above(online, level, stream), sample_below(hybrid, level, stream)
    return median(belief.mean, x, y)


def anchor_contend(belief: TwoPosteriors, level: float, stream: Stream) -> float:
    """An index; it is at most the larger of the anchor and θ_on, so θ_hyb may not matter."""
    on = normal_contend(online_law(belief), level, stream)
    if max(belief.mean, on) < level:
        return -math.inf
    return median(belief.mean, on, normal_contend(hybrid_law(belief), level, stream))


# Below its anchor the leader's index needs both samples to be low: at most P(θ_on ≤ level).
ANCHOR_TAILS = Tails(
    anchor_above,
    anchor_below,
    anchor_draw_above,
    anchor_draw_below,
    anchor_contend,
    online_weight,
    normal_leader_below,
)
