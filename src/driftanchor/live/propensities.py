"""Propensities: how likely a policy plays each arm, computed from the laws of its indices.

Given the common move, the indices of the arms are independent, and `core.win_chances` integrates
over the largest. The common move is normal and the same for all arms: one more integral. A guard
pull draws nothing, so it is one more constant.

The two functions that take the time, `laws_of_round` and `win_chances`, are plain scalar code. They
are interpreted with lists, or compiled with arrays, and give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftanchor.compiled.kernels import entry, kernel
from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.hints import brief
from driftanchor.core.index_law import MEDIAN
from driftanchor.core.win_chances import Column, Laws, WinDesk, win_chances
from driftanchor.live.kept_chances import KeptChances
from driftanchor.live.over_moves import over_moves
from driftanchor.policies.base import Policy, kept_belief
from driftanchor.policies.round_law import RoundKind, has_law, write_laws

RIGHT = 1e-6  # how well probabilities must add up
STILL, ONE_SD = np.zeros(1), np.array([0.0, 1.0])  # common moves, in sds from their mean


class Tools(NamedTuple):
    """What computes propensities: interpreted or compiled."""

    policy: Any  # the policy, or its numbers
    write: Callable[..., tuple[float, float, float]]  # `laws_of_round`
    win: Callable[..., None]  # `win_chances`
    zeros: Callable[[int], Column]
    rows: Callable[[int], Column]  # as `zeros`, of whole numbers
    beliefs: int  # numbers of each arm that compiled code keeps beside the policy's memory


def interpreted(policy: Policy) -> Tools:
    """Tools that are ready at once."""
    return Tools(policy, laws_of_round, win_chances, _list_of_zeros, _list_of_rows, 0)


def compiled(policy: Policy, *, few: bool = True) -> Tools:
    """Tools that are compiled, or loaded from disk, when they are first used.

    Args:
        policy: The policy.
        few: Whether arms are few, so that other threads can wait for their chances.
    """
    write = kernel(type(policy), laws_of_round)
    win = kernel(None, win_chances_briefly if few else win_chances)
    belief = kept_belief(type(policy))
    kept = 0 if belief is None else len(belief._fields)
    return Tools(policy.numbers(), write, win, np.zeros, _whole_zeros, kept)


def for_these_types(tools: Tools, evidence: Evidence, now: Round) -> Tools:
    """Compiled tools that take evidence of these types alone.

    A kernel that takes any types finds out that of each array first, which takes longer than the
    chances of ten arms.
    """
    asked = _Asked(tools, evidence, now, KeptChances())
    room, at = asked.room, tools.zeros(1)
    write = entry(tools.write, tools.policy, room.evidence, now, at, True, room.laws)
    win = entry(tools.win, room.laws, asked.arms, room.desk, tools.zeros(asked.arms))
    return tools._replace(write=write, win=win)


def propensities(
    policy: Policy,
    evidence: Evidence,
    now: Round,
    tools: Tools | None = None,
    kept: KeptChances | None = None,
) -> Floats | None:
    """How likely the policy plays each arm, over its noise; ties are broken at random.

    `None` where the law of its index is not known, where no index is a number, and where floats are
    too coarse for it, so that the probabilities do not add up to 1 within 1e-6.

    Args:
        policy: The policy.
        evidence: What it sees.
        now: The round.
        tools: `interpreted(policy)` or `compiled(policy)`; by default the first.
        kept: What was asked before, if that is likely to be asked again.

    Example:
        >>> from driftanchor import TS, Learner
        >>> from driftanchor.live.decide import situation
        >>> learner = Learner(TS(), arms=["A", "B", "C"], seed=1)
        >>> propensities(TS(), *situation(learner.terms, learner.state, 1)).round(6)
        array([0.333333, 0.333333, 0.333333])
    """
    if not has_law(type(policy)):
        return None
    asked = _Asked(tools or interpreted(policy), evidence, now, kept or KeptChances())
    kind, laws = asked.laws(STILL, guard=True)
    if kind.guard == 0.0:
        if kind.sd == 0.0:
            return asked.kept.once(asked.chances(laws), _exact)
        return _exact([asked.without_guard(kind)])
    shares = kind.guard * asked.chances(laws)[0]
    if kind.guard < 1.0:
        shares = shares + (1.0 - kind.guard) * asked.without_guard(kind)
    return _exact([shares])


def _exact(rows: Sequence[Floats] | Floats) -> Floats | None:
    """The chances in the one row, if they add up to 1 up to rounding; nobody may write to them."""
    total = float(np.add.reduce(rows[0]))
    if not abs(total - 1.0) <= RIGHT:
        return None
    return check.frozen(rows[0] / total)


@brief
def laws_of_round(
    policy: Policy, evidence: Evidence, now: Round, moves: Column, guard: bool, laws: Laws
) -> tuple[float, float, float]:
    """`write_laws`, as the function to compile for a policy; gives the fields of a `RoundKind`.

    Compiled code takes longer to give a named tuple than to write the laws of ten arms.
    """
    kind = write_laws(policy, evidence, now, moves, guard, laws)
    return kind.guard, kind.mean, kind.sd


@brief
def win_chances_briefly(laws: Laws, arms: int, desk: WinDesk, chances: Column) -> None:
    """`win_chances`, as the function to compile for few arms."""
    win_chances(laws, arms, desk, chances)


class _Asked:
    """One question: the chances of all arms, given common moves and over all of them."""

    def __init__(self, tools: Tools, evidence: Evidence, now: Round, kept: KeptChances) -> None:
        self.tools, self.now, self.kept = tools, now, kept
        kept.start()
        self.arms = evidence.pulls.size
        self.room = kept.room(evidence, tools.beliefs, tools.zeros, tools.rows)

    def laws(self, moves: Floats, *, guard: bool) -> tuple[RoundKind, Laws]:
        """The laws of all arms for each move, in sds from its mean, until the next call."""
        tools, size = self.tools, self.arms * len(moves)
        at = tools.zeros(len(moves))
        if moves is not STILL:
            at[:] = moves.tolist()
        laws = self.room.laws
        if len(laws.kind) != size:
            laws = Laws(*(tools.zeros(size) for _ in Laws._fields))
        kind = tools.write(tools.policy, self.room.evidence, self.now, at, guard, laws)
        return RoundKind(*kind), laws

    def chances(self, laws: Laws) -> Floats:
        """The chances of all arms, a row for each move."""
        return self.kept.chances(laws, self._computed)

    def _computed(self, laws: Laws) -> Floats:
        chances = self.tools.zeros(len(laws.kind))
        self.tools.win(laws, self.arms, self.room.desk, chances)
        rows: Floats = np.asarray(chances).reshape(-1, self.arms)
        return rows

    def without_guard(self, kind: RoundKind) -> Floats:
        """The chances of all arms where no guard pull is played."""
        if kind.sd == 0.0:
            shares: Floats = self.chances(self.laws(STILL, guard=False)[1])[0]
            return shares
        return over_moves(
            lambda moves: self.chances(self.laws(moves, guard=False)[1]),
            self._sharpness(),
            self._switches(kind),
        )

    def _sharpness(self) -> float:
        """How sharply the laws change with the move, as `over_moves` means it."""
        laws = self.laws(ONE_SD, guard=False)[1]
        kind, mean, sd, other_mean, other_sd = (
            np.reshape(column, (2, self.arms))
            for column in (laws.kind, laws.mean, laws.sd, laws.other_mean, laws.other_sd)
        )
        fixed = (other_mean[0] == np.inf) & (mean[0] == -np.inf)  # no sample: a constant
        if fixed.all() or (kind > MEDIAN).any():  # a coin may turn at any move
            return math.inf
        drawn = (kind[0] == MEDIAN) & ~fixed
        hybrid = np.isfinite(other_mean[0])
        at, spread = np.where(hybrid, other_mean, mean)[:, drawn], np.where(hybrid, other_sd, sd)
        return float((((at[1] - at[0]) / spread[0, drawn]) ** 2).sum())

    def _switches(self, kind: RoundKind) -> list[float]:
        """Where logs stop moving along: from there on their bias bound is the tighter promise."""
        evidence = self.room.evidence
        levels, relative = evidence.bias_bounds, evidence.relative_bounds
        both = (evidence.offline_pulls > 0) & np.isfinite(levels) & np.isfinite(relative)
        switches = np.unique((levels[both] - relative[both] - kind.mean) / kind.sd)
        inside: list[float] = switches.tolist()
        return inside


def _list_of_zeros(size: int) -> list[float]:
    return [0.0] * size


def _list_of_rows(size: int) -> list[int]:
    return [0] * size


def _whole_zeros(size: int) -> Column:
    return np.zeros(size, np.int64)
