"""The exact law of a walk that stops when it is at most 0: steps taken, and where it ends."""

import math
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import Stream, keyed_stream, wrapping

Walk = Callable[[Stream], tuple[int, float]]  # steps taken, and the place after them
CELL = 0.1  # of the grid, in deviations of a step: chances are right within 0.0003
FAR = 7.0  # deviations beyond which nothing is


class Law(NamedTuple):
    """The law of the steps, and that of the place."""

    by_step: Floats  # the chance of 0, 1, 2, … steps or fewer
    places: Floats
    below: Floats  # the chance of an end at or below each of them

    def fits(self, walk: Walk, tries: int, *, false_alarm: float) -> bool:
        """Whether walks have this law: the bound of Dvoretzky, Kiefer, Wolfowitz and Massart.

        As good as a comparison of two samples of twice as many walks.
        """
        with wrapping():
            walks = [walk(keyed_stream(8, "walk", i)) for i in range(tries)]
        steps, ends = (np.sort(side) for side in zip(*walks, strict=True))
        far = np.searchsorted(steps, np.arange(self.by_step.size), side="right") / tries
        low = np.searchsorted(ends, self.places + 1e-6, side="right") / tries  # sums are rounded
        distance = max(np.abs(far - self.by_step).max(), np.abs(low - self.below).max())
        within = len(self.by_step) > steps[-1]
        return bool(within and distance < math.sqrt(math.log(4 / false_alarm) / (2 * tries)))


def gaussian_walk(start: float, drift: float, steps: int) -> Law:
    """Steps of variance 1; it stops after a Brownian path through it has touched 0."""
    top = start + drift * steps + FAR * math.sqrt(steps)
    inside: Floats = (np.arange(math.ceil(top / CELL), dtype=np.float64) + 0.5) * CELL
    outside = round(FAR / CELL)
    everywhere = np.arange(-outside, inside.size + outside, dtype=np.float64)
    places: Floats = (everywhere + 0.5) * CELL
    kept = slice(outside, outside + inside.size)

    def one_step(x: Floats) -> tuple[Floats, Floats]:
        """The chance of a step to each place, and that the path touches 0 on its way."""
        there = np.exp(-0.5 * (places - x - drift) ** 2) * CELL / math.sqrt(2 * math.pi)
        touches = np.where(places > 0.0, np.exp(np.minimum(-2.0 * x * places, 0.0)), 1.0)
        return there, there * touches

    alive, ended, by_step = np.ones(1), np.zeros(places.size), [0.0]
    there, left = one_step(np.array([[start]]))
    for step in range(1, steps + 1):
        ended += alive @ left
        alive = (alive @ (there - left))[kept]
        by_step.append(float(ended.sum()))
        if step == 1:
            there, left = one_step(inside[:, None])
    ended[kept] += alive
    return Law(np.array([*by_step[:-1], 1.0]), places + CELL / 2, ended.cumsum())


def bernoulli_walk(start: float, mean: float, fall: float, steps: int) -> Law:
    """Each step is a Bernoulli reward minus `fall`."""
    alive, ended, by_step = {0: 1.0}, defaultdict[float, float](float), [0.0]
    for step in range(1, steps + 1):
        after = defaultdict[int, float](float)
        for ones, chance in alive.items():
            after[ones] += (1.0 - mean) * chance
            after[ones + 1] += mean * chance
        alive = {}
        for ones, chance in after.items():
            place = round(start + ones - fall * step, 6)  # many ways lead to one place
            if step < steps and place > 0.0:
                alive[ones] = chance
            else:
                ended[place] += chance
        by_step.append(math.fsum(ended.values()))
    places = sorted(ended)
    return Law(np.array(by_step), np.array(places), np.cumsum([ended[x] for x in places]))
