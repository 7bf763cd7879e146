"""The choice of one decision: plain code, which is interpreted and compiled alike."""

from __future__ import annotations

from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Key, Stream, start
from driftanchor.policies.base import Policy, choose, moves_together, remember


def chosen_column(
    policy: Policy, evidence: Evidence, t: int, arms: int, key: Key, n: int, stream: Stream
) -> int:
    """The column that a policy plays in round `t`, with the noise of decision `n`.

    Args:
        policy: The policy; compiled, its numbers.
        evidence: What it sees. Compiled, the memory has columns for what is believed of each arm.
        t: The round.
        arms: How many arms can be played.
        key: The key of all decisions.
        n: The number of the decision.
        stream: Four words to draw with, whatever they hold.
    """
    start(stream, key, n, 0)
    together = moves_together(policy, evidence)
    if not together:  # otherwise beliefs are made anew for each common move
        for column in range(evidence.pulls.size):
            remember(policy, evidence, column)
    return choose(policy, evidence, Round(t, arms), stream, together)
