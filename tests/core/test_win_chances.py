"""How likely each arm wins: closed forms, ties, extremes, draws and batches."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from law_cases import LAW, OUT, chances, drawn_chances

from driftanchor.core import win_chances as module
from driftanchor.core.check import Floats
from driftanchor.core.index_law import (
    NEVER,
    IndexLaw,
    beta_sample,
    constant,
    larger,
    median_law,
    mixture,
    one_sample,
    smaller,
    write_law,
)
from driftanchor.core.win_chances import (
    beta_below,
    beta_density,
    beta_ends,
    beta_sd,
    beyond_stirling,
    win_chances,
)

INF = math.inf


@pytest.mark.parametrize("sd", [1e-4, 0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("ahead", [-3.0, -0.5, 0.0, 0.1, 2.0])
def test_two_samples_have_a_closed_form(sd: float, ahead: float) -> None:
    got = chances([one_sample(ahead, sd), one_sample(0.0, 1.0)])
    truth = NormalDist().cdf(ahead / math.hypot(1.0, sd))
    assert got == pytest.approx([truth, 1 - truth], abs=1e-7)


@pytest.mark.parametrize(
    ("mean", "sd"),
    [
        (-0.20376378215191887, 0.0919052532977489),
        (-0.27998305576473664, 0.1562101144125506),
        (-0.1701659527697022, 0.05777868108302781),
        (0.29940628193061075, 0.08600906659810734),
        (0.2520653941283512, 0.14618844572768416),
    ],
)
def test_errors_of_two_arms_that_cancel_are_found(mean: float, sd: float) -> None:
    """Ten points of Gauss's rule over the whole line add up to 1 here, and are off by 4 %."""
    got = chances([one_sample(0.0, 1.0), one_sample(mean, sd)])
    assert got[0] == pytest.approx(NormalDist().cdf(-mean / math.hypot(1.0, sd)), abs=1e-7)


@pytest.mark.parametrize("ahead", [-1.0, 0.0, 0.7])
def test_a_constant_beside_samples_has_a_closed_form(ahead: float) -> None:
    got = chances([constant(ahead)] + [one_sample(0.0, 1.0)] * 3)
    stays = NormalDist().cdf(ahead) ** 3
    assert got == pytest.approx([stays] + [(1 - stays) / 3] * 3, abs=1e-7)


def test_arms_alike_share() -> None:
    for law in (one_sample(0.3, 0.1), larger(0.0, 0.1, 1.0), mixture(0.01, 0, 1, 0, 0)):
        for arms in (1, 2, 7, 30):
            assert chances([law] * arms) == pytest.approx([1 / arms] * arms, abs=1e-7)


def test_arms_in_a_row_with_the_same_law_are_no_other_than_arms_apart() -> None:
    one, other, fixed = one_sample(0.3, 0.1), median_law(0.2, 0.1, 0.3, 0.4, 0.1), constant(0.4)
    in_a_row = chances([one, one, one, other, other, fixed, fixed])
    apart = chances([one, other, fixed, one, other, fixed, one])
    assert in_a_row[[0, 3, 5, 1, 4, 6, 2]] == pytest.approx(apart, abs=1e-12)
    assert in_a_row[0] == in_a_row[1] == in_a_row[2]


def test_largest_constants_share_exactly() -> None:
    laws = [constant(1.0), constant(0.9), constant(1.0), constant(1.0), one_sample(0.0, 0.01)]
    assert chances(laws).tolist() == [1 / 3, 0, 1 / 3, 1 / 3, 0]
    assert chances([constant(INF), one_sample(0.0, 1.0), constant(INF)]).tolist() == [0.5, 0, 0.5]
    assert chances([constant(-INF), OUT, constant(-INF)]).tolist() == [0.5, 0, 0.5]


def test_ties_are_shared_as_if_all_outcomes_were_written_down() -> None:
    """Each arm is at 0 with its own chance, else surely below: 2⁴ outcomes."""
    shares = [0.2, 0.5, 0.9, 0.99]
    laws = [mixture(1 - share, -1.0, 1e-3, 0.0, 0.0) for share in shares]
    truth = np.zeros(4)
    for there in itertools.product([False, True], repeat=4):
        weight = math.prod(p if on else 1 - p for p, on in zip(shares, there, strict=True))
        tied = [i for i in range(4) if there[i]] or range(4)
        truth[list(tied)] += weight / len(tied)
    assert chances(laws) == pytest.approx(truth, abs=1e-7)


