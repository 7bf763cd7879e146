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


def above(law: IndexLaw, level: float) -> float:
    """Return P(index > level) for an index of kind `MEDIAN`."""
    first = upper((level - law.mean) / law.sd)
    if law.other_mean == math.inf:  # the larger of the anchor and one sample
        return 1.0 if law.place > level else first
    second = upper((level - law.other_mean) / law.other_sd)
    if level >= law.place:  # then both samples must exceed the level
        return first * second
    return first + (1.0 - first) * second


def below(law: IndexLaw, level: float) -> float:
    """Return P(index ≤ level) for an index of kind `MEDIAN`.

    The result is precise even if the probability is tiny.
    """
    first = upper((law.mean - level) / law.sd)
    if law.other_mean == math.inf:
        return 0.0 if law.place > level else first
    second = upper((law.other_mean - level) / law.other_sd)
    if level < law.place:  # then both samples must be at most the level
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


def draw_above(law: IndexLaw, level: float, stream: Stream) -> float:
    """Draw an index of kind `MEDIAN`, conditional on index > level."""
    if law.other_mean == math.inf:
        if law.place > level:
            return draw_index(law, -math.inf, stream)
        return sample_above(law.mean, law.sd, level, stream)
    if level >= law.place:
        first = sample_above(law.mean, law.sd, level, stream)
        return min(first, sample_above(law.other_mean, law.other_sd, level, stream))
    on, hyb = upper((level - law.mean) / law.sd), upper((level - law.other_mean) / law.other_sd)
    u = uniform(stream) * (on + (1.0 - on) * hyb)
    if u < on:
        first = sample_above(law.mean, law.sd, level, stream)
    else:
        first = sample_below(law.mean, law.sd, level, stream)
    if u < on * hyb or u >= on:
        second = sample_above(law.other_mean, law.other_sd, level, stream)
    else:
        second = sample_below(law.other_mean, law.other_sd, level, stream)
    return median(law.place, first, second)


def draw_below(law: IndexLaw, level: float, stream: Stream) -> float:
    """Draw an index of kind `MEDIAN`, conditional on index ≤ level."""
    if law.other_mean == math.inf:
        return max(law.place, sample_below(law.mean, law.sd, level, stream))
    if level < law.place:
        first = sample_below(law.mean, law.sd, level, stream)
        return max(first, sample_below(law.other_mean, law.other_sd, level, stream))
    on, hyb = upper((law.mean - level) / law.sd), upper((law.other_mean - level) / law.other_sd)
    u = uniform(stream) * (on + (1.0 - on) * hyb)
    if u < on:
        first = sample_below(law.mean, law.sd, level, stream)
    else:
        first = sample_above(law.mean, law.sd, level, stream)
    if u < on * hyb or u >= on:
        second = sample_below(law.other_mean, law.other_sd, level, stream)
    else:
        second = sample_above(law.other_mean, law.other_sd, level, stream)
    return median(law.place, first, second)


def upper(x: float) -> float:
    """Return P(z > x) for a standard normal z."""
    return 0.5 * math.erfc(x * math.sqrt(0.5))


def sample_above(mean: float, sd: float, level: float, stream: Stream) -> float:
    """Draw a normal variable with this mean and sd, conditional on being above `level`."""
    return mean + sd * draw_upper((level - mean) / sd, stream)


def sample_below(mean: float, sd: float, level: float, stream: Stream) -> float:
    """Draw a normal variable with this mean and sd, conditional on being at most `level`."""
    return mean - sd * draw_upper((mean - level) / sd, stream)


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
