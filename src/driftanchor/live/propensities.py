"""Propensities: the probability that a policy plays each arm, from the laws of its indices.

Given the common move, the indices of the arms are independent, and `core.win_chances` integrates
over the largest. The common move is normal and shared by all arms, so averaging over it takes one
more integral. A guard pull draws nothing, so all its indices are constants.

A policy's laws are written by plain scalar code, interpreted or compiled; both give the same
numbers. Everything after that is NumPy.
"""

from __future__ import annotations

import functools
import math
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
from driftanchor.live.compiling import BackgroundRule
from driftanchor.policies.base import Policy, RoundKind, has_law, write_laws

TOLERANCE = 1e-6  # allowed distance of the sum of probabilities from 1
STILL = np.zeros(1)  # one common move, at its mean; moves are in sds from their mean
FARTHEST = 5.2  # in sds: a normal is farther from its mean with probability 2e-7
GRID = np.linspace(-FARTHEST, FARTHEST, 65)  # moves at which indices without noise are compared
ROUNDING = 1e-13  # indices with a smaller relative difference count as equal
ENOUGH = 2_000  # propensities of single arms that are interpreted before it pays to compile
MOVING = 40  # weight of an arm in `ENOUGH` if propensities are averaged over common moves
MANY = 2_000  # with this many arms, interpreting decisions takes longer than compiling
MAX_CACHED = 16  # tables of laws in a cache
MAX_SIZE = 30_000  # numbers in a cached table

# For averages over the common move:
CUTS = [-2.9, -1.4, -0.1, 1.3, 2.7]  # of the range, so that narrow features are not missed
MIN_POINTS, MAX_POINTS = 17, 65  # equally spaced
AGREE = 3e-6  # allowed change if every other point is left out; smooth functions change far less
CLOSE = 1e-6  # allowed change of an interval's integral when it is halved
RARE = 2e-7  # intervals with a smaller probability are not halved again
MAX_SWITCHES = 40  # with more, the range is not cut at them
NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)

# Writes the laws of a round: (evidence, t, arms, moves, guard, laws) -> fields of a `RoundKind`
Writer = Callable[..., tuple[float, float, float]]
Integrate = Callable[[Floats], Floats]  # laws (moves, arms, 6) -> probabilities (moves, arms)
RowsByMove = Callable[[Floats], Floats]  # moves, in sds -> one row each