def test_arms_that_cannot_win() -> None:
    assert chances([OUT, one_sample(0.0, 1.0), OUT]) == pytest.approx([0, 1, 0])
    assert chances([OUT, OUT]).tolist() == [0.0, 0.0]
    far = chances([one_sample(0.0, 1.0), one_sample(-100.0, 1.0), one_sample(0.0, 1.0)])
    assert far == pytest.approx([0.5, 0.0, 0.5])


@pytest.mark.parametrize("law", [constant(math.nan), one_sample(math.nan, 1.0)])
def test_an_index_that_is_no_number_cannot_win(law: IndexLaw) -> None:
    laws = np.zeros((2, 6))
    write_law(laws, 0, law)
    write_law(laws, 1, one_sample(-5.0, 1.0))
    assert laws[0, 0] == NEVER
    assert laws[1].tolist() == list(one_sample(-5.0, 1.0))
    assert win_chances(laws).tolist() == [0.0, 1.0]


def test_a_law_too_narrow_for_floats_is_a_constant() -> None:
    narrow = one_sample(1.0, 1e-30)
    assert chances([narrow, constant(1.0), narrow, constant(0.9)]).tolist() == [1 / 3] * 3 + [0]
    wide = one_sample(1.0, 1.0)
    assert chances([narrow, wide]) == pytest.approx([0.5, 0.5], abs=1e-7)
    assert chances([narrow, wide]) == pytest.approx(chances([constant(1.0), wide]), abs=1e-12)


def test_narrow_among_wide() -> None:
    """Against 2 million draws: 5 sds of each, false alarm 2e-6."""
    laws = [
        one_sample(0.0, 1e4),
        median_law(0.3, 0.3, 1.0, 0.31, 1e-4),
        smaller(0.3001, 0.3, 1e-4),
        larger(0.3, 0.3, 1e-3),
    ]
    got, n = chances(laws), 2_000_000
    assert got.sum() == pytest.approx(1, abs=1e-7)
    for p, share in zip(got, drawn_chances(laws, n, 3), strict=True):
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / n) + 1e-9


@given(st.lists(LAW, min_size=1, max_size=5), st.integers(0, 99))
def test_chances_are_those_of_draws(laws: list[IndexLaw], seed: int) -> None:
    """At most 300 shares: 5.5 sds of 20,000 draws, a right program fails with a chance of 1e-5."""
    assume(any(law != OUT for law in laws))
    got, n = chances(laws), 20_000
    assert got.sum() == pytest.approx(1, abs=1e-6)
    for p, share in zip(got, drawn_chances(laws, n, seed), strict=True):
        assert abs(share - p) <= 5.5 * math.sqrt(abs(p * (1 - p)) / n) + 1e-3


