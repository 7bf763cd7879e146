"""IndexLaw: the distribution of one arm's index in one round, as six numbers.

Every sampling policy here draws one of three kinds of index: the median of an anchor (a fixed
number) and two normal samples, a mixture of two normal samples, or a Beta sample. A single sample,
the larger of a mean and a sample, a capped sample and a constant are medians too, with an infinite
anchor or an infinite sample. So all policies share the code that computes propensities, and the
code that skips many rounds at once in simulations.

The functions are plain scalar code, which runs interpreted or compiled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.check import Floats
from driftanchor.core.noise import Stream, exponential, normal, uniform
from driftanchor.core.posterior import median

MEDIAN, MIXTURE, BETA = 0.0, 1.0, 2.0
NEVER = -1.0  # the kind of an arm that cannot be played


class IndexLaw(NamedTuple):
    """The distribution of one arm's index.

    The index is computed from one Beta sample or from two independent normal samples. A normal
    sample with an infinite mean is always infinite.

    Attributes:
        kind: How the index is computed. `MEDIAN`: it is the median of `place` and both samples.
            `MIXTURE`: it is the first sample with probability `place`, otherwise the second.
            `BETA`: it is a Beta(`mean`, `sd`) sample.
        place: The anchor of a median, or the weight of the first sample in a mixture.
        mean: Mean of the first sample, or parameter a of a Beta sample.
        sd: Standard deviation of the first sample, or parameter b of a Beta sample. Above 0.
        other_mean: Mean of the second sample.
        other_sd: Standard deviation of the second sample. In a mixture, it may be 0; the second
            sample is then a constant.
    """

    kind: float
    place: float
    mean: float
    sd: float
    other_mean: float
    other_sd: float


def constant(value: float) -> IndexLaw:
    """Return the distribution of an index that is constant."""
    return IndexLaw(MEDIAN, value, -math.inf, 1.0, math.inf, 1.0)


def one_sample(mean: float, sd: float) -> IndexLaw:
    """Return the distribution of one normal sample."""
    return IndexLaw(MEDIAN, -math.inf, mean, sd, math.inf, 1.0)


def median_law(
    anchor: float, mean: float, sd: float, other_mean: float, other_sd: float
) -> IndexLaw:
    """Return the distribution of the median of an anchor and two independent normal samples."""
    return IndexLaw(MEDIAN, anchor, mean, sd, other_mean, other_sd)


def larger(anchor: float, mean: float, sd: float) -> IndexLaw:
    """Return the distribution of max(anchor, x), where x is a normal sample."""
    return IndexLaw(MEDIAN, anchor, mean, sd, math.inf, 1.0)


def smaller(cap: float, mean: float, sd: float) -> IndexLaw:
    """Return the distribution of min(cap, x), where x is a normal sample."""
    return IndexLaw(MEDIAN, cap, mean, sd, -math.inf, 1.0)


def mixture(weight: float, mean: float, sd: float, other_mean: float, other_sd: float) -> IndexLaw:
    """Return the distribution of a mixture of two normal samples.

    The index is the first sample with probability `weight`, otherwise the second.
    """
    return IndexLaw(MIXTURE, weight, mean, sd, other_mean, other_sd)


def beta_sample(a: float, b: float) -> IndexLaw:
    """Return the distribution of a Beta(a, b) sample."""
    return IndexLaw(BETA, 0.0, a, b, 0.0, 1.0)


def write_law(laws: Floats, row: int, law: IndexLaw) -> None:
    """Write the six fields of a distribution into a row of `laws`.

    If the anchor or a mean is NaN, the arm cannot be played, and the kind becomes `NEVER`.
    """
    laws[row, 0] = law.kind
    if math.isnan(law.place) or math.isnan(law.mean) or math.isnan(law.other_mean):
        laws[row, 0] = NEVER
    laws[row, 1] = law.place
    laws[row, 2] = law.mean
    laws[row, 3] = law.sd
    laws[row, 4] = law.other_mean
    laws[row, 5] = law.other_sd


# Probabilities and draws of indices of kind MEDIAN, for engines that skip many rounds at once.


def chance(law: IndexLaw, level: float, up: bool) -> float:
    """Return P(index > level) if `up`, else P(index ≤ level), for an index of kind `MEDIAN`.

    The result is precise even if the probability is tiny.
    """
    first = tail(law.mean, law.sd, level, up)
    if law.other_mean == math.inf:  # the larger of the anchor and one sample
        return (1.0 if up else 0.0) if law.place > level else first
    second = tail(law.other_mean, law.other_sd, level, up)
    if up == (level >= law.place):  # then both samples must be on this side of the level
        return first * second
    return first + (1.0 - first) * second


def draw_index(law: IndexLaw, level: float, stream: Stream) -> float:
    """Draw an index of kind `MEDIAN`.

    Returns −∞ if the anchor and the first sample alone show that the index is below `level`.
    """
    first = law.mean + law.sd * normal(stream)
    if law.other_mean == math.inf:
        return max(law.place, first)
    if max(law.place, first) < level:
        return -math.inf
    return median(law.place, first, law.other_mean + law.other_sd * normal(stream))


def draw_side(law: IndexLaw, level: float, up: bool, stream: Stream) -> float:
    """Draw an index of kind `MEDIAN`, conditional on index > level if `up`, else index ≤ level."""
    if law.other_mean == math.inf:
        if up and law.place > level:
            return draw_index(law, -math.inf, stream)
        return max(law.place, sample_side(law.mean, law.sd, level, up, stream))
    is_first = is_second = True  # whether each sample is on this side of the level
    if up != (level >= law.place):  # then one of them is enough
        first = tail(law.mean, law.sd, level, up)
        second = tail(law.other_mean, law.other_sd, level, up)
        u = uniform(stream) * (first + (1.0 - first) * second)
        is_first = u < first
        is_second = u < first * second or u >= first
    x = sample_side(law.mean, law.sd, level, is_first == up, stream)
    y = sample_side(law.other_mean, law.other_sd, level, is_second == up, stream)
    return median(law.place, x, y)


def upper(x: float) -> float:
    """Return P(z > x) for a standard normal z."""
    return 0.5 * math.erfc(x * math.sqrt(0.5))


def tail(mean: float, sd: float, level: float, up: bool) -> float:
    """Return P(x > level) if `up`, else P(x ≤ level), for a normal sample x."""
    z = (level - mean) / sd
    return upper(z if up else -z)


def sample_side(mean: float, sd: float, level: float, up: bool, stream: Stream) -> float:
    """Draw a normal sample x, conditional on x > level if `up`, else x ≤ level."""
    z = (level - mean) / sd
    return mean + sd * draw_upper(z, stream) if up else mean - sd * draw_upper(-z, stream)


def draw_upper(x: float, stream: Stream) -> float:
    """Draw a standard normal variable, conditional on being above x.

    For x ≥ 0.5, uses rejection sampling from an exponential distribution (Robert 1995).
    """
    if x < 0.5:
        while True:
            z = normal(stream)
            if z > x:
                return z
    rate = 0.5 * (x + math.sqrt(x * x + 4.0))
    while True:
        z = x + exponential(stream) / rate
        if uniform(stream) < math.exp(-0.5 * (z - rate) * (z - rate)):
            return z