class Propensities:
    """Computes the propensities of one policy; compiled in the background after many calls.

    Results are cached: between two rewards most laws stay the same, and comparing them is far
    faster than integrating.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy, self._has_law = policy, has_law(type(policy))
        self._rule = BackgroundRule(policy, laws_writer, ENOUGH)
        self._chances: dict[bytes, Floats] = {}

    def of(self, evidence: Evidence, now: Round) -> Floats | None:
        """Return the probability of each arm, as `propensities` does."""
        if not self._has_law:
            return None
        moving = MOVING if np.isfinite(evidence.relative_bounds).any() else 1
        work = moving * evidence.pulls.size
        writer = self._rule.ready(evidence, _example(evidence), work)
        return propensities(self._policy, evidence, now, writer, self._integrate)

    def start_compiling(self, evidence: Evidence) -> None:
        """Compile in the background now, however few propensities were computed."""
        if self._has_law:
            self._rule.start_compiling(evidence, _example(evidence))

    def _integrate(self, laws: Floats) -> Floats:
        if laws.size > MAX_SIZE:
            return win_chances(laws)
        key = laws.tobytes()
        chances = self._chances.get(key)
        if chances is None:
            if len(self._chances) >= MAX_CACHED:
                self._chances.clear()
            chances = self._chances[key] = check.frozen(win_chances(laws))
        return chances


def interpreted(policy: Policy) -> Writer:
    """Return an interpreted writer, which is ready at once."""

    def write(
        evidence: Evidence, t: int, arms: int, moves: Floats, guard: bool, laws: Floats
    ) -> tuple[float, float, float]:
        return write_laws(policy, evidence, Round(t, arms), moves, guard, laws)

    return write


def _example(evidence: Evidence) -> tuple[int, int, Floats, bool, Floats]:
    """Return arguments of the types that a writer gets."""
    return 1, 1, STILL, True, np.zeros((evidence.pulls.size, len(IndexLaw._fields)))


def compiled(policy: Policy, evidence: Evidence) -> Writer:
    """Return a compiled writer for evidence of these types, after compiling it."""
    arguments = parameters_of(policy), evidence, *_example(evidence)
    write = kernels.entry(kernels.rule(policy, laws_writer, *arguments), *arguments)
    return functools.partial(write, arguments[0])


def propensities(
    policy: Policy,
    evidence: Evidence,
    now: Round,
    writer: Writer | None = None,
    integrate: Integrate = win_chances,
) -> Floats | None:
    """Return the probability that the policy plays each arm; ties are broken at random.

    Returns `None` if the law of its index is unknown, if every index is NaN, or if floats are so
    coarse that the probabilities do not add up to 1 within 1e-6.

    Args:
        policy: The policy.
        evidence: The numbers of all arms.
        now: The round.
        writer: `interpreted(policy)` or `compiled(policy, evidence)`; by default the first.
        integrate: `win_chances`, or a function that caches its results.

    Example:
        >>> from driftanchor import TS, Learner
        >>> from driftanchor.live.decide import situation
        >>> learner = Learner(TS(), arms=["A", "B", "C"], seed=1)
        >>> propensities(TS(), *situation(learner.terms, learner.state)).round(6)
        array([0.333333, 0.333333, 0.333333])
    """
    if not has_law(type(policy)):
        return None
    round_laws = _RoundLaws(writer or interpreted(policy), evidence, now)
    kind, laws = round_laws.laws(STILL, guard=True)
    share = kind.guard
    if share == 0.0 and kind.sd == 0.0:
        shares = integrate(laws)[0]
    else:
        shares = share * integrate(laws)[0] if share > 0.0 else np.zeros(round_laws.arms)
        if share < 1.0:
            shares = shares + (1.0 - share) * round_laws.without_guard(kind, integrate)
    total = float(shares.sum())
    return check.frozen(shares / total) if abs(total - 1.0) <= TOLERANCE else None


class _RoundLaws:
    """The laws of all arms in one round."""

    def __init__(self, writer: Writer, evidence: Evidence, now: Round) -> None:
        self.writer, self.evidence, self.now = writer, evidence, now
        self.arms = evidence.pulls.size

    def laws(self, moves: Floats, *, guard: bool) -> tuple[RoundKind, Floats]:
        """Return the laws for each common move, of shape (moves, arms, 6)."""
        laws = np.zeros((moves.size * self.arms, 6))
        kind = self.writer(self.evidence, *self.now, moves, guard, laws)
        return RoundKind(*kind), laws.reshape(moves.size, self.arms, 6)

    def without_guard(self, kind: RoundKind, integrate: Integrate) -> Floats:
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
    crossings, waiting = [], list(zip(moves, indices, moves[1:], indices[1:], strict=False))
    while waiting:
        left, before, right, after = waiting.pop()
        first, last = before.argmax(), after.argmax()
        ahead, behind = before[first] - before[last], after[last] - after[first]
        if first == last or ahead + behind <= 0.0:
            continue
        share = ahead / (ahead + behind)
        place, there = left + share * (right - left), before + share * (after - before)
        if there.max() - there[first] <= ROUNDING * abs(there[first]):
            crossings.append(float(place))
        else:  # a third index is larger there
            waiting += [(left, before, place, there), (place, there, right, after)]
    return crossings


def over_moves(rows_at: RowsByMove, switches: list[float]) -> Floats:
    """Return the mean of `rows_at` over a standard normal move, with an error of about 1e-6.

    Args:
        rows_at: Maps moves to an array (moves, arms) of numbers between 0 and 1.
        switches: Moves at which `rows_at` may jump.
    """
    inside = [x for x in switches if abs(x) < FARTHEST]
    if not inside:
        smooth = _at_equal_spacing(rows_at)
        if smooth is not None:
            return smooth
    cuts = CUTS + (inside if len(inside) <= MAX_SWITCHES else [])
    return _by_halves(rows_at, np.unique([-FARTHEST, *cuts, FARTHEST]))


def _at_equal_spacing(rows_at: RowsByMove) -> Floats | None:
    """Return the mean over equally spaced points; `None` if it does not converge.

    For smooth functions under a normal density no rule needs fewer points: the error falls like
    exp(−c/h²), where h is the spacing.
    """
    moves = np.linspace(-FARTHEST, FARTHEST, MIN_POINTS)
    values = rows_at(moves)
    while True:
        weights = np.exp(-0.5 * moves * moves)
        fine: Floats = weights @ values / weights.sum()
        rough = weights[::2] @ values[::2] / weights[::2].sum()
        if np.abs(fine - rough).max() <= AGREE:
            return fine
        if moves.size >= MAX_POINTS:
            return None
        places, between = np.arange(1, moves.size), 0.5 * (moves[1:] + moves[:-1])
        moves = np.insert(moves, places, between)
        values = np.insert(values, places, rows_at(between), axis=0)


def _by_halves(rows_at: RowsByMove, edges: Floats) -> Floats:
    """Return the mean by Gauss–Legendre on intervals, halved until their integrals settle."""
    left, right = edges[:-1], edges[1:]
    parts, _ = _parts(rows_at, left, right)
    total, known = np.zeros(parts.shape[1]), 0.0
    while left.size:
        middle = 0.5 * (left + right)
        left, right = (np.stack(x, axis=1).ravel() for x in ((left, middle), (middle, right)))
        halves, weights = _parts(rows_at, left, right)
        both = halves[::2] + halves[1::2]
        done = np.abs(both - parts).max(axis=1) <= CLOSE
        done |= weights[::2] + weights[1::2] <= RARE
        total += both[done].sum(axis=0)
        done = done.repeat(2)
        known += float(weights[done].sum())
        left, right, parts = left[~done], right[~done], halves[~done]
    mean: Floats = total / known
    return mean


def _parts(rows_at: RowsByMove, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the integrals over some intervals, one row each, and their probabilities."""
    half = 0.5 * (right - left)[:, None]
    moves = 0.5 * (left + right)[:, None] + half * NODES
    weights = half * WEIGHTS * np.exp(-0.5 * moves * moves) / math.sqrt(2.0 * math.pi)
    values = rows_at(moves.ravel()).reshape(*moves.shape, -1)
    parts: Floats = (weights[..., None] * values).sum(axis=1)
    return parts, weights.sum(axis=1)
