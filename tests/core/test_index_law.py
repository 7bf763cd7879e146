"""The laws of indices against counts of draws, and draws given a side against the laws."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from law_cases import below, counted_below

from driftanchor.core import index_law
from driftanchor.core.check import Floats
from driftanchor.core.index_law import (
    NEVER,
    IndexLaw,
    chance,
    draw_index,
    draw_side,
    draw_upper,
    upper,
    write_law,
)
from driftanchor.core.noise import Stream, keyed_stream, wrapping

ATOMS = {"constant": 0.3, "larger": 0.3, "smaller": 0.3, "median": 0.0, "coin": -0.2}
Draw = Callable[[np.random.Generator, int], Floats]


def medians(anchor: float, a: tuple[float, float], b: tuple[float, float]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Floats:
        three = np.stack([np.full(n, anchor), rng.normal(*a, n), rng.normal(*b, n)])
        middle: Floats = np.median(three, axis=0)
        return middle

    return draw


def mixed(weight: float, a: tuple[float, float], b: tuple[float, float]) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < weight, rng.normal(*a, n), rng.normal(*b, n))


LAWS: dict[str, tuple[IndexLaw, Draw]] = {
    "constant": (index_law.constant(0.3), lambda rng, n: np.full(n, 0.3)),
    "sample": (index_law.one_sample(0.3, 0.2), lambda rng, n: rng.normal(0.3, 0.2, n)),
    "larger": (
        index_law.larger(0.3, 0.1, 0.2),
        lambda rng, n: np.maximum(0.3, rng.normal(0.1, 0.2, n)),
    ),
    "smaller": (
        index_law.smaller(0.3, 0.1, 0.2),
        lambda rng, n: np.minimum(0.3, rng.normal(0.1, 0.2, n)),
    ),
    "median": (
        index_law.median_law(0.0, 0.1, 1.0, -0.2, 0.3),
        medians(0.0, (0.1, 1.0), (-0.2, 0.3)),
    ),
    "mixture": (
        index_law.mixture(0.3, 0.1, 1.0, -0.2, 0.3),
        mixed(0.3, (0.1, 1.0), (-0.2, 0.3)),
    ),
    "coin": (index_law.mixture(0.3, 0.1, 1.0, -0.2, 0.0), mixed(0.3, (0.1, 1.0), (-0.2, 0.0))),
    "beta": (index_law.beta_sample(2.5, 4.0), lambda rng, n: rng.beta(2.5, 4.0, n)),
}


@pytest.mark.parametrize("kind", LAWS)
def test_counts_of_draws(kind: str) -> None:
    """11 levels and 8 laws: a right program is 5 sds off with a chance of 1e-4."""
    law, draw = LAWS[kind]
    drawn = draw(np.random.default_rng(1), 40_000)
    levels = np.quantile(drawn, np.linspace(0.02, 0.98, 10)).tolist()
    for level in [*levels, ATOMS.get(kind, 0.4)]:
        truth = below(law, level)
        allowed = 5 * math.sqrt(truth * (1 - truth) / drawn.size) + 1e-7
        assert abs(counted_below(drawn, level) - truth) <= allowed


def test_infinite_constants() -> None:
    assert below(index_law.constant(math.inf), 3.0) == 0.0
    assert below(index_law.constant(-math.inf), 3.0) == 1.0


@pytest.mark.parametrize("nan", ["place", "mean", "other_mean"])
def test_an_index_that_is_nan_never_wins(nan: str) -> None:
    rows = np.zeros((2, 6))
    law = index_law.median_law(0.1, 0.2, 1.0, 0.3, 0.5)
    write_law(rows, 0, law)
    assert IndexLaw(*rows[0].tolist()) == law
    write_law(rows, 1, law._replace(**{nan: math.nan}))
    assert rows[1, 0] == NEVER


# The laws over which engines leap, and levels on both sides of the anchor and far out.
LEAPT: dict[str, tuple[IndexLaw, list[float]]] = {
    "sample": (index_law.one_sample(0.3, 0.2), [-1.0, 0.3, 0.9, 2.3]),
    "larger": (index_law.larger(0.3, 0.1, 0.2), [-0.5, 0.3, 0.5, 2.0]),
    "median": (index_law.median_law(0.0, 0.1, 1.0, -0.2, 0.3), [-4.0, -0.5, 0.0, 0.2, 3.0]),
    "anchor above": (index_law.median_law(1.0, 0.1, 0.5, -0.2, 0.3), [-1.0, 0.4, 0.9, 1.0]),
    "anchor below": (index_law.median_law(-1.0, 0.1, 0.5, -0.2, 0.3), [-1.0, -0.9, 0.0, 1.5]),
}
CASES = [(kind, level) for kind, (_, levels) in LEAPT.items() for level in levels]
TRIES = 4_000


def is_at_most(law: IndexLaw, level: float) -> float:
    """P(index ≤ level), from the definition of a median."""
    first = 0.5 * math.erfc((law.mean - level) / law.sd * math.sqrt(0.5))
    second = 0.5 * math.erfc((law.other_mean - level) / law.other_sd * math.sqrt(0.5))
    if law.place <= level:
        return first + second - first * second
    return first * second


def above(law: IndexLaw, level: float) -> float:
    return chance(law, level, True)


def at_most(law: IndexLaw, level: float) -> float:
    return chance(law, level, False)


@pytest.mark.parametrize(("kind", "level"), CASES)
def test_both_tails(kind: str, level: float) -> None:
    law = LEAPT[kind][0]
    truth = is_at_most(law, level)
    assert at_most(law, level) == pytest.approx(truth, rel=1e-12)
    assert above(law, level) == pytest.approx(1.0 - truth, abs=1e-15)


def test_far_tails_keep_their_digits() -> None:
    sample, both = index_law.one_sample(0.0, 1.0), index_law.median_law(0.0, 0.0, 1.0, 0.0, 1.0)
    far = upper(20.0)
    assert far == pytest.approx(2.7536241e-89, rel=1e-7)
    assert above(sample, 20.0) == at_most(sample, -20.0) == far
    assert above(both, 20.0) == at_most(both, -20.0) == far * far


def drawn(draw: Callable[[Stream], float], case: str) -> Floats:
    stream = keyed_stream(3, case, 0)
    with wrapping():
        return np.array([draw(stream) for _ in range(TRIES)])


def follows(values: Floats, law: Callable[[float], float]) -> bool:
    """Whether P(value ≤ x) is `law(x)`, by the bound of Dvoretzky, Kiefer, Wolfowitz, Massart.

    At 1e-7 for each sample: false alarms 8e-6 in all.
    """
    places, counts = np.unique(values, return_counts=True)
    seen = counts.cumsum() / values.size
    due = np.array([law(x) for x in places.tolist()])
    before = np.array([law(math.nextafter(x, -math.inf)) for x in places.tolist()])
    apart = max(np.abs(seen - due).max(), np.abs(seen - counts / values.size - before).max())
    return bool(apart < math.sqrt(math.log(2 / 1e-7) / (2 * values.size)))


@pytest.mark.parametrize(("kind", "level"), CASES)
def test_draws_given_the_side_of_a_level(kind: str, level: float) -> None:
    law = LEAPT[kind][0]
    over, under = above(law, level), at_most(law, level)
    case = f"{kind} {level}"
    if over > 0.0:
        high = drawn(lambda stream: draw_side(law, level, True, stream), f"above {case}")
        assert high.min() > level
        assert follows(high, lambda x: 1.0 - above(law, x) / over)
    if under > 0.0:
        low = drawn(lambda stream: draw_side(law, level, False, stream), f"below {case}")
        assert low.max() <= level
        assert follows(low, lambda x: at_most(law, x) / under)


@pytest.mark.parametrize(("kind", "level"), CASES)
def test_an_index_below_the_level_need_not_be_drawn(kind: str, level: float) -> None:
    law = LEAPT[kind][0]
    values = drawn(lambda stream: draw_index(law, level, stream), f"index {kind} {level}")
    assert follows(np.maximum(values, level), lambda x: is_at_most(law, x) * (x >= level))
    full = drawn(lambda stream: draw_index(law, -math.inf, stream), f"full {kind} {level}")
    assert follows(full, lambda x: is_at_most(law, x))


@pytest.mark.parametrize("x", [-2.0, 0.0, 0.49, 0.51, 3.0, 12.0])
def test_a_normal_above_a_level(x: float) -> None:
    values = drawn(lambda stream: draw_upper(x, stream), f"upper {x}")
    assert values.min() > x
    assert follows(values, lambda y: 1.0 - upper(y) / upper(x))
