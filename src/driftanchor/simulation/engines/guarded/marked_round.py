"""The arm played in a marked round: the rule itself, with noise drawn given what is marked."""

from __future__ import annotations

import math

from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.noise import Draws, Stream, given, two_normals, uniform
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import Best, belief_at, challenge
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS, median_of
from driftanchor.policies.guarded_beliefs import hybrid
from driftanchor.policies.guarded_bounds import Judgement
from driftanchor.policies.guarded_judge import believed_move
from driftanchor.policies.tails import draw_upper, upper
from driftanchor.simulation.engines.guarded.marks import (
    Marks,
    bins_of,
    lower_edge,
    upper_edge,
)
from driftanchor.simulation.engines.guarded.window import Window


@apart
def marked_round(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    window: Window,
    marks: Marks,
    level: float,
    t: int,
    stream: Stream,
) -> int:
    """The arm played in a marked round."""
    b = marked_bin(marks, bins_of(window), stream)
    belief, common = Posterior(0.0, 0.0), 0.0
    if window.moves.most_sd > 0.0:
        belief = believed_move(policy, evidence)
        common = belief.mean + belief.sd * normal_within(lower_edge(b), upper_edge(b), stream)
    else:
        belief = Posterior(window.moves.high, 0.0)
        common = belief.mean
    # Where on the axis of all hazards and the leader's the first mark is, given that one is.
    whole = marks.totals[b] - math.log1p(-marks.own[b])
    first = -math.log1p(uniform(stream) * math.expm1(-whole))
    own = own_noise(policy, evidence, window, marks, level, common, b, first, stream)
    if math.isnan(own.on):
        return window.leader
    now = Round(t, evidence.pulls.size)
    judged = Judgement(belief, 0.0, 0, window.leader, 0.0, 0.0, False)
    best = Best(-math.inf, -1, 0)
    passed = 0.0
    for column in range(evidence.pulls.size):
        z = own
        if column != window.leader:
            z = noise_given(marks, b, column, passed, first, stream)
            passed += marks.hazards[b, column]
        arm, held = arm_at(evidence, column), belief_at(policy, evidence, column)
        value = median_of(policy, arm, held, now, judged, common, z)
        best = challenge(best, value, column, stream)
    return best.column


def marked_bin(marks: Marks, bins: int, stream: Stream) -> int:
    """The bin of a marked round."""
    rate = 0.0
    for b in range(bins):
        rate += marks.rates[b]
    left = uniform(stream) * rate
    for b in range(bins - 1):
        left -= marks.rates[b]
        if left < 0.0:
            return b
    return bins - 1


def own_noise(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    window: Window,
    marks: Marks,
    level: float,
    common: float,
    b: int,
    first: float,
    stream: Stream,
) -> Draws:
    """The noise of the leader; NaN where its mark does not count, and it is played.

    A mark of another arm says nothing of the leader. Its own mark counts with the chance that both
    its samples are at most the level, over the bound on that chance.
    """
    if first < marks.totals[b]:
        return two_normals(stream)
    held = belief_at(policy, evidence, window.leader)
    both = hybrid(arm_at(evidence, window.leader), held, common)
    online, mixed = (held.live - level) / held.live_sd, (both.mean - level) / both.sd
    if uniform(stream) * marks.own[b] >= upper(online) * upper(mixed):
        return given(math.nan, math.nan)
    return given(-draw_upper(online, stream), -draw_upper(mixed, stream))


def noise_given(
    marks: Marks, b: int, column: int, passed: float, first: float, stream: Stream
) -> Draws:
    """The noise of another arm.

    The first mark is at `first` on the axis of hazards, on which the arm's begins at `passed`.
    Arms before are not marked; of arms after it nothing is known.
    """
    online, mixed = marks.online[column], marks.hybrid[b, column]
    end = passed + marks.hazards[b, column]
    if passed <= first < end:
        return given(draw_upper(online, stream), draw_upper(mixed, stream))
    while True:
        z = two_normals(stream)
        if first < passed or not (z.on > online and z.hyb > mixed):
            return z


def normal_within(low: float, high: float, stream: Stream) -> float:
    """A standard normal given that it is in a bin; no bin has 0 inside."""
    sign = 1.0 if low >= 0.0 else -1.0
    near, far = (low, high) if low >= 0.0 else (-high, -low)
    while True:
        z = draw_upper(near, stream)
        if z <= far:
            return sign * z
