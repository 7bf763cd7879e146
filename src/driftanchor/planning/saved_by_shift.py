"""Savings: what logs save where means have moved, played as far as it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.planning.scenes import Lost, Scene, Stage

Subject = tuple[str, float]  # a contender, and how many times the declared bounds it is given


class Point(NamedTuple):
    """Who plays, where."""

    label: str
    times: float  # of the bounds that are declared
    shift: float


class Savings:
    """What contenders lost at some shifts, and against playing without the logs what they saved.

    What was played is not played again. Without the logs bounds make no difference, so the
    baseline plays once at each shift.

    Args:
        stage: Where scenes are played.
        scene: Makes the scene of a point for some of its worlds.
        baseline: Who plays without the logs.
    """

    def __init__(
        self, stage: Stage, scene: Callable[[Point, slice], Scene], baseline: Subject
    ) -> None:
        self.stage = stage
        self.scene = scene
        self.baseline = baseline
        self.lost: dict[Point, Floats] = {}

    def keep(self, shift: float, times: float, lost: Lost) -> None:
        """Keep what was played before."""
        self.lost |= {Point(label, times, shift): found for label, found in lost.items()}

    def known(self, subject: Subject, shifts: list[float]) -> dict[float, Floats]:
        """What a subject saved at the shifts at which that is known."""
        return {x: self._saved(subject, x) for x in shifts if Point(*subject, x) in self.lost}

    def ask(self, at: Mapping[Subject, float], worlds: int) -> dict[Subject, Floats]:
        """What each subject saves at its shift, in at least this many worlds."""
        missing: dict[Point, Scene] = {}
        for subject, shift in at.items():
            for point in (Point(*self.baseline, shift), Point(*subject, shift)):
                played = len(self.lost.get(point, ()))
                if played < worlds:
                    missing[point] = self.scene(point, slice(played, worlds))
        for point, found in self.stage.play(missing).items():
            before = self.lost.get(point, np.empty(0))
            self.lost[point] = np.concatenate([before, found[point.label]])
        return {subject: self._saved(subject, shift) for subject, shift in at.items()}

    def _saved(self, subject: Subject, shift: float) -> Floats:
        """World by world, in the worlds that both have played."""
        cold, mine = (self.lost[Point(*who, shift)] for who in (self.baseline, subject))
        both = min(cold.size, mine.size)
        return cold[:both] - mine[:both]
