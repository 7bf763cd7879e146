from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor.core.posterior import Posterior
from driftanchor.serve.page.believed import drawn, inside, plain


@given(st.floats(-2.0, 3.0), st.floats(1e-6, 5.0), st.floats(0.5, 0.99))
def test_an_interval_stays_in_the_range_and_has_its_probability(
    mean: float, sd: float, chance: float
) -> None:
    point, low, high = inside(Posterior(mean, sd), (0.0, 1.0), chance)
    assert 0.0 <= low <= point <= high <= 1.0
    law = NormalDist(mean, sd)
    whole = law.cdf(1.0) - law.cdf(0.0)
    if whole > 1e-6:
        assert (law.cdf(high) - law.cdf(low)) / whole == pytest.approx(chance, abs=1e-4)


def test_without_a_range_it_is_the_usual_interval() -> None:
    point, low, high = inside(Posterior(5.0, 2.0), (float("-inf"), float("inf")))
    assert (point, low, high) == pytest.approx((5.0, 5.0 - 3.92, 5.0 + 3.92), abs=0.001)


def test_what_is_certain_or_beyond_the_range_is_a_point() -> None:
    assert inside(Posterior(0.3, 0.0), (0.0, 1.0)) == (0.3, 0.3, 0.3)
    assert inside(Posterior(9.0, 0.1), (0.0, 1.0)) == (1.0, 1.0, 1.0)


def test_nothing_is_drawn_where_nothing_is_known() -> None:
    assert drawn(None, (0.0, 1.0)) is None
    assert drawn(Posterior(float("inf"), 0.0), (0.0, 1.0)) is None


def test_json_has_neither_nan_nor_infinity() -> None:
    found = plain({"a": [float("nan"), 1.0], "b": (float("inf"), "x", None, True)})
    assert found == {"a": [None, 1.0], "b": [None, "x", None, True]}
