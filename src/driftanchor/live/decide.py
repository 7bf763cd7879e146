"""Decide: which arm the policy plays, with what probability, and why.

The functions are pure: the same terms and state give the same answer in every process. For many
decisions keep a `Decider`, which they use.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from driftanchor.compiled.rules import live_chooser
from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import key, keyed_stream, start, wrapping
from driftanchor.errors import Conflict, InvalidInput, shown
from driftanchor.live import compiling
from driftanchor.live.explanation import Explanation
from driftanchor.live.propensities import Propensities
from driftanchor.live.state import State, changed_rows
from driftanchor.live.state_events import (
    ArmAdded,
    BoundsChanged,
    Decided,
    Distrusted,
    Event,
    Matured,
    MemoryRow,
    Paused,
    Resumed,
)
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy, caches_beliefs, errors_of, valid_column

# Indices that a decider interprets before it compiles: a quarter of a second for the default
# policy, about half of what it takes to load Numba.
ENOUGH = 5_000
COUNTED = 1_000  # decisions that are simulated where probabilities cannot be computed


class Decider:
    """Makes decisions under fixed terms, and keeps a state up to date.

    Everything that stays the same between decisions is computed once: the arrays of the logs, the
    key of the noise, the policy's parameters. Not thread-safe: hold a lock to share it.

    Attributes:
        terms: The terms in force.
        state: The current state. Callers may add rewards to it; use `apply` for other events.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> decider = Decider(terms, State.start(terms.arms))
        >>> event = decider.next_decision(exclude=["B"])
        >>> event
        Decided(number=1, column=0, memory=(), waits=True)
        >>> decider.apply(event)
        >>> decider.state.pending.tolist()
        [1, 0]
    """

    def __init__(self, terms: Terms, state: State) -> None:
        self.terms = terms
        self.state = state
        self._noise = key(terms.seed, "decision"), np.empty(4, np.uint64)
        self._rule = compiling.BackgroundRule(terms.policy, live_chooser, ENOUGH)
        self._lay_out()

    def _lay_out(self) -> None:
        """Build the evidence from read-only views; only the memory is writable."""
        terms, state = self.terms, self.state
        pulls: Any = check.frozen(state.live_pulls.view())
        pending: Any = check.frozen(state.live_pending.view())
        policy = terms.policy
        beliefs = len(policy.belief._fields) if caches_beliefs(type(policy)) else 0
        self._evidence = Evidence(
            pulls,
            check.frozen(state.live_totals.view()),
            check.frozen(terms.offline.n.view()),
            check.frozen(terms.offline_means.view()),
            check.frozen(terms.bias_bounds.view()),
            state.playable,
            np.zeros((len(terms.arms), policy.memory + beliefs)),
            pending,
            check.frozen(terms.relative_bounds.view()),
        )
        self._memory = self._evidence.memory[:, : policy.memory]
        self._compiled: compiling.Rule | None = None  # it fits one dtype of `pulls`

    def apply(self, event: Event) -> None:
        """Apply an event, or raise without changing anything."""
        if isinstance(event, ArmAdded | Distrusted | BoundsChanged):
            terms = self.terms.after(event)
            self.state.apply(event)
            self.terms = terms
            self._lay_out()
        else:
            self.state.apply(event)
            if isinstance(event, Matured | Paused | Resumed):
                self._lay_out()

    def situation(self, exclude: Sequence[object] = ()) -> tuple[Evidence, Round]:
        """Return what the policy sees when it makes the next decision; see `situation` below."""
        state, (evidence, arms) = self.state, self._playable(exclude)
        now = Round(max(state.decisions, state.reward_count) + 1, arms)
        return evidence._replace(memory=state.memory.copy()), now

    def next_decision(self, exclude: Sequence[object] = (), waits: bool = True) -> Decided:
        """Return the next decision as an event, to record and apply.

        Args:
            exclude: Arms that cannot be played this time.
            waits: `True` if the decision waits for its reward as soon as it is made; `False` if
                it starts to wait when it is shown.
        """
        column, rows = self._choose(exclude)
        return Decided(self.state.decisions + 1, column, rows, waits)

    def play(self, exclude: Sequence[object] = ()) -> int:
        """Make and apply the next decision; return the column played."""
        column, rows = self._choose(exclude)
        self.state.decide(column, rows)
        return column

    def _choose(self, exclude: Sequence[object]) -> tuple[int, tuple[MemoryRow, ...]]:
        """Return the column of the next decision, and the rows of the memory that it changes."""
        state, policy = self.state, self.terms.policy
        evidence, arms = self._evidence, state.playable_count
        if exclude or not arms:
            evidence, arms = self._playable(exclude)
        n, t = state.decisions + 1, state.reward_count + 1
        t = n if n > t else t
        if policy.memory:
            self._memory[:] = state.memory
        try:
            rule = self._compiled or self._look_for_compiled(evidence.pulls.size)
            if rule is not None:
                chosen = rule(evidence, *self._noise, t, arms, n)
            else:
                own = evidence._replace(memory=self._memory)
                noise, stream = self._noise
                with wrapping():
                    start(stream, noise, n, 0)
                    chosen = policy.choose(own, Round(t, arms), stream)
            column = playable_column(policy, evidence, chosen)
        except Exception:
            with errors_of(policy.name):  # a custom policy may raise or return anything
                raise
        return column, changed_rows(state.memory, self._memory) if policy.memory else ()

    def _playable(self, exclude: Sequence[object]) -> tuple[Evidence, int]:
        """Return the evidence with these arms unplayable, and the number of playable arms."""
        state = self.state
        if not exclude and state.playable_count:
            return self._evidence, state.playable_count
        playable = state.playable.copy()
        for label in exclude:
            playable[self.terms.arms.column(label, "exclude")] = False
        arms = int(np.count_nonzero(playable))
        if arms == 0:
            left = [x for x, on in zip(self.labels, state.playable, strict=True) if on]
            if not left:
                raise InvalidInput("no arm can be played: all are retired; add one")
            raise InvalidInput(f"leaves no arm to play, of {', '.join(left)}", argument="exclude")
        return self._evidence._replace(playable=check.frozen(playable)), arms

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the arms, by column."""
        return self.terms.arms.labels

    @property
    def is_compiled(self) -> bool:
        """Whether decisions are compiled from now on."""
        return self._compiled is not None

    def start_compiling(self) -> None:
        """Compile in the background now, even if few decisions were made so far."""
        self._rule.start_compiling(self._evidence, (*self._noise, 1, 1, 1))

    def prepare(self) -> bool:
        """Compile now and wait; return whether decisions are compiled from now on."""
        self.start_compiling()
        compiling.finish()
        return self._look_for_compiled(0) is not None

    def _look_for_compiled(self, work: int) -> compiling.Rule | None:
        self._compiled = self._rule.ready(self._evidence, (*self._noise, 1, 1, 1), work)
        return self._compiled


