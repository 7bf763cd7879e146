"""The choice of one decision: plain code, interpreted and compiled alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftanchor.compiled.overloads import policy_from
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Key, Stream, start
from driftanchor.policies.base import Policy, cache_belief, choose, moves_together


def chosen_column(
    policy: Policy, evidence: Evidence, key: Key, stream: Stream, t: int, arms: int, n: int
) -> int:
    """Return the column that a policy plays in round `t`, with the noise of decision `n`.

    Args:
        policy: The policy.
        evidence: What it sees.
        key: The key of all decisions.
        stream: Four words to draw with, whatever they hold.
        t: The round.
        arms: The number of arms that can be played.
        n: The number of the decision.
    """
    start(stream, key, n, 0)
    together = moves_together(policy, evidence)
    return choose(policy, evidence, Round(t, arms), stream, together)


def live_chooser(numbers: Any) -> Callable[..., int]:
    """Return `chosen_column` of a policy's class, to be compiled with cached beliefs.

    It takes two more arguments: the columns that changed since the last decision, and how many
    there are, or a negative number if all did.
    """

    def chosen(
        parameters: Floats,
        evidence: Evidence,
        key: Key,
        stream: Stream,
        changed: Ints,
        t: int,
        arms: int,
        n: int,
        count: int,
    ) -> int:
        policy = policy_from(numbers, parameters)
        for i in range(evidence.pulls.size if count < 0 else count):
            cache_belief(policy, evidence, i if count < 0 else changed[i])
        return chosen_column(policy, evidence, key, stream, t, arms, n)

    return chosen
