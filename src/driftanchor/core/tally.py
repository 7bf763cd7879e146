"""Tally: online pulls and reward sums of each arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms, valid_arms
from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Tally:
    """Pulls and reward sums for each arm.

    A tally keeps sums instead of running means: tallies merge by addition, rewards may arrive in
    any order, and SQL can compute a tally as `SELECT arm, COUNT(*), SUM(reward)`.

    Example:
        >>> tally = Tally.empty(Arms(["A", "B"])).add(0, 1.0).add(0, 0.0)
        >>> tally.pulls.tolist(), tally.totals.tolist(), tally.means.tolist()
        ([2, 0], [1.0, 0.0], [0.5, nan])
    """

    arms: Arms
    pulls: Ints
    totals: Floats

    def __post_init__(self) -> None:
        valid_arms(self.arms)
        pulls = check.pulls_per_arm(self.pulls, "pulls", self.arms)
        totals = check.per_arm(self.totals, "totals", self.arms)
        for column, label in enumerate(self.arms):
            if pulls[column] == 0 and totals[column] != 0:
                raise InvalidInput(
                    f"of arm {label!r} is {totals[column]:g} after no pulls: it must be 0",
                    argument="totals",
                )
        object.__setattr__(self, "pulls", check.frozen(pulls))
        object.__setattr__(self, "totals", check.frozen(totals))

    @classmethod
    def empty(cls, arms: Arms) -> Tally:
        """Return a tally without pulls."""
        count = len(valid_arms(arms))
        return cls(arms, np.zeros(count, np.int64), np.zeros(count))

    @classmethod
    def trusted(cls, arms: Arms, pulls: Ints, totals: Floats) -> Tally:
        """Build a tally from arrays known to be valid, without the constructor's checks."""
        tally = object.__new__(cls)
        object.__setattr__(tally, "arms", arms)
        object.__setattr__(tally, "pulls", check.frozen(pulls))
        object.__setattr__(tally, "totals", check.frozen(totals))
        return tally

    @property
    def means(self) -> Floats:
        """Mean reward of each arm; NaN for arms without pulls."""
        means = np.full(len(self.arms), np.nan)
        np.divide(self.totals, self.pulls, out=means, where=self.pulls > 0)
        return means

    def add(self, column: int, reward: float) -> Tally:
        """Return a new tally: this tally plus one reward."""
        return self.add_many([column], [reward])

    def add_many(self, columns: Sequence[int], rewards: Sequence[float]) -> Tally:
        """Return a new tally: this tally plus several rewards, added one by one, in order."""
        last = len(self.arms) - 1
        played = [check.whole(i, "column", high=last) for i in check.ordered(columns, "columns")]
        paid = [check.number(x, "reward") for x in check.ordered(rewards, "rewards")]
        if len(played) != len(paid):
            raise InvalidInput(f"{len(played)} columns and {len(paid)} rewards: give one for each")
        pulls, totals = self.pulls.copy(), self.totals.copy()
        for column, reward in zip(played, paid, strict=True):
            pulls[column] += 1
            totals[column] = totals.item(column) + reward
        for column in sorted(set(played)):
            check.number(totals.item(column), "totals", of=f"arm {self.arms[column]!r}")
        return Tally.trusted(self.arms, pulls, totals)

    def with_arm(self, label: str) -> Tally:
        """Return a copy of this tally with a new, unpulled arm in the last column."""
        return Tally(self.arms.with_arm(label), np.append(self.pulls, 0), np.append(self.totals, 0))

    def to_json(self) -> record.Record:
        """Return a record, ready for JSON."""
        body = {
            "arms": list(self.arms),
            "pulls": self.pulls.tolist(),
            "totals": self.totals.tolist(),
        }
        return record.seal_with_digest("tally", 1, body)

    @classmethod
    def from_json(cls, data: object) -> Tally:
        """Read a record that `to_json` wrote."""
        body = record.unseal(data, "tally", 1, ("arms", "pulls", "totals"))
        with record.reading("tally", body):
            return cls(Arms(body["arms"]), body["pulls"], body["totals"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[object, ...]:
        return self.arms, *self.pulls.tolist(), *self.totals.tolist()
