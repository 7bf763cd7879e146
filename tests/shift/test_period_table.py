"""Periods that no bound can be computed from are refused in words."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from driftanchor import InvalidInput, OfflineData, suggest


def periods(unit: float) -> dict[str, OfflineData]:
    """Three periods of rewards in some unit."""
    return {
        label: OfflineData.from_summary(
            {"A": (900, a * unit, 0.25 * unit**2), "B": (900, b * unit, 0.25 * unit**2)}
        )
        for label, a, b in (("1", 0.5, 0.45), ("2", 0.56, 0.5), ("3", 0.47, 0.43))
    }


@pytest.mark.parametrize("unit", [1e-80, 1e80])
def test_any_sensible_unit_will_do(unit: float) -> None:
    assert suggest(periods(unit)).bias_bound == pytest.approx(
        unit * suggest(periods(1.0), reward_range=(-9, 9)).bias_bound
    )


@pytest.mark.parametrize(
    ("unit", "told"),
    [
        (1e150, "rewards of arm 'A' in period '1' are too large: their mean is 5e.149"),
        (1e-150, "rewards are too small: no mean or standard deviation is above"),
    ],
)
def test_units_whose_squares_are_no_floats_are_refused(unit: float, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        suggest(periods(unit))


def test_numbers_that_nothing_follows_from_are_refused() -> None:
    rows: list[dict[str, Any]] = [
        {"A": (0,), "B": (2**40, 1e78, 8.9e179), "C": (10, -8.2e89)},
        {"A": (2**58, 0.0, 9.1e179), "B": (2**58, 1e78, 1e-320), "C": (1, 1e90)},
        {"A": (10, 0.0, 0.0), "B": (1, -4.8e88), "C": (0,)},
        {"A": (3, 1.7e89, 0.5), "B": (0,), "C": (2, 1e78, 1e-320)},
    ]
    wild = {str(i): OfflineData.from_summary(row) for i, row in enumerate(rows)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of the sums that fail
        with pytest.raises(InvalidInput, match="differ so much in size that no bound can be"):
            suggest(wild)


@pytest.mark.parametrize("unit", [3, None, "", " "])
def test_a_period_has_a_name(unit: Any) -> None:
    with pytest.raises(InvalidInput, match="unit must name a period, such as 'week', got"):
        suggest(periods(1.0), unit=unit)
