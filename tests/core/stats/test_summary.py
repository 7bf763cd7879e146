"""Standard errors and summaries of many values."""

import math

import numpy as np
import pytest

from driftanchor.core.stats.summary import standard_error, summarise


def test_a_summary_has_what_was_asked_for_in_its_order() -> None:
    values = np.arange(101.0)
    found = summarise(values, {"median": 0.5, "q95": 0.95})
    assert list(found) == ["mean", "se", "median", "q95", "max"]
    assert found["se"] == pytest.approx(values.std(ddof=1) / math.sqrt(101))
    assert (found["mean"], found["median"], found["q95"], found["max"]) == (50, 50, 95, 100)


def test_a_single_value_has_no_standard_error() -> None:
    assert np.isnan(standard_error(np.ones((1, 3)))).all()
    assert math.isnan(summarise(np.ones(1), {})["se"])
