"""cover: every logged reward has its arm, and impossible shares are refused."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import InvalidInput, UnknownName
from driftanchor.simulation import COVERAGES, cover


@pytest.mark.parametrize(
    ("total", "arms", "coverage", "expected"),
    [
        (2000, 10, "uniform", [200] * 10),
        (2000, 10, "optimal", [1600, *[45] * 4, *[44] * 5]),
        (2000, 10, "suboptimal", [45, 1600, *[45] * 3, *[44] * 5]),
        (7, 3, "uniform", [3, 2, 2]),
        (7, 1, "uniform", [7]),
        (0, 2, "optimal", [0, 0]),
        (10, 2, "optimal", [8, 2]),
    ],
)
def test_coverage_by_hand(total: int, arms: int, coverage: str, expected: list[int]) -> None:
    assert cover(total, arms, coverage) == expected


@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from(COVERAGES))
def test_coverage_shares_out_everything(total: int, arms: int, coverage: str) -> None:
    shares = cover(total, arms, coverage)
    assert len(shares) == arms
    assert sum(shares) == total
    most = {"uniform": None, "optimal": 0, "suboptimal": 1}[coverage]
    rest = [share for arm, share in enumerate(shares) if arm != most]
    assert max(rest) - min(rest) <= 1
    if most is not None:
        assert shares[most] == total * 4 // 5


@given(st.integers(0, 10**6), st.lists(st.integers(0, 50), min_size=1, max_size=9).filter(any))
def test_coverage_by_shares_shares_out_everything(total: int, weights: list[int]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    counts = cover(total, len(weights), shares)
    assert sum(counts) == total
    for count, share in zip(counts, shares, strict=True):
        assert abs(count - total * share) < 1 + 1e-6
        assert count == 0 or share > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 10, "uniform"), "offline_total must be at least 0, got -1"),
        ((10, 0, "uniform"), "arms must be between 1 and 1e+06, got 0"),
        ((10, 1, "optimal"), "arms must be between 2 and 1e+06, got 1"),
        ((10, 2**62, "uniform"), "arms must be between 1 and 1e+06, got 4611686018427387904"),
        ((10, 2, [0.5, 0.6]), "coverage sums to 1.1: the shares of the arms must sum to 1"),
        ((10, 2, [0.5]), "coverage has 1 values for 2 arms"),
        ((10, 2, [1.5, -0.5]), "coverage of arm '1' must be between 0 and 1, got 1.5"),
    ],
)
def test_an_impossible_coverage_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        cover(*arguments)


def test_an_unknown_coverage_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="unknown coverage 'uniforme'; did you mean 'uniform'"):
        cover(10, 2, "uniforme")
