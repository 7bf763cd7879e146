"""Optimistic Thompson sampling by hand."""

import math
from typing import Any

import pytest

from driftanchor import ArmEvidence, Draws, InvalidInput, OptimisticTS, Round

NOW = Round(t=8, arms=2)
ARM = ArmEvidence(pulls=8, total=3.0, offline_pulls=100, offline_mean=9.0, bias_bound=0.1)


@pytest.mark.parametrize(
    ("z", "expected"), [(0.0, 1 / 3), (1.5, 1 / 3 + 0.5), (-1.5, 1 / 3), (-9.0, 1 / 3)]
)
def test_the_index_by_hand(z: float, expected: float) -> None:
    # max(3/9, 3/9 + z/3)
    assert OptimisticTS().index(ARM, NOW, Draws(z, 0.0, 0.0)) == pytest.approx(expected, rel=1e-14)


def test_prior_mean_noise_and_scale_by_hand() -> None:
    # (3 + 6)/9 + 0.5·√(4/9)·3 = 1 + 1
    rule = OptimisticTS(prior_mean=6.0, noise=0.5, posterior_scale=4.0)
    assert rule.index(ARM, NOW, Draws(3.0, 0.0, 0.0)) == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("value", [0, -2.0, math.nan, None])
def test_an_unusable_scale_is_refused(value: Any) -> None:
    with pytest.raises(
        InvalidInput, match=f"posterior_scale of policy 'optimistic-ts' must be .*, got {value}"
    ):
        OptimisticTS(posterior_scale=value)