@given(st.lists(LAW, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_arms_does_not_matter(laws: list[IndexLaw], random: object) -> None:
    order = list(range(len(laws)))
    random.shuffle(order)  # type: ignore[attr-defined]
    there = chances([laws[i] for i in order])
    assert there == pytest.approx(chances(laws)[order], abs=1e-6)


@given(st.lists(st.lists(LAW, min_size=4, max_size=4), min_size=1, max_size=6))
def test_rows_at_once_have_the_chances_of_each(rows: list[list[IndexLaw]]) -> None:
    together = win_chances(np.array(rows))
    for row, laws in zip(together, rows, strict=True):
        assert row == pytest.approx(chances(laws), abs=2e-7)


def test_any_leading_axes() -> None:
    laws = np.array([[[one_sample(i + j, 1.0), constant(0.5)] for i in range(3)] for j in range(2)])
    assert laws.shape == (2, 3, 2, 6)
    got = win_chances(laws)
    assert got.shape == (2, 3, 2)
    assert got[1, 2, 0] == pytest.approx(NormalDist().cdf(2.5), abs=1e-7)


@pytest.mark.parametrize("ties", [1, 2, 19, 20, 21, 300, 5_000])
def test_many_ties_at_an_atom(ties: int) -> None:
    """Larger ones of 0 and a sample beside a constant 0: all are 0 with a probability of 1/2."""
    law = larger(0.0, -NormalDist().inv_cdf(0.5 ** (1 / ties)), 1.0)
    got = chances([law] * ties + [constant(0.0)])
    last = 0.5 / (ties + 1)
    assert got == pytest.approx([(1 - last) / ties] * ties + [last], abs=1e-7)
    assert len(set(got[:-1].tolist())) == 1


def test_two_beta_laws_have_a_closed_form() -> None:
    """For whole shapes P(Beta(a, b) > Beta(c, d)) is a finite sum."""
    a, b, c, d = 3, 8, 5, 4

    def log_beta(x: int, y: int) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    truth = sum(
        math.exp(log_beta(c + i, d + b) - math.log(b + i) - log_beta(1 + i, b) - log_beta(c, d))
        for i in range(a)
    )
    got = chances([beta_sample(a, b), beta_sample(c, d)])
    assert got == pytest.approx([truth, 1 - truth], abs=1e-7)


def test_ten_thousand_arms() -> None:
    arms = 10_000
    alike = chances([larger(0.0, 0.0, 1.0)] * arms)
    assert alike * arms == pytest.approx(np.ones(arms), abs=1e-5)
    assert chances([constant(0.0)] * arms).tolist() == [1 / arms] * arms
    rng = np.random.default_rng(1)
    means = rng.normal(0, 0.2, arms)
    got = chances([median_law(m, m, 0.3, m + 0.05, 0.1) for m in means.tolist()])
    assert got.sum() == pytest.approx(1, abs=1e-6)
    assert got[np.argsort(means)[:5_000]].max() < 1e-6 < got.max()


def test_a_program_that_forgets_atoms_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its probabilities do not add up, which the caller looks at."""
    laws = [larger(0.1, 0.0, 1.0), median_law(0.0, 0.0, 1.0, 0.1, 0.2), larger(0.05, 0.0, 1.0)]
    assert chances(laws).sum() == pytest.approx(1, abs=1e-6)
    with monkeypatch.context() as planted:
        planted.setattr(module, "_won_at_atoms", lambda below, *_: np.zeros(below.shape))
        assert chances(laws).sum() < 0.9


# The Beta law against closed forms, and its parts against each other.

SHAPES = [
    (1.0, 1.0),
    (1.0, 7.5),
    (3.5, 2.0),
    (40.0, 900.0),
    (2900.0, 5e5),
    (3001.0, 3001.0),
    (4e4, 7e6),
    (1e9, 1e9),
]


def ends_of(a: float, b: float) -> tuple[float, float]:
    low, high = beta_ends(np.array(a), np.array(b))
    return float(low), float(high)


def below(a: float, b: float, x: Floats) -> Floats:
    return beta_below(np.array(a), np.array(b), x)


@pytest.mark.parametrize("x", [0.0, 0.03, 0.5, 0.97, 1.0])
def test_whole_shapes_are_binomial_tails(x: float) -> None:
    """P(Beta(k, n − k + 1) ≤ x) is the chance of at least k wins in n."""
    n = 12
    for k in range(1, n + 1):
        wins = sum(math.comb(n, w) * x**w * (1 - x) ** (n - w) for w in range(k, n + 1))
        assert below(k, n - k + 1, np.array([x])) == pytest.approx([wins], abs=1e-13)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_density_is_the_slope(a: float, b: float) -> None:
    points, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(*ends_of(a, b), 81)
    half = np.diff(edges)[:, None] / 2
    places = edges[:-1, None] + half * (points + 1)
    areas = (half * weights * beta_density(np.array(a), np.array(b), places)).sum(axis=1)
    assert np.diff(below(a, b, edges)) == pytest.approx(areas, abs=1e-9)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_hardly_anything_is_outside_of_the_ends(a: float, b: float) -> None:
    low, high = ends_of(a, b)
    assert 0.0 <= low < a / (a + b) < high <= 1.0
    assert below(a, b, np.array([low]))[0] < 1e-10
    assert below(b, a, np.array([1.0 - high]))[0] < 1e-10
    assert high - low < 60 * beta_sd(np.array(a), np.array(b))


def test_the_standard_deviation() -> None:
    drawn = np.random.default_rng(1).beta(3.5, 2.0, 100_000)
    assert beta_sd(np.array(3.5), np.array(2.0)) == pytest.approx(drawn.std(), rel=0.01)


def test_stirling() -> None:
    for z in (1.0, 15.99, 16.0, 33.0):
        plain = (z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi)
        assert beyond_stirling(np.array(z)) == pytest.approx(math.lgamma(z) - plain, abs=2e-13)


def test_nothing_is_outside() -> None:
    a, b = np.array(2.0), np.array(2.0)
    assert beta_density(a, b, np.array([-1.0, 0.0, 1.0, 2.0])).tolist() == [0.0] * 4
    assert beta_below(a, b, np.array([-1.0, 2.0])).tolist() == [0.0, 1.0]
