"""Decide: which arm the policy plays, with what probability, and why.

The functions are pure: the same terms, state and decision number give the same answer in every
process. Each call copies the state. For many decisions keep a `Decider`, which these functions use.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream, keyed_stream, wrapping
from driftanchor.errors import Conflict
from driftanchor.live.decider import Decider, playable_column
from driftanchor.live.explanation import Explanation
from driftanchor.live.law_writers import LawWriters
from driftanchor.live.propensities import propensities
from driftanchor.live.state import State
from driftanchor.live.state_events import Decided
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy, errors_of

COUNTED = 1_000  # decisions that are counted where probabilities cannot be computed


def situation(
    terms: Terms, state: State, n: int, exclude: Iterable[object] = ()
) -> tuple[Evidence, Round]:
    """Return what the policy sees when it makes decision `n`.

    The round is one more than the decisions before it, or than the rewards if there are more of
    those, as when rewards of pulls made elsewhere are reported. The memory in the evidence is a
    copy, which the policy may change.

    Args:
        terms: The terms in force.
        state: The state before the decision.
        n: The number of the decision; the first is 1.
        exclude: Arms that cannot be played this time.
    """
    return Decider(terms, state.copy()).situation(n, check.items(exclude, "exclude"))


def decide(
    terms: Terms, state: State, n: int, exclude: Iterable[object] = ()
) -> tuple[int, Floats]:
    """The column that decision `n` plays, and the policy's memory after it.

    The arguments are those of `situation`. Nothing changes: the caller folds the decision into the
    state, or drops it.

    Example:
        >>> from driftanchor import OfflineData, UCB
        >>> logs = OfflineData.from_summary({"A": (9, 0.7), "B": (9, 0.2)})
        >>> terms = Terms.declare(UCB(), offline=logs, bias_bound=0.1, seed=1)
        >>> column, memory = decide(terms, State.start(terms.arms), 1, exclude=["A"])
        >>> terms.arms[column]
        'B'
    """
    return Decider(terms, state.copy()).decide(n, check.items(exclude, "exclude"))


def next_decision(terms: Terms, state: State, exclude: Iterable[object] = ()) -> Decided:
    """The decision that follows a state, as the event to keep and to fold into it.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> next_decision(terms, State.start(terms.arms), exclude=["B"])
        Decided(number=1, column=0, memory=(), waits=True)
    """
    return Decider(terms, state.copy()).next_decision(check.items(exclude, "exclude"))


def probabilities(
    terms: Terms,
    state: State,
    n: int,
    exclude: Iterable[object] = (),
    draws: int | None = None,
    writers: LawWriters | None = None,
) -> Floats:
    """Return the probability that decision `n` plays each arm, over the policy's noise.

    Args:
        terms: The terms in force.
        state: The state before the decision.
        n: The number of the decision.
        exclude: Arms that cannot be played this time.
        draws: The number of decisions to simulate on the same evidence. By default none: the
            probabilities are computed, with an error below 1e-6, if the law of the policy's index
            is known. Otherwise 1,000 decisions are simulated.
        writers: Compile the policy in the background, to compute faster.
    """
    count = COUNTED if draws is None else check.whole(draws, "draws", low=1, high=10**7)
    if draws is None:
        evidence, now = situation(terms, state, n, exclude)
        writer = None if writers is None else writers.compiled(evidence, now)
        with errors_of(terms.policy.name):
            exact = propensities(terms.policy, evidence, now, writer)
        if exact is not None:
            return exact
    return counted(terms, state, n, exclude, count)


def counted(
    terms: Terms,
    state: State,
    n: int,
    exclude: Iterable[object] = (),
    count: int = COUNTED,
    until: float = math.inf,
) -> Floats:
    """Return the share of each arm in `count` simulated decisions on the same evidence.

    Args:
        terms: The terms in force.
        state: The state before the decision.
        n: The number of the decision.
        exclude: Arms that cannot be played this time.
        count: The number of decisions, each with its own noise.
        until: Deadline, by `time.monotonic`.

    Raises:
        Conflict: The policy is too slow for the deadline.
    """
    evidence, now = situation(terms, state, n, exclude)
    chosen = np.zeros(len(terms.arms), np.int64)
    with wrapping():
        for i in range(count):
            if time.monotonic() >= until:
                raise Conflict(
                    f"policy {terms.policy.name!r} is too slow for live decisions: only {i:,} of "
                    f"the {count:,} choices that give a propensity were made in time; give it a "
                    "law, make it faster, or use another policy"
                )
            again = evidence._replace(memory=state.memory.copy())
            stream = keyed_stream(terms.seed, "probability", n, i)
            chosen[_choice(terms.policy, again, now, stream)] += 1
    shares: Floats = chosen / count
    return shares


def explain(terms: Terms, state: State, n: int, exclude: Iterable[object] = ()) -> Explanation:
    """Why decision `n` went where it went: the decision once more, with every number kept.

    The arguments are those that `decide` had.
    """
    evidence, now = situation(terms, state, n, exclude)
    with errors_of(terms.policy.name), wrapping():
        account = terms.policy.account(evidence, now, _decision_noise(terms, n))
    return Explanation.of(terms.policy, evidence, account, terms.arms.labels, n)


def _choice(policy: Policy, evidence: Evidence, now: Round, stream: Stream) -> int:
    """The column that a policy chooses, if that arm can be played."""
    with errors_of(policy.name):  # it may be a rule of the caller's own
        return playable_column(policy, evidence, policy.choose(evidence, now, stream))


def _decision_noise(terms: Terms, n: int) -> Stream:
    return keyed_stream(terms.seed, "decision", n)
