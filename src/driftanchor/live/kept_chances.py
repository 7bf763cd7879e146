"""What is kept from one question for chances to the next.

Laws that are the same have the same chances. Between two rewards the laws of all arms often stay as
they are, and chances are what takes the time: to compare laws takes a hundredth of it. What is kept
is used only where every number of every law is the same, so that it changes no chance.

The room to work is kept too: to make a dozen small arrays would take as long as to fill them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.evidence import Evidence
from driftanchor.core.win_chances import Column, Laws, WinDesk, new_desk

LARGEST = 500_000  # laws of one question that are kept, 48 bytes each
FEW = 50  # laws, of which several questions are kept
MOST_KNOWN = 100  # groups of few laws whose chances are kept

Same = object  # what is equal where all laws are the same
Copy = list[list[float] | bytearray]  # of laws


class Room(NamedTuple):
    """Room to compute the chances of some arms; what it holds is of the question before."""

    desk: WinDesk
    laws: Laws
    memory: Floats  # of the policy, and what compiled code believes of each arm
    evidence: Evidence  # what the policy sees, with this memory


class KeptChances:
    """The laws of one question, which may ask for chances several times, and their chances."""

    def __init__(self) -> None:
        self._room: Room | None = None
        self._shape: object = None  # for what the room is
        self._seen: Evidence | None = None  # of the question before
        self._before: list[tuple[Copy, Floats]] = []
        self._now: list[tuple[Copy, Floats]] = []
        self._size = 0
        self._known: dict[Same, Floats] = {}
        self._rows: Floats | None = None  # of `once`
        self._answer: Floats | None = None

    def start(self) -> None:
        """Another question begins."""
        self._before, self._now, self._size = self._now, [], 0

    def room(
        self,
        evidence: Evidence,
        beliefs: int,
        zeros: Callable[[int], Column],
        rows: Callable[[int], Column],
    ) -> Room:
        """Room for a question; that of the question before if it has the right shape.

        Args:
            evidence: What the policy sees.
            beliefs: Numbers of each arm that compiled code keeps beside the policy's memory.
            zeros: Makes a list or an array of zeros.
            rows: As `zeros`, of whole numbers.
        """
        arms, own = evidence.pulls.size, evidence.memory.shape[1]
        room, shape = self._room, (arms, own, beliefs, zeros)
        if room is None or self._shape != shape:
            laws = Laws(*(zeros(arms) for _ in Laws._fields))
            memory = np.zeros((arms, own + beliefs))
            room = Room(new_desk(arms, zeros, rows), laws, memory, evidence)
            self._shape, self._seen = shape, None
            self._before, self._known = [], {}  # as many laws may be those of other arms
        if evidence is not self._seen:
            seen = evidence._replace(memory=room.memory) if beliefs else evidence
            room, self._seen = room._replace(evidence=seen), evidence
        if own and beliefs:
            room.memory[:, :own] = evidence.memory
        self._room = room
        return room

    def chances(self, laws: Laws, compute: Callable[[Laws], Floats]) -> Floats:
        """The chances of laws, computed unless they are known. Nobody may write to them."""
        if len(laws.kind) < FEW:
            return self._of_few(_same(laws), laws, compute)
        place = len(self._now)
        copy, rows = self._before[place] if place < len(self._before) else ([], None)
        if rows is None or not all(a == b for a, b in zip(copy, laws, strict=True)):
            copy, rows = _copied(laws), compute(laws)
        self._size += len(laws.kind)
        if self._size <= LARGEST:
            self._now.append((copy, rows))
        return rows

    def once(self, rows: Floats, compute: Callable[[Floats], Floats | None]) -> Floats | None:
        """What follows from chances; the same object as the last time while they are the same."""
        if rows is not self._rows:
            self._rows, self._answer = rows, compute(rows)
        return self._answer

    def _of_few(self, same: Same, laws: Laws, compute: Callable[[Laws], Floats]) -> Floats:
        """As `chances`: those of many questions fit the memory."""
        rows = self._known.get(same)
        if rows is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            rows = self._known[same] = compute(laws)
        return rows


def _copied(laws: Laws) -> Copy:
    """A copy to compare with: a `bytearray` compares all bytes of an array at once."""
    return [x.copy() if isinstance(x, list) else bytearray(x) for x in laws]


def _same(laws: Laws) -> Same:
    """What is equal for the same laws alone; it does not change when the laws do."""
    if isinstance(laws.kind, list):
        return tuple(map(tuple, laws))
    return b"".join(laws)
