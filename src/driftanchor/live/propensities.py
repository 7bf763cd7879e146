"""Propensities: the probability that a policy plays each arm, from the laws of its indices.

Given the common move, the indices of the arms are independent, and `core.win_chances` integrates
over the largest. The common move is normal and the same for all arms: one more integral. A guard
pull draws nothing, so all its indices are constants.

A policy's laws are written by plain scalar code, interpreted or compiled; both give the same
numbers. Everything after that is NumPy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from driftanchor.compiled import kernels
from driftanchor.compiled.overloads import parameters_of
from driftanchor.compiled.rules import laws_writer
from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.index_law import NEVER, IndexLaw
from driftanchor.core.win_chances import (
    KIND,
    MEAN,
    OTHER_MEAN,
    PLACE,
    win_chances,
)
from driftanchor.live.over_moves import REACH, over_moves
from driftanchor.policies.base import Policy, RoundKind, has_law, write_laws

RIGHT = 1e-6  # allowed distance of the sum of probabilities from 1
STILL = np.zeros(1)  # one common move, at its mean; moves are in sds from their mean
GRID = np.linspace(-REACH, REACH, 65)  # moves at which indices without noise are compared
ROUNDING = 1e-13  # indices with a smaller relative difference count as equal
CACHED = 16  # tables of laws in a `ChanceCache`
LARGEST = 30_000  # numbers in each of them


# Writes the laws of a round: (evidence, t, arms, moves, guard, laws) -> fields of a `RoundKind`
Writer = Callable[..., tuple[float, float, float]]


class ChanceCache:
    """Caches chances by the laws they were computed from.

    Between two rewards most laws stay the same, and comparing them is far faster than integrating.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Floats] = {}

    def chances(self, laws: Floats) -> Floats:
        """Return `win_chances(laws)`, from the cache if possible."""
        if laws.size > LARGEST:
            return win_chances(laws)
        key = laws.tobytes()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= CACHED:
                self._known.clear()
            found = self._known[key] = check.frozen(win_chances(laws))
        return found


def interpreted(policy: Policy) -> Writer:
    """Return an interpreted writer, which is ready at once."""

    def write(
        evidence: Evidence, t: int, arms: int, moves: Floats, guard: bool, laws: Floats
    ) -> tuple[float, float, float]:
        return write_laws(policy, evidence, Round(t, arms), moves, guard, laws)

    return write


def compiled(policy: Policy, evidence: Evidence) -> Writer:
    """Return a compiled writer for evidence of these types."""
    laws = np.zeros((evidence.pulls.size, len(IndexLaw._fields)))
    arguments = parameters_of(policy), evidence, 1, 1, STILL, True, laws
    write = kernels.entry(kernels.rule(policy, laws_writer, *arguments), *arguments)
    return functools.partial(write, arguments[0])


def propensities(
    policy: Policy,
    evidence: Evidence,
    now: Round,
    writer: Writer | None = None,
    cache: ChanceCache | None = None,
) -> Floats | None:
    """Return the probability that the policy plays each arm; ties are broken at random.

    Returns `None` if the law of its index is unknown, if every index is NaN, or if floats are so
    coarse that the probabilities do not add up to 1 within 1e-6.

    Args:
        policy: The policy.
        evidence: The numbers of all arms.
        now: The round.
        writer: `interpreted(policy)` or `compiled(policy, evidence)`; by default the first.
        cache: Caches chances between calls.

    Example:
        >>> from driftanchor import TS, Learner
        >>> from driftanchor.live.decide import situation
        >>> learner = Learner(TS(), arms=["A", "B", "C"], seed=1)
        >>> propensities(TS(), *situation(learner.terms, learner.state, 1)).round(6)
        array([0.333333, 0.333333, 0.333333])
    """
    if not has_law(type(policy)):
        return None
    round_laws = _RoundLaws(writer or interpreted(policy), evidence, now)
    integrate = win_chances if cache is None else cache.chances
    kind, laws = round_laws.laws(STILL, guard=True)
    share = kind.guard
    if share == 0.0 and kind.sd == 0.0:
        shares = integrate(laws)[0]
    else:
        shares = share * integrate(laws)[0] if share > 0.0 else np.zeros(round_laws.arms)
        if share < 1.0:
            shares = shares + (1.0 - share) * round_laws.without_guard(kind, integrate)
    total = float(shares.sum())
    return check.frozen(shares / total) if abs(total - 1.0) <= RIGHT else None


class _RoundLaws:
    """The laws of all arms in one round, and the chances that follow from them."""

    def __init__(self, writer: Writer, evidence: Evidence, now: Round) -> None:
        self.writer, self.evidence, self.now = writer, evidence, now
        self.arms = evidence.pulls.size

    def laws(self, moves: Floats, *, guard: bool) -> tuple[RoundKind, Floats]:
        """Return the laws given each common move, of shape (moves, arms, 6)."""
        laws = np.zeros((moves.size * self.arms, 6))
        kind = self.writer(self.evidence, *self.now, moves, guard, laws)
        return RoundKind(*kind), laws.reshape(moves.size, self.arms, 6)

    def without_guard(self, kind: RoundKind, integrate: Callable[[Floats], Floats]) -> Floats:
        """Return the chances of all arms in a round without a guard pull."""
        if kind.sd == 0.0:
            shares: Floats = integrate(self.laws(STILL, guard=False)[1])[0]
            return shares
        return over_moves(
            lambda moves: integrate(self.laws(moves, guard=False)[1]), self._switches(kind)
        )

    def _switches(self, kind: RoundKind) -> list[float]:
        """Return moves at which chances may jump.

        Logs stop moving with the common move where their bias bound becomes the tighter one. If all
        indices are constants, the winner changes where two of them cross.
        """
        levels, relative = self.evidence.bias_bounds, self.evidence.relative_bounds
        both = (self.evidence.offline_pulls > 0) & np.isfinite(levels) & np.isfinite(relative)
        switches: list[float] = np.unique(
            (levels[both] - relative[both] - kind.mean) / kind.sd
        ).tolist()
        laws = self.laws(STILL, guard=False)[1][0]
        playable = laws[:, KIND] != NEVER
        if (
            np.isneginf(laws[playable, MEAN]).all()
            and np.isposinf(laws[playable, OTHER_MEAN]).all()
        ):
            indices = self.laws(GRID, guard=False)[1][:, playable, PLACE]
            switches += _crossings(GRID, indices)
        return switches


def _crossings(moves: Floats, indices: Floats) -> list[float]:
    """Return where the largest index changes, if all are linear between adjacent moves."""
    if not np.isfinite(indices).all():
        return []
    found, waiting = [], list(zip(moves, indices, moves[1:], indices[1:], strict=False))
    while waiting:
        left, before, right, after = waiting.pop()
        first, last = before.argmax(), after.argmax()
        ahead, behind = before[first] - before[last], after[last] - after[first]
        if first == last or ahead + behind <= 0.0:
            continue
        share = ahead / (ahead + behind)
        place, there = left + share * (right - left), before + share * (after - before)
        if there.max() - there[first] <= ROUNDING * abs(there[first]):
            found.append(float(place))
        else:  # a third index is larger there
            waiting += [(left, before, place, there), (place, there, right, after)]
    return found
