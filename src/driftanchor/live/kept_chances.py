"""What is kept from one question for chances to the next.

Laws that are the same have the same chances. Between two rewards the laws of all arms often stay as
they are, and chances are what takes the time: to compare thousands of laws takes a hundredth of it.
What is kept is used only where every number of every law is the same, so that it changes no chance.

Few arms are computed sooner than compared. Of them the room to work is kept: to make a dozen small
arrays would take as long as the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.win_chances import Column, Laws, WinDesk, new_desk

LARGEST = 500_000  # laws of one question that are kept, 48 bytes each
FEW = 50  # laws that compiled code computes about as soon as they are compared
MOST_KNOWN = 100  # groups of few laws whose chances are kept where they are interpreted


class Room(NamedTuple):
    """Room to compute the chances of some arms; what it holds is of the question before."""

    desk: WinDesk
    laws: Laws  # of few arms; of many they are kept, and the next question has others
    chances: Column  # as `laws`
    memory: Floats  # of the policy, and what compiled code believes of each arm


class KeptChances:
    """The laws of one question, which may ask for chances several times, and their chances."""

    def __init__(self) -> None:
        self._room: Room | None = None
        self._shape: object = None  # for what the room is
        self._before: list[tuple[Laws, Floats]] = []
        self._now: list[tuple[Laws, Floats]] = []
        self._size = 0
        self._known: dict[object, Floats] = {}

    def start(self) -> None:
        """Another question begins."""
        self._before, self._now, self._size = self._now, [], 0

    def room(
        self, arms: int, width: int, zeros: Callable[[int], Column], rows: Callable[[int], Column]
    ) -> Room:
        """Room for a question; that of the question before if it has the right shape.

        Args:
            arms: How many arms there are.
            width: Numbers in the memory of each arm.
            zeros: Makes a list or an array of zeros.
            rows: As `zeros`, of whole numbers.
        """
        shape = arms, width, zeros
        if self._room is None or self._shape != shape:
            few = arms if arms < FEW else 0
            laws = Laws(*(zeros(few) for _ in Laws._fields))
            memory = np.zeros((arms, width))
            self._room = Room(new_desk(arms, zeros, rows), laws, zeros(few), memory)
            self._shape = shape
        return self._room

    def chances(self, laws: Laws, compute: Callable[[Laws], Floats]) -> Floats:
        """The chances of laws, computed unless they are known. Nobody may write to either."""
        if len(laws.kind) < FEW:
            return self._of_few(laws, compute) if isinstance(laws.kind, list) else compute(laws)
        place = len(self._now)
        if place < len(self._before) and _same(self._before[place][0], laws):
            rows = self._before[place][1]
        else:
            rows = compute(laws)
        self._size += len(laws.kind)
        if self._size <= LARGEST:
            self._now.append((laws, rows))
        return rows

    def _of_few(self, laws: Laws, compute: Callable[[Laws], Floats]) -> Floats:
        """As `chances`, interpreted: to compute takes milliseconds even for two laws."""
        asked = tuple(map(tuple, laws))
        rows = self._known.get(asked)
        if rows is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            rows = self._known[asked] = np.array(compute(laws))
        return rows


def _same(one: Laws, other: Laws) -> bool:
    return len(one.kind) == len(other.kind) and all(
        np.array_equal(x, y) for x, y in zip(one, other, strict=True)
    )
