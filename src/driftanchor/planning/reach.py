"""Leaves out slow rules if the horizon is very long."""

from __future__ import annotations

from driftanchor.planning.compare import Truth
from driftanchor.planning.contenders import RULE, RULE_COLD, Contender, Contenders
from driftanchor.planning.effort import PAIRED, engine_for
from driftanchor.planning.promise import Promise
from driftanchor.planning.scenes import scene_of
from driftanchor.planning.words import listed
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import ENGINES
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.windows import WINDOWS

SLOW = (EVERY_ROUND, WINDOWS)  # their cost grows with the horizon


def within_reach(
    contenders: Contenders, truth: Truth, promise: Promise, horizon: int
) -> tuple[dict[str, Contender], tuple[str, ...]]:
    """Return the contenders that are fast enough, and a note about the others.

    Up to a million rounds all are. Beyond that, only rules that can skip rounds are kept, and the
    default rule, which the answer is about. Without Numba no rule can skip rounds: all are kept.
    """
    engine = ENGINES[engine_for(horizon)]
    if horizon <= PAIRED or not engine.leaps:
        return dict(contenders), ()
    bandits = scene_of(truth.expected, promise, contenders).bandits

    def is_slow(one: Contender) -> bool:
        there: Bandit = bandits[one.given][0]
        return one.policy is not None and engine.loop_for(type(one.policy), there) in SLOW

    needed = (RULE, RULE_COLD)
    slow = [label for label, one in contenders.items() if label not in needed and is_slow(one)]
    kept = {label: one for label, one in contenders.items() if label not in slow}
    if not slow:
        return kept, ()
    why = f"beyond {PAIRED:,} rounds that takes too long"
    return kept, (f"left out, because every round has to be played: {listed(slow)}; {why}",)
