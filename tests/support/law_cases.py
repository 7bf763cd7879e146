"""Laws of indices to try, and ways to ask how likely each wins."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from driftanchor.core import index_law
from driftanchor.core.check import Floats
from driftanchor.core.index_law import NEVER, IndexLaw
from driftanchor.core.win_chances import win_chances

OUT = IndexLaw(NEVER, 0.0, 0.0, 0.0, 0.0, 0.0)
MEANS, SDS = st.floats(-1, 1), st.sampled_from([1e-3, 0.1, 0.5, 1.0])
ANCHORS = st.sampled_from([-0.2, 0.0, 0.0, 0.5])
LAW = st.one_of(
    st.builds(index_law.constant, ANCHORS),
    st.builds(index_law.one_sample, MEANS, SDS),
    st.builds(index_law.larger, ANCHORS, MEANS, SDS),
    st.builds(index_law.smaller, ANCHORS, MEANS, SDS),
    st.builds(index_law.median_law, ANCHORS, MEANS, SDS, MEANS, SDS),
    st.builds(index_law.mixture, st.floats(0, 1), MEANS, SDS, MEANS, SDS),
    st.builds(index_law.mixture, st.floats(0, 1), MEANS, SDS, ANCHORS, st.just(0.0)),
    st.builds(index_law.beta_sample, st.floats(1, 50), st.floats(1, 50)),
    st.just(OUT),
)


def chances(laws: list[IndexLaw]) -> Floats:
    """How likely each law has the largest value."""
    return win_chances(np.array(laws))


def below(law: IndexLaw, level: float) -> float:
    """How likely a value is below a level; one that is the level counts half."""
    return float(chances([law, index_law.constant(level)])[1])


def counted_below(values: Floats, level: float) -> float:
    """The share of values below a level, as `below` counts them."""
    return float(((values < level) + 0.5 * (values == level)).mean())


def draws(law: IndexLaw, n: int, rng: np.random.Generator) -> Floats:
    """Values of a law, drawn as the policies draw them."""
    if law.kind == NEVER:
        return np.full(n, math.nan)
    if law.kind == index_law.BETA:
        return rng.beta(law.mean, law.sd, n)
    first = law.mean + law.sd * rng.standard_normal(n)
    second = law.other_mean + law.other_sd * rng.standard_normal(n)
    if law.kind == index_law.MIXTURE:
        return np.where(rng.random(n) < law.place, first, second)
    middle: Floats = np.clip(law.place, np.minimum(first, second), np.maximum(first, second))
    return middle


def drawn_chances(laws: list[IndexLaw], n: int, seed: int) -> Floats:
    """How often each law has the largest of `n` values; ties are shared."""
    rng = np.random.default_rng(seed)
    values = np.stack([draws(law, n, rng) for law in laws])
    best = values == np.nanmax(values, axis=0)
    shares: Floats = (best / best.sum(axis=0)).mean(axis=1)
    return shares
