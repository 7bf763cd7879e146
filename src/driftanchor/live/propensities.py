"""Propensities: how likely a policy plays each arm, computed from the laws of its indices.

Given the common move, the indices of the arms are independent, and `core.win_chances` integrates
over the largest. The common move is normal and the same for all arms: one more integral. A guard
pull draws nothing, so it is one more constant.

The two functions that take the time, `laws_of_round` and `win_chances`, are plain scalar code. They
are interpreted with lists, or compiled with arrays, and give the same numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from driftanchor.compiled.kernels import kernel
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.kronrod import GAUSS, KRONROD, PLACES
from driftanchor.core.win_chances import Column, Laws, new_desk, win_chances
from driftanchor.policies.base import Policy
from driftanchor.policies.round_law import RoundKind, has_law, write_laws

RIGHT = 1e-6  # how well probabilities must add up
MIDDLE = 1.4  # where the range of common moves is cut first
REACH = 5.2  # the common move is further from its mean, in sds, with a chance of 2e-7
RARE = 1e-6  # the chance of common moves in a part that is not cut again
SWITCHES = 20  # places, at most, where the tighter of two promises changes


class Tools(NamedTuple):
    """What computes propensities: interpreted or compiled."""

    policy: Any  # the policy, or its numbers
    write: Callable[..., RoundKind]  # `laws_of_round`
    win: Callable[..., None]  # `win_chances`
    zeros: Callable[[int], Column]
    rows: Callable[[int], Column]  # as `zeros`, of whole numbers


def interpreted(policy: Policy) -> Tools:
    """Tools that are ready at once."""
    return Tools(policy, laws_of_round, win_chances, _list_of_zeros, _list_of_rows)


def compiled(policy: Policy) -> Tools:
    """Tools that are compiled, or loaded from disk, when they are first used."""
    write, win = kernel(type(policy), laws_of_round), kernel(None, win_chances)
    return Tools(policy.numbers(), write, win, np.zeros, _whole_zeros)


def propensities(
    policy: Policy, evidence: Evidence, now: Round, tools: Tools | None = None
) -> Floats | None:
    """How likely the policy plays each arm, over its noise; ties are broken at random.

    `None` where the law of its index is not known, where no index is a number, and where floats are
    too coarse for it, so that the probabilities do not add up to 1 within 1e-6.

    Args:
        policy: The policy.
        evidence: What it sees.
        now: The round.
        tools: `interpreted(policy)` or `compiled(policy)`; by default the first.

    Example:
        >>> from driftanchor import TS, Learner
        >>> from driftanchor.live.decide import situation
        >>> learner = Learner(TS(), arms=["A", "B", "C"], seed=1)
        >>> propensities(TS(), *situation(learner.terms, learner.state, 1)).round(6)
        array([0.333333, 0.333333, 0.333333])
    """
    if not has_law(type(policy)):
        return None
    asked = _Asked(tools or interpreted(policy), evidence, now)
    kind, chances = asked.given([0.0], guard=True)
    if not kind.guard:
        shares = asked.over_moves(kind) if kind.sd > 0.0 else chances[0]
    elif kind.guard < 1.0:
        others = asked.over_moves(kind) if kind.sd > 0.0 else asked.given([0.0], guard=False)[1][0]
        shares = kind.guard * chances[0] + (1.0 - kind.guard) * others
    else:
        shares = chances[0]
    total = float(shares.sum())
    if not abs(total - 1.0) <= RIGHT:
        return None
    exact: Floats = shares / total
    return exact


def laws_of_round(
    policy: Policy, evidence: Evidence, now: Round, moves: Column, guard: bool, laws: Laws
) -> RoundKind:
    """`write_laws`, as the function to compile for a policy."""
    return write_laws(policy, evidence, now, moves, guard, laws)


class _Asked:
    """One question: the chances of all arms, given one or more common moves."""

    def __init__(self, tools: Tools, evidence: Evidence, now: Round) -> None:
        self.tools, self.evidence, self.now = tools, evidence, now
        self.arms = evidence.pulls.size
        self.desk = new_desk(self.arms, tools.zeros, tools.rows)

    def given(self, moves: list[float], *, guard: bool) -> tuple[RoundKind, Floats]:
        """The chances of the arms for each move, in sds from its mean: an array (moves, arms)."""
        size = self.arms * len(moves)
        at, laws = self.tools.zeros(len(moves)), Laws(*(self.tools.zeros(size) for _ in range(6)))
        at[:] = moves
        chances = self.tools.zeros(size)
        kind = self.tools.write(self.tools.policy, self.evidence, self.now, at, guard, laws)
        self.tools.win(laws, self.arms, self.desk, chances)
        return RoundKind(*kind), np.reshape(chances, (len(moves), self.arms))

    def over_moves(self, kind: RoundKind) -> Floats:
        """The chances over all common moves; their sum is that of the moves that were looked at."""
        edges = [-REACH, *self._switches(kind), REACH]
        waiting = list(itertools.pairwise(edges))
        total = np.zeros(self.arms)
        while waiting:
            left, right = waiting.pop()
            half, middle = 0.5 * (right - left), 0.5 * (right + left)
            moves = middle + half * PLACES
            chances = self.given(moves.tolist(), guard=False)[1]
            scale = half * np.exp(-0.5 * moves * moves) / math.sqrt(2.0 * math.pi)
            fine, rough = (KRONROD * scale) @ chances, (GAUSS * scale) @ chances
            # The finer rule is right to far more digits than the two agree (QUADPACK's estimate).
            error = (200.0 * np.abs(fine - rough).max()) ** 1.5
            if error <= 0.3 * RIGHT or scale.max() * 2.0 <= RARE:
                total += fine
            else:
                waiting += [(left, middle), (middle, right)]
        return total / math.erf(REACH * math.sqrt(0.5))

    def _switches(self, kind: RoundKind) -> list[float]:
        """Where logs stop to move along: from there on their bias bound is the tighter promise."""
        levels, relative = self.evidence.bias_bounds, self.evidence.relative_bounds
        both = (self.evidence.offline_pulls > 0) & np.isfinite(levels) & np.isfinite(relative)
        switches = np.unique((levels[both] - relative[both] - kind.mean) / kind.sd)
        inside: list[float] = switches[np.abs(switches) < REACH].tolist()
        return inside if 0 < len(inside) <= SWITCHES else [-MIDDLE, MIDDLE]


def _list_of_zeros(size: int) -> list[float]:
    return [0.0] * size


def _list_of_rows(size: int) -> list[int]:
    return [0] * size


def _whole_zeros(size: int) -> Column:
    return np.zeros(size, np.int64)
