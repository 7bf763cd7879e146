"""The law of one arm's index in one round, as six numbers.

Every sampling policy here draws an index of one of three kinds: the median of an anchor and two
normal samples, one of two normal samples by a coin, or a Beta sample. One sample, the larger of a
mean and a sample, a capped sample and a constant are medians with an infinite part. So one
integrator, `driftanchor.core.win_chances`, serves all policies.

Plain scalar functions, interpreted and compiled, like those of `driftanchor.core.posterior`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

MEDIAN, MIXTURE, BETA = 0.0, 1.0, 2.0


class IndexLaw(NamedTuple):
    """The law of an index. An infinite mean is a sample that is infinite for sure.

    Attributes:
        kind: `MEDIAN`: the median of `place` and of both samples. `MIXTURE`: the first sample with
            probability `place`, otherwise the second. `BETA`: a Beta(`mean`, `sd`) sample.
        place: The anchor of a median, or the weight of a mixture.
        mean: Of the first sample.
        sd: Of the first sample; above 0.
        other_mean: Of the second sample.
        other_sd: Of the second sample; 0 in a mixture where it is a constant.
    """

    kind: float
    place: float
    mean: float
    sd: float
    other_mean: float
    other_sd: float


def constant(value: float) -> IndexLaw:
    """An index that is known."""
    return IndexLaw(MEDIAN, value, -math.inf, 1.0, math.inf, 1.0)


def one_sample(mean: float, sd: float) -> IndexLaw:
    """One normal sample."""
    return IndexLaw(MEDIAN, -math.inf, mean, sd, math.inf, 1.0)


def median_law(
    anchor: float, mean: float, sd: float, other_mean: float, other_sd: float
) -> IndexLaw:
    """The median of an anchor and two independent normal samples."""
    return IndexLaw(MEDIAN, anchor, mean, sd, other_mean, other_sd)


def larger(anchor: float, mean: float, sd: float) -> IndexLaw:
    """The larger of a number and a normal sample."""
    return IndexLaw(MEDIAN, anchor, mean, sd, math.inf, 1.0)


def smaller(cap: float, mean: float, sd: float) -> IndexLaw:
    """The smaller of a number and a normal sample."""
    return IndexLaw(MEDIAN, cap, mean, sd, -math.inf, 1.0)


def mixture(weight: float, mean: float, sd: float, other_mean: float, other_sd: float) -> IndexLaw:
    """The first normal sample with probability `weight`, otherwise the second."""
    return IndexLaw(MIXTURE, weight, mean, sd, other_mean, other_sd)


def beta_sample(a: float, b: float) -> IndexLaw:
    """A Beta(a, b) sample."""
    return IndexLaw(BETA, 0.0, a, b, 0.0, 1.0)
