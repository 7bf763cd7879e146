"""What a policy plays in many runs side by side.

The array version of `largest_index` and `challenge` in `driftanchor.policies.base`: ties at random
from each run's own stream, and NaN never wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.noise import Draws, Stream, uniform
from driftanchor.policies.base import Policy
from driftanchor.simulation.lanes import Unsuited, each_way, lanes, over_lanes
from driftanchor.simulation.words import READING, Block, Exhausted, Reader

_uniform = over_lanes(uniform, READING)


class Choices:
    """A policy, its stream in each run, and the numbers of arms, by (arm, run).

    As in compiled runs, what is believed of an arm is kept until it is played.
    """

    def __init__(self, policy: Policy, evidence: Evidence, streams: Stream) -> None:
        rule = type(policy)
        if rule.choose is not Policy.choose:
            raise Unsuited(f"policy {policy.name!r} looks at all arms at once")
        if rule.uses_logs and np.isfinite(evidence.relative_bounds).any():
            raise Unsuited("arms share the draw of a common move")
        everywhere: Any = slice(None)
        self._shape = evidence.pulls.shape
        self._policy = policy.numbers()
        self._evidence: Any = ArmEvidence(*map(lanes, arm_at(evidence, everywhere)))
        self._draw = over_lanes(rule.draw, READING)
        self._believe: Any = None
        self._seen: Any = self._evidence  # what the index is a function of
        if rule.index is not Policy.index:
            self._index = over_lanes(rule.index)
        else:
            self._believe, self._index = over_lanes(rule.believe), over_lanes(rule.sample)
            belief = each_way(self._believe, self._policy, self._evidence)
            self._seen = belief._make(lanes(self._everywhere(x)) for x in belief)
        self._block = Block(streams)
        self._at = self._block.draw_on(np.arange(streams.shape[1]))

    def remember(self, lane: Ints) -> None:
        """Keep what is believed of the arms played, given by their lanes."""
        if self._believe is None:
            return
        arm = ArmEvidence(*(x.take(lane) for x in self._evidence))
        belief = each_way(self._believe, self._policy, arm)
        if type(belief) is not type(self._seen):
            raise Unsuited("beliefs of several kinds")
        for kept, new in zip(self._seen, belief, strict=True):
            kept.put(lane, new)

    def choose(self, now: Round) -> Ints:
        """The column that each run plays, −1 where every index is NaN."""
        while True:
            try:
                return self._choose(now)
            except Exhausted:
                self._at = self._block.draw_on(self._at)

    def _choose(self, now: Round) -> Ints:
        """The largest index of each run; where arms tie or have none, anew and in turn."""
        reader = Reader(self._block, self._at)
        draws = _all([self._draw(reader) for _ in range(self._shape[0])])
        values = self._everywhere(each_way(self._index, self._policy, self._seen, now, draws))
        column: Ints = values.argmax(axis=0)
        best = np.maximum.accumulate(values, axis=0)
        same, unclear = values[1:] == best[:-1], np.isnan(best[-1])
        if same.any() or unclear.any():
            (runs,) = np.nonzero(same.any(axis=0) | unclear)
            again = Reader(self._block, self._at[runs])
            column[runs] = self._in_turn(now, runs, again)
            reader.at = _replaced(reader.at, runs, again.at)
        self._at = reader.at
        return column

    def _in_turn(self, now: Round, runs: Ints, reader: Reader) -> Ints:
        """The same arm by arm: a tie takes a draw, which shifts those of the arms after it."""
        best, column = np.full(runs.size, -np.inf), np.full(runs.size, -1)
        tied = np.zeros(runs.size, np.int64)
        for arm in range(self._shape[0]):
            seen = self._seen._make(x[arm, runs] for x in self._seen)
            value = np.empty(runs.size)
            value[:] = each_way(self._index, self._policy, seen, now, self._draw(reader))
            tied = np.where(value > best, 1, tied + (value == best))
            wins = (value >= best) & (tied == 1)
            (coins,) = np.nonzero((value == best) & (tied > 1))
            if coins.size:
                flip = Reader(self._block, reader.at[coins])
                wins[coins] = _uniform(flip) * tied[coins] < 1.0
                reader.at = _replaced(reader.at, coins, flip.at)
            best, column = np.where(wins, value, best), np.where(wins, arm, column)
        return column

    def _everywhere(self, value: Any) -> Floats:
        """A number for every arm and run."""
        values = np.empty(self._shape)
        values[:] = value
        return values


def _all(draws: list[Draws]) -> Draws:
    """The draws of all arms as those of one."""
    return Draws(
        *(lanes(x) if isinstance(x[0], np.ndarray) else x[0] for x in zip(*draws, strict=True))
    )


def _replaced(values: Ints, where: Ints, by: Ints) -> Ints:
    """A copy: where streams stood is kept for a round that must be drawn again."""
    values = values.copy()
    values[where] = by
    return values
