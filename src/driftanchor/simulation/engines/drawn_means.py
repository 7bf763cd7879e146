"""The means that the runs of a random bandit draw.

Plain scalar code over arrays, interpreted or compiled, as in
`driftanchor.simulation.engines.reference`. It is compiled once, and not with every policy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftanchor.compiled.kernels import kernel
from driftanchor.core.check import Floats
from driftanchor.core.gamma import beta
from driftanchor.core.noise import Key, Stream, key, normal, start, uniform, wrapping
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.instances import KINDS, Law

NORMAL, UNIFORM, BETA = (KINDS.index(kind) for kind in ("normal", "uniform", "beta"))


class InstanceLaws(NamedTuple):
    """What a random bandit draws from, in numbers."""

    means: Floats  # see `numbers_of`
    bias: Floats
    means_key: Key
    bias_key: Key
    common_shift: float
    chances: bool  # logged means are between 0 and 1


def laws_of(bandit: Bandit, seed: int) -> InstanceLaws:
    """The laws of a random bandit, and the keys of the noise."""
    return InstanceLaws(
        numbers_of(bandit.means),
        numbers_of(bandit.bias),
        key(seed, "means"),
        key(seed, "bias"),
        bandit.common_shift,
        bandit.reward == "bernoulli",
    )


def numbers_of(law: Law | None) -> Floats:
    """A law in numbers: its place in `KINDS`, or -1 for none, and its two parameters."""
    if law is None:
        return np.array([-1.0, 0.0, 0.0])
    return np.array([KINDS.index(law.kind), law.first, law.second])


def drawn_means(bandit: Bandit, seed: int, first: int, runs: int, *, compiled: bool) -> Floats:
    """Return the means of runs of a random bandit, by (run, online or logged, arm).

    Args:
        bandit: A random bandit.
        seed: The seed of all noise.
        first: The first run.
        runs: The number of runs.
        compiled: Whether to draw with Numba; the numbers are the same.
    """
    draw = kernel(None, draw_instances) if compiled else draw_instances
    drawn = np.empty((runs, 2, len(bandit.online)))
    with wrapping():
        draw(laws_of(bandit, seed), first, drawn, np.empty(4, np.uint64))
    return drawn


def draw_instances(laws: InstanceLaws, first_run: int, drawn: Floats, stream: Stream) -> bool:
    """Fill `drawn` by (run, online or logged, arm) with the means of runs from `first_run` on."""
    for row in range(drawn.shape[0]):
        for arm in range(drawn.shape[2]):
            start(stream, laws.means_key, first_run + row, arm)
            mean = draw_number(laws.means, stream)
            start(stream, laws.bias_key, first_run + row, arm)
            logged = mean + draw_number(laws.bias, stream)
            drawn[row, 0, arm] = mean + laws.common_shift
            drawn[row, 1, arm] = min(max(logged, 0.0), 1.0) if laws.chances else logged
    return True


def draw_number(law: Floats, stream: Stream) -> float:
    """A number of a law; 0 where there is none."""
    first: float = law[1]
    second: float = law[2]
    if law[0] == NORMAL:
        return first + second * normal(stream)
    if law[0] == UNIFORM:
        return first + (second - first) * uniform(stream)
    if law[0] == BETA:
        return beta(first, second, stream)
    return 0.0
