"""Hybrid Thompson sampling by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import TS, ArmEvidence, Draws, HybridTS, Round

NOW = Round(t=4, arms=2)
ARM = ArmEvidence(pulls=3, total=1.5, offline_pulls=12, offline_mean=0.5, bias_bound=0.9)


@pytest.mark.parametrize(("z", "expected"), [(0.0, 0.46875), (1.0, 0.71875), (-2.0, -0.03125)])
def test_the_index_by_hand(z: float, expected: float) -> None:
    # (1.5 + 12·0.5)/(3 + 12 + 1) + z/√16, whatever the bias bound
    assert HybridTS().index(ARM, NOW, Draws(z, 0.0, 0.0)) == expected


def test_prior_mean_and_noise_by_hand() -> None:
    # (7.5 + 8.5)/16 + 2·0.5/4
    rule = HybridTS(prior_mean=8.5, noise=2.0)
    assert rule.index(ARM, NOW, Draws(0.5, 0.0, 0.0)) == 1.25


@given(st.integers(0, 10**6), st.floats(-1e6, 1e6), st.floats(-9, 9))
def test_without_logs_it_is_ts_exactly(pulls: int, total: float, z: float) -> None:
    bare = ArmEvidence(pulls, total, 0, 0.0, 0.0)
    draws = Draws(z, 0.0, 0.0)
    assert HybridTS().index(bare, NOW, draws) == TS().index(bare, NOW, draws)
