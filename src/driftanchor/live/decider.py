"""Decider: terms and a state, laid out for fast successive decisions.

Constants are computed once: the arrays of the logs, the key of the noise, the policy's parameters.
Decisions are interpreted until a compiled kernel is ready (see `compiling`). Both run the same code
on the same arrays, so the decisions are bit-identical.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftanchor.compiled.overloads import parameters_of
from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import key, start, wrapping
from driftanchor.errors import InvalidInput, shown
from driftanchor.live import background, compiling
from driftanchor.live.state import FEW, State, changed_rows
from driftanchor.live.state_events import (
    ArmAdded,
    BoundsChanged,
    Decided,
    Distrusted,
    Event,
    Matured,
)
from driftanchor.live.terms import Terms
from driftanchor.policies.base import Policy, caches_beliefs, errors_of, valid_column

# Indices that a decider interprets before it asks for a kernel: a quarter of a second for the
# default policy, about half of what it takes to load Numba.
ENOUGH = 5_000
ALL = 4  # arms up to which a kernel looks at all of them: to note which changed takes longer


class Decider:
    """Makes decisions under fixed terms, and keeps a state up to date.

    Not thread-safe: hold a lock to share it.

    Attributes:
        terms: The terms in force.
        state: The current state. Callers may add rewards to it; use `apply` for other events.
        labels: The arms' labels, by column.

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
        self._key = key(terms.seed, "decision")
        self._stream = np.empty(4, np.uint64)
        self._arms_before = 0  # in the last decision; 0 if its beliefs cannot be reused
        self._interpreted = 0  # indices interpreted so far
        self._parameters: Any = None  # of the policy, if a kernel can take them
        self._kind: compiling.Kind | None = None
        self._kernel: compiling.Kernel | None = None
        self._ready: compiling.Kernel | None = None  # with its constant arguments bound
        self._lay_out()

    def _lay_out(self) -> None:
        """Build the arrays in the layout that kernels are compiled for.

        All but the memory are read-only views, so a policy cannot modify them.
        """
        terms, state = self.terms, self.state
        pulls: Any = check.frozen(state.live_pulls.view())
        pending: Any = check.frozen(state.live_pending.view())
        cached = caches_beliefs(type(terms.policy))
        width = terms.policy.memory + (len(terms.policy.belief._fields) if cached else 0)
        self._evidence = Evidence(
            pulls,
            check.frozen(state.live_totals.view()),
            check.frozen(terms.offline.n.view()),
            check.frozen(terms.offline_means.view()),
            check.frozen(terms.bias_bounds.view()),
            check.frozen(state.playable.view()),
            np.zeros((len(terms.arms), width)),
            pending,
            check.frozen(terms.relative_bounds.view()),
        )
        self._memory = self._evidence.memory[:, : terms.policy.memory]  # the policy's own part
        self._remembers = terms.policy.memory > 0
        self._without_beliefs = self._evidence._replace(memory=state.memory)
        self._size = len(terms.arms)
        self._ready = None
        self._kind = None  # pulls may be fractional from now on, which needs another kernel
        self._kernel = None
        self._many = len(terms.arms) > ALL
        self.labels = terms.arms.labels
        self._arms_before = 0
        self._tools = self._key, self._stream, state.changed

    def apply(self, event: Event) -> None:
        """Apply an event, or raise without changing anything."""
        if isinstance(event, ArmAdded | Distrusted | BoundsChanged):
            terms = self.terms.after(event)
            self.state.apply(event)
            self.terms = terms
            self._lay_out()
        else:
            self.state.apply(event)
            if isinstance(event, Matured):
                self._lay_out()

    def situation(self, n: int, exclude: Sequence[object] = ()) -> tuple[Evidence, Round]:
        """Return what the policy sees when it makes decision `n`; see `driftanchor.live.decide`.

        The memory is a copy that the policy may change. If nothing else changes and the policy
        has no memory, the same evidence object is returned.
        """
        evidence, arms = self._seen(exclude)
        t = max(n, self.state.reward_count + 1)
        if evidence is self._evidence and not self._remembers:
            return self._without_beliefs, Round(t, arms)
        return evidence._replace(memory=self.state.memory.copy()), Round(t, arms)

    def decide(self, n: int, exclude: Sequence[object] = ()) -> tuple[int, Floats]:
        """Return the column that decision `n` plays, and the policy's memory after it.

        The memory is overwritten by the next decision.
        """
        return self._chosen(n, exclude), self._memory

    def _chosen(self, n: int, exclude: Sequence[object]) -> int:
        """Return the column that decision `n` plays; update the policy's memory in `_memory`."""
        state, ready = self.state, self._ready
        evidence, arms = self._evidence, state.playable_count
        came = state.reward_count
        t = n if n > came else came + 1
        chosen: int
        if exclude or arms == 0:
            evidence, arms = self._seen(exclude)
            ready = None
        if self._remembers:
            self._memory[:] = state.memory
        try:
            if ready is not None:
                chosen = ready(t, arms, n, self._changes(arms, False) if self._many else -1)
            else:
                chosen = self._choose(evidence, t, arms, n, bool(exclude))
        except Exception:
            self._arms_before = 0
            with errors_of(self.terms.policy.name):  # a custom policy may return anything
                raise
        known = type(chosen) is int and 0 <= chosen < self._size
        if not known or (arms < self._size and not evidence.playable.item(chosen)):
            chosen = playable_column(self.terms.policy, evidence, chosen)
        return chosen

    def _choose(self, evidence: Evidence, t: int, arms: int, n: int, excluding: bool) -> int:
        """Let the policy choose: compiled if a kernel is ready, else interpreted."""
        kernel = self._kernel or self._look_for_kernel(evidence)
        if kernel is None:
            evidence, policy = evidence._replace(memory=self._memory), self.terms.policy
            with wrapping():
                start(self._stream, self._key, n, 0)
                return valid_column(policy, policy.choose(evidence, Round(t, arms), self._stream))
        self._ready = functools.partial(kernel, self._parameters, self._evidence, *self._tools)
        count = self._changes(arms, excluding) if self._many else -1
        chosen: int = kernel(self._parameters, evidence, *self._tools, t, arms, n, count)
        return chosen

    def _changes(self, arms: int, excluding: bool) -> int:
        """Return the number of arms whose beliefs a kernel must recompute; -1 for all.

        A cached belief is valid until the arm or the set of playable arms changes.
        """
        count = self.state.changes
        if count > FEW or arms != self._arms_before:
            count = -1
        self.state.changes = 0
        self._arms_before = 0 if excluding else arms
        return count

    def _seen(self, exclude: Sequence[object]) -> tuple[Evidence, int]:
        """Return the evidence without some arms, and the number of playable arms."""
        if not exclude and self.state.playable_count:
            return self._evidence, self.state.playable_count
        playable = self.state.playable.copy()
        for label in exclude:
            playable[self.terms.arms.column(label, "exclude")] = False
        arms = int(np.count_nonzero(playable))
        if arms == 0:
            raise self._nothing_left()
        return self._evidence._replace(playable=check.frozen(playable)), arms

    def next_decision(self, exclude: Sequence[object] = (), waits: bool = True) -> Decided:
        """Return the next decision as an event, to record and apply.

        Args:
            exclude: Arms that cannot be played this time.
            waits: Whether the decision waits for its reward immediately.
        """
        number = self.state.decisions + 1
        column = self._chosen(number, exclude)
        rows = changed_rows(self.state.memory, self._memory) if self._remembers else ()
        return Decided(number, column, rows, waits)

    def play(self, exclude: Sequence[object] = ()) -> int:
        """Make and apply the next decision; return the column played."""
        state = self.state
        column = self._chosen(state.decisions + 1, exclude)
        rows = changed_rows(state.memory, self._memory) if self._remembers else ()
        state.decide(column, rows, True)
        return column

    @property
    def is_compiled(self) -> bool:
        """Whether decisions are compiled from now on."""
        return self._kernel is not None

    def prepare(self) -> bool:
        """Compile now and wait; return whether decisions are compiled from now on."""
        self.ask_for_kernel()
        background.finish()
        return self._look_for_kernel(self._evidence) is not None

    def ask_for_kernel(self) -> None:
        """Start a background compile, even if few decisions were made so far."""
        self._interpreted = ENOUGH
        self._look_for_kernel(self._evidence)

    def _look_for_kernel(self, evidence: Evidence) -> compiling.Kernel | None:
        """Return the compiled kernel, if ready; request it after enough interpreted work."""
        if self._kind is None:
            try:
                self._parameters = parameters_of(self.terms.policy)
                self._kind = compiling.kind_of(self.terms.policy, evidence)
            except Exception:  # a custom policy: the decision itself will raise the error
                return None
        self._kernel = compiling.ready(self._kind)
        self._interpreted += evidence.pulls.size
        if self._kernel is None and self._interpreted >= ENOUGH:
            arguments = (self._parameters, evidence, *self._tools, 1, 1, 1, 1)
            compiling.request(self._kind, self.terms.policy, arguments)
        return self._kernel

    def _nothing_left(self) -> InvalidInput:
        on = zip(self.terms.arms, self.state.playable, strict=True)
        left = [label for label, playable in on if playable]
        if not left:
            return InvalidInput("no arm can be played: all are retired; add one")
        return InvalidInput(f"leaves no arm to play, of {', '.join(left)}", argument="exclude")


def playable_column(policy: Policy, evidence: Evidence, chosen: Any) -> int:
    """The column that a policy chose, if that arm can be played."""
    column = chosen if type(chosen) is int else valid_column(policy, chosen)
    if not (0 <= column < evidence.playable.size and evidence.playable.item(column)):
        raise InvalidInput(
            f"{policy.name!r} chose {shown(column)}, which is not an arm that can be played: "
            "every index may be NaN, or its choose is wrong",
            argument="policy",
        )
    return column
