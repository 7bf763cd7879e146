"""The law of one arm's index in one round, as six numbers.

Every sampling policy here draws an index of one of three kinds: the median of an anchor and two
normal samples, one of two normal samples by a coin, or a Beta sample. One sample, the larger of a
mean and a sample, a capped sample and a constant are medians with an infinite part. So what
integrates these laws is written, and compiled, once for all policies.

Plain scalar functions, interpreted and compiled, like those of `driftanchor.core.posterior`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.beta_law import beta_below, beta_density, beta_ends
from driftanchor.core.check import Floats
from driftanchor.core.noise import Stream, exponential, normal, uniform
from driftanchor.core.posterior import median

MEDIAN, MIXTURE, BETA = 0.0, 1.0, 2.0
NEVER = -1.0  # the kind of an arm that cannot be played
REACH = 6.5  # a normal is further than this from its mean, in sds, with a chance of 1e-10
FAR = 8.0  # and further than this with a chance of 1e-15: never
_POLYNOMIALS = 7.07  # sds up to which the polynomials hold
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


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


class Below(NamedTuple):
    """How likely an index is below a level, and how likely it is the level itself."""

    below: float
    mass: float


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


def write_law(laws: Floats, row: int, law: IndexLaw) -> None:
    """Write a law into a row of an array; an index that is NaN never wins."""
    laws[row, 0] = law.kind
    if math.isnan(law.place) or math.isnan(law.mean) or math.isnan(law.other_mean):
        laws[row, 0] = NEVER
    laws[row, 1] = law.place
    laws[row, 2] = law.mean
    laws[row, 3] = law.sd
    laws[row, 4] = law.other_mean
    laws[row, 5] = law.other_sd


def atom(law: IndexLaw) -> float:
    """The one value that has a probability of its own; −∞ where there is none."""
    if law.kind == MEDIAN:
        return law.place
    if law.kind == MIXTURE and law.other_sd == 0.0:
        return law.other_mean
    return -math.inf


def at(law: IndexLaw, level: float) -> Below:
    """How likely the index is below a level, and exactly there."""
    if law.kind == BETA:
        return Below(beta_below(law.mean, law.sd, level), 0.0)
    first = sample_at(level, law.mean, law.sd).below
    second = sample_at(level, law.other_mean, law.other_sd).below
    if law.kind == MIXTURE:
        rest = 1.0 - law.place
        if law.other_sd == 0.0 and level == law.other_mean:
            return Below(law.place * first, rest)
        return Below(law.place * first + rest * second, 0.0)
    both, either = first * second, first + (1.0 - first) * second
    if level < law.place:
        return Below(both, 0.0)
    if level > law.place:
        return Below(either, 0.0)
    return Below(both, either - both)


def slope(law: IndexLaw, level: float) -> Below:
    """How likely the index is below a level that is no atom, and its density there."""
    if law.kind == BETA:
        return Below(beta_below(law.mean, law.sd, level), beta_density(law.mean, law.sd, level))
    first, dense = sample_at(level, law.mean, law.sd)
    second, other_dense = sample_at(level, law.other_mean, law.other_sd)
    if law.kind == MIXTURE:
        rest = 1.0 - law.place
        return Below(law.place * first + rest * second, law.place * dense + rest * other_dense)
    if level < law.place:
        return Below(first * second, dense * second + other_dense * first)
    return Below(
        first + (1.0 - first) * second, dense * (1.0 - second) + other_dense * (1.0 - first)
    )


def ends(law: IndexLaw) -> tuple[float, float]:
    """Two numbers that the index is outside of with a negligible chance."""
    if law.kind == BETA:
        return beta_ends(law.mean, law.sd)
    low, high = law.mean - REACH * law.sd, law.mean + REACH * law.sd
    other_low = law.other_mean - REACH * law.other_sd
    other_high = law.other_mean + REACH * law.other_sd
    if law.kind == MIXTURE:
        return min(low, other_low), max(high, other_high)
    return median(law.place, low, other_low), median(law.place, high, other_high)


def sample_at(level: float, mean: float, sd: float) -> Below:
    """P(θ ≤ level) of a normal sample, and its density there; beyond 8 sds they are 0 or 1.

    The tail is the density times a ratio of two polynomials (Hart et al. 1968, no. 5666), right to
    15 digits: one exponential serves for both, where the error function would cost another two.
    """
    away = level - mean
    if away >= FAR * sd:  # also where the mean is infinite, or the sample is a constant
        return Below(1.0, 0.0)
    if away <= -FAR * sd:
        return Below(0.0, 0.0)
    x = abs(away) / sd
    height = math.exp(-0.5 * x * x)
    if x < _POLYNOMIALS:
        above = 0.0352624965998911 * x + 0.700383064443688
        above = (above * x + 6.37396220353165) * x + 33.912866078383
        above = (above * x + 112.079291497871) * x + 221.213596169931
        above = above * x + 220.206867912376
        under = 0.0883883476483184 * x + 1.75566716318264
        under = (under * x + 16.064177579207) * x + 86.7807322029461
        under = (under * x + 296.564248779674) * x + 637.333633378831
        under = (under * x + 793.826512519948) * x + 440.413735824752
        tail = height * above / under
    else:
        tail = height * _DENSITY / (x + 1.0 / (x + 2.0 / (x + 3.0 / (x + 4.0 / (x + 0.65)))))
    return Below(1.0 - tail if away > 0.0 else tail, height * _DENSITY / sd)


# What engines that leap over rounds ask of a median law whose samples are normal.


def above(law: IndexLaw, level: float) -> float:
    """Return P(index > level) of a median law."""
    first = upper((level - law.mean) / law.sd)
    if law.other_mean == math.inf:  # the larger of the anchor and one sample
        return 1.0 if law.place > level else first
    second = upper((level - law.other_mean) / law.other_sd)
    if level >= law.place:  # above the anchor both samples must exceed the level
        return first * second
    return first + (1.0 - first) * second


def below(law: IndexLaw, level: float) -> float:
    """Return P(index ≤ level) of a median law, precise where it is small."""
    first = upper((law.mean - level) / law.sd)
    if law.other_mean == math.inf:
        return 0.0 if law.place > level else first
    second = upper((law.other_mean - level) / law.other_sd)
    if level < law.place:  # below the anchor both samples must be at most the level
        return first * second
    return first + (1.0 - first) * second


def draw_index(law: IndexLaw, level: float, stream: Stream) -> float:
    """Draw an index, or return −∞ as soon as the first sample shows that it is below the level."""
    first = law.mean + law.sd * normal(stream)
    if law.other_mean == math.inf:
        return max(law.place, first)
    if max(law.place, first) < level:
        return -math.inf
    return median(law.place, first, law.other_mean + law.other_sd * normal(stream))


def draw_above(law: IndexLaw, level: float, stream: Stream) -> float:
    """Draw an index given that it is above the level."""
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
    """Draw an index given that it is at most the level."""
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
    """Return P(z > x) of a standard normal."""
    return 0.5 * math.erfc(x * math.sqrt(0.5))


def sample_above(mean: float, sd: float, level: float, stream: Stream) -> float:
    """Draw a normal given that it is above the level."""
    return mean + sd * draw_upper((level - mean) / sd, stream)


def sample_below(mean: float, sd: float, level: float, stream: Stream) -> float:
    """Draw a normal given that it is at most the level."""
    return mean - sd * draw_upper((mean - level) / sd, stream)


def draw_upper(x: float, stream: Stream) -> float:
    """Draw a standard normal given that it is above x (Robert 1995 beyond the centre)."""
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
