from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor.core.posterior import Posterior
from driftanchor.serve.page.page_intervals import interval_json, json_ready, shortest_interval


@given(st.floats(-2.0, 3.0), st.floats(1e-6, 5.0), st.floats(0.5, 0.99))
def test_an_interval_stays_in_the_range_and_has_its_probability(
    mean: float, sd: float, chance: float
) -> None:
    mode, low, high = shortest_interval(Posterior(mean, sd), (0.0, 1.0), chance)
    assert 0.0 <= low <= mode <= high <= 1.0
    law = NormalDist(mean, sd)
    mass = law.cdf(1.0) - law.cdf(0.0)
    if mass > 1e-6:
        assert (law.cdf(high) - law.cdf(low)) / mass == pytest.approx(chance, abs=1e-4)


def test_without_a_range_it_is_the_usual_interval() -> None:
    mode, low, high = shortest_interval(Posterior(5.0, 2.0), (float("-inf"), float("inf")))
    assert (mode, low, high) == pytest.approx((5.0, 5.0 - 3.92, 5.0 + 3.92), abs=0.001)


def test_a_certain_value_or_one_outside_the_range_is_a_point() -> None:
    assert shortest_interval(Posterior(0.3, 0.0), (0.0, 1.0)) == (0.3, 0.3, 0.3)
    assert shortest_interval(Posterior(9.0, 0.1), (0.0, 1.0)) == (1.0, 1.0, 1.0)


def test_without_knowledge_there_is_no_interval() -> None:
    assert interval_json(None, (0.0, 1.0)) is None
    assert interval_json(Posterior(float("inf"), 0.0), (0.0, 1.0)) is None


def test_json_has_neither_nan_nor_infinity() -> None:
    ready = json_ready({"a": [float("nan"), 1.0], "b": (float("inf"), "x", None, True)})
    assert ready == {"a": [None, 1.0], "b": [None, "x", None, True]}
