"""Decider: terms and a ledger, laid out for one decision after the other.

What never changes is computed once: the arrays of the logs, the key of the noise, the policy's
numbers. Decisions are interpreted until a compiled kernel is ready (see `compiling`). Both run the
same code on the same arrays, so they are the same decisions to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import key, wrapping
from driftanchor.errors import InvalidInput, shown
from driftanchor.live import compiling
from driftanchor.live.chosen_column import chosen_column
from driftanchor.live.ledger import Ledger
from driftanchor.live.state import changed_rows
from driftanchor.live.state_events import ArmAdded, Decided, Event
from driftanchor.live.terms import Terms
from driftanchor.policies import answers
from driftanchor.policies.base import Policy, kept_belief

# Indices that a decider interprets before it asks for a kernel: a quarter of a second for the
# default policy, about half of what it takes to load Numba.
ENOUGH = 5_000


class Decider:
    """Decides under terms, from a ledger that it keeps up to date.

    Not for several threads at once: whoever shares it holds a lock.

    Attributes:
        terms: What was agreed.
        ledger: What happened since. Only `apply` may change it.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> decider = Decider(terms, Ledger.start(terms.arms))
        >>> event = decider.next_decision(exclude=["B"])
        >>> event
        Decided(number=1, column=0, memory=())
        >>> decider.apply(event)
        >>> decider.ledger.pending.tolist()
        [1, 0]
    """

    def __init__(self, terms: Terms, ledger: Ledger) -> None:
        self.terms = terms
        self.ledger = ledger
        self._key = key(terms.seed, "decision")
        self._stream = np.empty(4, np.uint64)
        self._interpreted = 0  # indices so far
        self._numbers: Any = None  # of the policy, where a kernel may take them
        self._kind: compiling.Kind | None = None
        self._kernel: compiling.Kernel | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        """The arrays in the one form that kernels are compiled for: they can be written."""
        terms, ledger = self.terms, self.ledger
        belief = kept_belief(type(terms.policy))
        width = terms.policy.memory + (0 if belief is None else len(belief._fields))
        self._evidence = Evidence(
            ledger.pulls,
            ledger.totals,
            terms.offline.n.copy(),
            terms.offline_means.copy(),
            terms.bias_bounds.copy(),
            ledger.playable,
            np.zeros((len(terms.arms), width)),
            ledger.pending,
            terms.relative_bounds.copy(),
        )
        self._memory = self._evidence.memory[:, : terms.policy.memory]  # the policy's own part

    def apply(self, event: Event) -> None:
        """Write down an event, or raise and leave everything as it is."""
        if isinstance(event, ArmAdded):
            self.terms = self.terms.after(event)
            self.ledger.apply(event)
            self._lay_out()
        else:
            self.ledger.apply(event)

    def situation(self, n: int, exclude: Iterable[object] = ()) -> tuple[Evidence, Round]:
        """What the policy sees when it makes decision `n`; see `driftanchor.live.decide`.

        The memory is a copy, which the policy may change.
        """
        evidence = self._seen(exclude)._replace(memory=self.ledger.memory.copy())
        return evidence, Round(*self._round(n, evidence))

    def decide(self, n: int, exclude: Iterable[object] = ()) -> tuple[int, Floats]:
        """The column that decision `n` plays, and the policy's memory after it.

        The memory is overwritten by the next decision.
        """
        policy, kernel, own = self.terms.policy, self._kernel, self._memory
        evidence = self._seen(exclude)
        t, arms = self._round(n, evidence)
        if policy.memory:
            own[:] = self.ledger.memory
        if kernel is None:
            kernel = self._look_for_kernel(evidence)
        try:
            if kernel is None:
                evidence = evidence._replace(memory=own)
                with wrapping():
                    chosen = chosen_column(policy, evidence, t, arms, self._key, n, self._stream)
            else:
                chosen = kernel(self._numbers, evidence, t, arms, self._key, n, self._stream)
        except Exception:
            with answers.errors_of(policy.name):  # it may be a rule of the caller's own
                raise
        return playable_column(policy, evidence, chosen), own

    def _seen(self, exclude: Iterable[object]) -> Evidence:
        if type(exclude) is tuple and not exclude:
            return self._evidence
        playable = self.ledger.playable.copy()
        for label in check.items(exclude, "exclude"):
            playable[self.terms.arms.column(label, "exclude")] = False
        return self._evidence._replace(playable=playable)

    def _round(self, n: int, evidence: Evidence) -> tuple[int, int]:
        """The round of decision `n`, and how many arms can be played."""
        arms = int(np.count_nonzero(evidence.playable))
        if arms == 0:
            raise self._nothing_left()
        before = n - 1
        return (before if before > self.ledger.came else self.ledger.came) + 1, arms

    def next_decision(self, exclude: Iterable[object] = ()) -> Decided:
        """The next decision, as the event to keep and to apply."""
        number = self.ledger.decisions + 1
        column, memory = self.decide(number, exclude)
        if not memory.size:
            return Decided(number, column)
        return Decided(number, column, changed_rows(self.ledger.memory, memory))

    def prepare(self) -> bool:
        """Have decisions compiled now, and wait for it. Whether they are compiled from now on."""
        self._interpreted = ENOUGH
        self._look_for_kernel(self._evidence)
        compiling.finish()
        return self._look_for_kernel(self._evidence) is not None

    def _look_for_kernel(self, evidence: Evidence) -> compiling.Kernel | None:
        """The compiled choice, if there is one; asked for when much was interpreted."""
        if self._kind is None:
            try:
                self._numbers = self.terms.policy.numbers()
                self._kind = compiling.kind_of(self._numbers)
            except Exception:  # of a policy of one's own: the decision says what is wrong, if asked
                self._kind = ()
        self._kernel = compiling.ready(self._kind)
        self._interpreted += evidence.pulls.size
        if self._kernel is None and self._kind and self._interpreted >= ENOUGH:
            arguments = (self._numbers, evidence, 1, 1, self._key, 1, self._stream)
            compiling.ask(self._kind, arguments)
        return self._kernel

    def _nothing_left(self) -> InvalidInput:
        on = zip(self.terms.arms, self.ledger.playable, strict=True)
        left = [label for label, playable in on if playable]
        if not left:
            return InvalidInput("no arm can be played: all are retired; add one")
        return InvalidInput(f"leaves no arm to play, of {', '.join(left)}", argument="exclude")


def playable_column(policy: Policy, evidence: Evidence, chosen: Any) -> int:
    """The column that a policy chose, if that arm can be played."""
    column = chosen if type(chosen) is int else answers.column(policy, chosen)
    if not (0 <= column < evidence.playable.size and evidence.playable.item(column)):
        raise InvalidInput(
            f"{policy.name!r} chose {shown(column)}, which is no arm that can be played: "
            "every index may be NaN, or its choose is wrong",
            argument="policy",
        )
    return column
