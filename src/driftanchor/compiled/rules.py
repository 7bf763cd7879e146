"""The rules through which compiled loops and live decisions call a policy.

Each function here returns a rule. Its argument is the policy for an interpreted rule, or the result
of `kernels.policy_type` for a rule that `kernels.rule` compiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftanchor.compiled.overloads import policy_from
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.index_law import write_law
from driftanchor.core.noise import Key, Stream, start
from driftanchor.policies.base import cache_belief, choose, law_at, moves_together, write_laws


def chooser(numbers: Any) -> Callable[..., int]:
    """Return the rule that chooses an arm in a simulated round.

    The rule's last argument, `changed`, is the arm whose numbers changed since the last round. A
    negative number means that all arms changed.
    """

    def chosen(
        parameters: Floats,
        evidence: Evidence,
        t: int,
        arms: int,
        stream: Stream,
        together: bool,
        changed: int,
    ) -> int:
        policy = policy_from(numbers, parameters)
        if changed >= 0:
            cache_belief(policy, evidence, changed)
        else:
            for arm in range(arms):
                cache_belief(policy, evidence, arm)
        return choose(policy, evidence, Round(t, arms), stream, together)

    return chosen


def live_chooser(numbers: Any) -> Callable[..., int]:
    """Return the rule that chooses an arm in a live decision.

    The rule uses the noise of decision number `n`.
    """

    def chosen(
        parameters: Floats,
        evidence: Evidence,
        key: Key,
        stream: Stream,
        t: int,
        arms: int,
        n: int,
    ) -> int:
        policy = policy_from(numbers, parameters)
        for arm in range(evidence.pulls.size):
            cache_belief(policy, evidence, arm)
        start(stream, key, n, 0)
        together = moves_together(policy, evidence)
        return choose(policy, evidence, Round(t, arms), stream, together)

    return chosen


def law_writer(numbers: Any) -> Callable[..., None]:
    """Return the rule that writes the distribution of one arm's index into its row of `laws`."""

    def write(parameters: Floats, evidence: Evidence, arm: int, laws: Floats) -> None:
        now = Round(1, evidence.pulls.size)
        write_law(laws, arm, law_at(policy_from(numbers, parameters), evidence, arm, now))

    return write


def laws_writer(numbers: Any) -> Callable[..., tuple[float, float, float]]:
    """Return the rule that calls `write_laws`.

    The rule returns the fields of `RoundKind` as a plain tuple.
    """

    def write(
        parameters: Floats,
        evidence: Evidence,
        t: int,
        arms: int,
        moves: Floats,
        guard: bool,
        laws: Floats,
    ) -> tuple[float, float, float]:
        policy = policy_from(numbers, parameters)
        kind = write_laws(policy, evidence, Round(t, arms), moves, guard, laws)
        return kind.guard, kind.mean, kind.sd

    return write
