"""What a policy of a campaign may see: states that lead to different propensities."""

from __future__ import annotations

import math
from typing import Any

from guarded_cases import arm, seen

from driftanchor.core.check import frozen
from driftanchor.core.evidence import Evidence

INF = math.inf


def as_live(evidence: Evidence) -> Evidence:
    """Arrays that cannot be written to, but for the memory: kernels are compiled for those."""
    arrays: list[Any] = [frozen(array.view()) for array in evidence]
    return Evidence(*arrays)._replace(memory=evidence.memory)


WRITABLE = {
    "no promises": seen([arm(9, 0.4), arm(12, 0.3), arm(3, 0.5), arm(20, 0.45)]),
    "levels": seen(
        [
            arm(9, 0.4, 20, 0.5, 0.2),
            arm(12, 0.3, 500, 0.35, 0.1),
            arm(1, 1.0),
            arm(20, 0.45, 9, 0.4, INF),
            arm(30, 0.9),
        ],
        [True, True, True, True, False],
    ),
    "not pulled": seen([arm(0), arm(0), arm(0, logs=30, logged=0.4, bound=0.1), arm(2, 0.5)]),
    "order": seen(
        [
            arm(9, 0.4, 20, 0.5, relative=0.2),
            arm(5, 0.5, 500, 0.55, relative=0.1),
            arm(6, 0.5),
            arm(0, logs=50, logged=0.5, relative=0.3),
        ]
    ),
    "both": seen(
        [
            arm(2, 0.4, 20, 0.5, 0.3, relative=0.2),
            arm(2, 0.4, 40, 0.6, 0.2, relative=0.1),
            arm(6, 0.5, 10, 0.2, INF, relative=0.1),
        ]
    ),
    "tried": seen([arm(3_000, 0.5), arm(900, 0.49), arm(900, 0.5, 40, 0.5, 0.1, relative=0.2)]),
}
STATES = {name: as_live(state) for name, state in WRITABLE.items()}
