"""Whether arms were played as often as their exact chances say."""

import math

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats

FEWEST = 10.0  # plays that are due in a cell, at least


def fit(counts: npt.NDArray[np.float64], chances: Floats, false_alarm: float) -> bool:
    """Pearson's statistic of a sample, with the tail bound of Laurent and Massart (2000).

    Arms that hardly ever win share a cell with the next. So that they are not hidden there, they
    may also not win much more often than is due, by the bound of Chernoff: two checks.
    """
    due = counts.sum() * chances
    order = np.argsort(due)
    rare = int(np.searchsorted(due[order].cumsum(), FEWEST))  # these and the next make a cell
    cell = np.maximum(np.arange(due.size) - rare, 0)
    seen, expected = (np.bincount(cell, x[order]) for x in (counts, due))
    statistic = float(((seen - expected) ** 2 / expected).sum())
    freedom, x = seen.size - 1, math.log(1 / false_alarm)
    often, few = float(counts[order[:rare]].sum()), float(due[order[:rare]].sum())
    excess = often * math.log(often / few) - (often - few) if often > few else 0.0
    return excess <= x and statistic <= freedom + 2 * math.sqrt(freedom * x) + 2 * x