def situation(terms: Terms, state: State, exclude: Iterable[object] = ()) -> tuple[Evidence, Round]:
    """Return what the policy sees when it makes the next decision.

    The round is one more than the number of decisions, or of rewards if that is larger, as when
    rewards of pulls made elsewhere are reported. The memory in the evidence is a copy, which the
    policy may change.
    """
    return Decider(terms, state).situation(check.items(exclude, "exclude"))


def next_decision(terms: Terms, state: State, exclude: Iterable[object] = ()) -> Decided:
    """Return the next decision as an event, to record and to fold into the state.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> next_decision(terms, State.start(terms.arms), exclude=["B"])
        Decided(number=1, column=0, memory=(), waits=True)
    """
    return Decider(terms, state).next_decision(check.items(exclude, "exclude"))


def probabilities(
    terms: Terms,
    state: State,
    exclude: Iterable[object] = (),
    draws: int | None = None,
    known: Propensities | None = None,
) -> Floats:
    """Return the probability that the next decision plays each arm, over the policy's noise.

    Args:
        terms: The terms in force.
        state: The state before the decision.
        exclude: Arms that cannot be played this time.
        draws: The number of decisions to simulate on the same evidence. By default none: the
            probabilities are computed, with an error below 1e-6, if the law of the policy's index
            is known. Otherwise 1,000 decisions are simulated.
        known: Computes and caches propensities of the policy; reuse it between calls.
    """
    if draws is None:
        with errors_of(terms.policy.name):
            known = known or Propensities(terms.policy)
            exact = known.of(*situation(terms, state, exclude))
        if exact is not None:
            return exact
    count = COUNTED if draws is None else check.whole(draws, "draws", low=1, high=10**7)
    return counted(terms, state, exclude, count)


def counted(
    terms: Terms,
    state: State,
    exclude: Iterable[object] = (),
    count: int = COUNTED,
    until: float = math.inf,
) -> Floats:
    """Return the share of each arm in `count` simulated decisions on the same evidence.

    Each decision has its own noise. `until` is a deadline, by `time.monotonic`.

    Raises:
        Conflict: The policy is too slow for the deadline.
    """
    evidence, now = situation(terms, state, exclude)
    policy, plays = terms.policy, np.zeros(len(terms.arms), np.int64)
    with errors_of(policy.name), wrapping():
        for i in range(count):
            if time.monotonic() >= until:
                raise Conflict(
                    f"policy {policy.name!r} is too slow for live decisions: only {i:,} of "
                    f"the {count:,} choices that give a propensity were made in time; give it a "
                    "law, make it faster, or use another policy"
                )
            again = evidence._replace(memory=state.memory.copy())
            stream = keyed_stream(terms.seed, "probability", state.decisions + 1, i)
            plays[playable_column(policy, evidence, policy.choose(again, now, stream))] += 1
    shares: Floats = plays / count
    return shares


def explain(terms: Terms, state: State, exclude: Iterable[object] = ()) -> Explanation:
    """Repeat the next decision and record every number behind it."""
    evidence, now = situation(terms, state, exclude)
    number = state.decisions + 1
    with errors_of(terms.policy.name), wrapping():
        stream = keyed_stream(terms.seed, "decision", number)
        account = terms.policy.account(evidence, now, stream)
    return Explanation.of(terms.policy, evidence, account, terms.arms.labels, number)


def playable_column(policy: Policy, evidence: Evidence, chosen: Any) -> int:
    """Return the column that a policy chose, if that arm can be played."""
    column = chosen if type(chosen) is int else valid_column(policy, chosen)
    if not (0 <= column < evidence.playable.size and evidence.playable.item(column)):
        raise InvalidInput(
            f"{policy.name!r} chose {shown(column)}, which is not an arm that can be played: "
            "every index may be NaN, or its choose is wrong",
            argument="policy",
        )
    return column
