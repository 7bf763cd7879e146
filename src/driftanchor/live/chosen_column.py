"""The choice of one decision: plain code, which is interpreted and compiled alike."""

from __future__ import annotations

from driftanchor.core.check import Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.hints import brief
from driftanchor.core.noise import Key, Stream, start
from driftanchor.policies.base import Policy, choose, moves_together, remember


@brief
def chosen_column(
    policy: Policy,
    evidence: Evidence,
    key: Key,
    stream: Stream,
    changed: Ints,
    t: int,
    arms: int,
    n: int,
    count: int,
) -> int:
    """The column that a policy plays in round `t`, with the noise of decision `n`.

    Compiled, what is believed of each arm is kept in the memory, after the policy's own columns.

    Args:
        policy: The policy; compiled, its numbers.
        evidence: What it sees.
        key: The key of all decisions.
        stream: Four words to draw with, whatever they hold.
        changed: The arms of which other things may be believed than in the last decision.
        t: The round.
        arms: How many arms can be played.
        n: The number of the decision.
        count: How many these are; below 0 if all arms are.
    """
    start(stream, key, n, 0)
    together = moves_together(policy, evidence)
    if not together:  # otherwise beliefs are made anew for each common move
        for i in range(evidence.pulls.size if count < 0 else count):
            remember(policy, evidence, i if count < 0 else changed[i])
    return choose(policy, evidence, Round(t, arms), stream, together)
