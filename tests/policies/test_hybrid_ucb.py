"""HUCB1 by hand."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import UCB, ArmEvidence, Draws, HybridUCB, InvalidInput, Round

SILENT = Draws(0.0, 0.0, 0.0)
ARM = ArmEvidence(pulls=2, total=1.0, offline_pulls=6, offline_mean=0.5, bias_bound=9.0)


def test_the_index_by_hand() -> None:
    # (1 + 6·0.5)/(2 + 6) + √(2 log(10 + 6) / 8) = 0.5 + √log 2, for log 16 = 4 log 2
    index = HybridUCB().index(ARM, Round(11, 2), SILENT)
    assert index == pytest.approx(0.5 + 0.8325546111576977, rel=1e-14)


def test_noise_and_constant_by_hand() -> None:
    # 0.5 + 3 √(8 log 16 / 8) = 0.5 + 6 √log 2
    index = HybridUCB(noise=3.0, c=8.0).index(ARM, Round(11, 2), SILENT)
    assert index == pytest.approx(0.5 + 6 * 0.8325546111576977, rel=1e-14)


def test_logs_spare_the_first_pull() -> None:
    # before any play: 0.5 + √(2 log 6 / 6)
    unpulled = ARM._replace(pulls=0, total=0.0)
    index = HybridUCB().index(unpulled, Round(1, 2), SILENT)
    assert index == pytest.approx(0.5 + math.sqrt(1.791759469228055 / 3), rel=1e-14)


def test_an_arm_with_neither_logs_nor_pulls_comes_first() -> None:
    bare = ArmEvidence(0, 0.0, 0, 0.0, 0.0)
    assert HybridUCB().index(bare, Round(1, 2), SILENT) == math.inf


@given(st.integers(0, 10**6), st.floats(-1e6, 1e6), st.integers(1, 10**6), st.floats(0.1, 9))
def test_without_logs_it_is_ucb_exactly(pulls: int, total: float, t: int, c: float) -> None:
    bare, now = ArmEvidence(pulls, total, 0, 0.0, 0.0), Round(t, 2)
    assert HybridUCB(c=c).index(bare, now, SILENT) == UCB(c=c).index(bare, now, SILENT)


@pytest.mark.parametrize("value", [0, -1, math.inf, "2"])
def test_an_unusable_constant_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"c of policy 'hybrid-ucb' must be .*, got {value!r}"):
        HybridUCB(c=value)
