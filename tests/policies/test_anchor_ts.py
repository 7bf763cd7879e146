"""Anchor-TS by hand, and what it becomes at its ends."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import AnchorTS, ArmEvidence, Draws, HybridTS, InvalidInput, OptimisticTS, Round

ARM = ArmEvidence(pulls=3, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
NOW = Round(t=8, arms=2)
# anchor 1.2/4 = 0.3; θ_on = 0.3 + z/2; Z = 4·0.7/7 = 0.4
# θ_hyb = (1.2 + 4·0.5)/8 + 0.4 + z/√8 = 0.8 + z/√8

FINITE = st.floats(-1e6, 1e6)
NORMALS = st.floats(-9, 9)
ARMS = st.builds(
    ArmEvidence, st.integers(0, 10**6), FINITE, st.integers(1, 10**6), FINITE, st.floats(0, 1e3)
)


@pytest.mark.parametrize(
    ("on", "hyb", "expected"),
    [
        (1.0, 0.0, 0.8),  # anchor 0.3 < θ_on 0.8 = θ_hyb 0.8
        (1.0, -1.0, 0.8 - 8**-0.5),  # anchor 0.3 < θ_hyb 0.446 < θ_on 0.8
        (0.4, 0.0, 0.5),  # anchor 0.3 < θ_on 0.5 < θ_hyb 0.8
        (-1.0, 0.0, 0.3),  # θ_on −0.2 < anchor 0.3 < θ_hyb 0.8
        (1.0, -3.0, 0.3),  # θ_hyb −0.26 < anchor 0.3 < θ_on 0.8
        (-1.0, -2.0, 0.8 - 2 * 8**-0.5),  # θ_on −0.2 < θ_hyb 0.093 < anchor 0.3
        (-1.0, -4.0, -0.2),  # θ_hyb −0.61 < θ_on −0.2 < anchor 0.3
    ],
)
def test_the_index_by_hand_in_every_order_of_the_three(
    on: float, hyb: float, expected: float
) -> None:
    assert AnchorTS().index(ARM, NOW, Draws(on, hyb, 0.0)) == pytest.approx(expected, rel=1e-14)


def test_the_three_numbers_by_hand_with_prior_mean_noise_and_scale() -> None:
    # anchor (1.2 + 2)/4 = 0.8; θ_on = 0.8 + 0.5·√(4/4)·1 = 1.3
    # θ_hyb = (3.2 + 2)/8 + 0.4 + 0.5·√(4/8)·2 = 1.05 + √0.5
    rule = AnchorTS(prior_mean=2.0, noise=0.5, posterior_scale=4.0)
    z = Draws(1.0, 2.0, 0.0)
    assert rule.explain(ARM, NOW, z) == pytest.approx(
        {"anchor": 0.8, "online_sample": 1.3, "hybrid_sample": 1.05 + math.sqrt(0.5)}
    )
    assert rule.index(ARM, NOW, z) == pytest.approx(1.3)


def test_an_unpulled_arm_without_logs_has_the_prior_mean_whenever_the_samples_disagree() -> None:
    bare = ArmEvidence(0, 0.0, 0, 0.0, 0.3)
    assert AnchorTS().index(bare, NOW, Draws(1.0, -1.0, 0.0)) == 0.0  # the ties of E15
    assert AnchorTS().index(bare, NOW, Draws(1.0, 0.5, 0.0)) == 0.5
    assert AnchorTS().index(bare, NOW, Draws(-1.0, -0.5, 0.0)) == -0.5


@given(st.integers(0, 10**6), FINITE, NORMALS, NORMALS, st.floats(0, math.inf))
def test_without_logs_both_samples_come_from_the_online_posterior(
    pulls: int, total: float, on: float, hyb: float, bound: float
) -> None:
    bare = ArmEvidence(pulls, total, 0, 0.0, bound)
    one = AnchorTS().explain(bare, NOW, Draws(on, hyb, 0.0))
    swapped = AnchorTS().explain(bare, NOW, Draws(hyb, on, 0.0))
    assert one["hybrid_sample"] == swapped["online_sample"]
    assert one["online_sample"] == swapped["hybrid_sample"]


@given(ARMS, NORMALS, NORMALS, st.floats(0.1, 9))
def test_an_infinite_bias_bound_gives_optimistic_ts_exactly(
    arm: ArmEvidence, on: float, hyb: float, scale: float
) -> None:
    z = Draws(on, hyb, 0.0)
    optimistic = OptimisticTS(posterior_scale=scale).index(arm, NOW, z)
    unbounded = arm._replace(bias_bound=math.inf)
    assert AnchorTS(posterior_scale=scale).index(unbounded, NOW, z) == optimistic


@given(ARMS, NORMALS, NORMALS)
def test_a_bias_bound_of_zero_gives_hybrid_ts_clipped_by_anchor_and_sample(
    arm: ArmEvidence, on: float, hyb: float
) -> None:
    trusted = arm._replace(bias_bound=0.0)
    index = AnchorTS().index(trusted, NOW, Draws(on, hyb, 0.0))
    hybrid = HybridTS().index(trusted, NOW, Draws(hyb, 0.0, 0.0))
    anchor = arm.total / (arm.pulls + 1)
    sample = anchor + on / math.sqrt(arm.pulls + 1)
    low, high = min(anchor, sample), max(anchor, sample)
    assert index == pytest.approx(min(max(hybrid, low), high), rel=1e-12, abs=1e-12)


@given(ARMS, NORMALS, NORMALS)
def test_the_index_is_the_median_of_what_explain_tells(
    arm: ArmEvidence, on: float, hyb: float
) -> None:
    z = Draws(on, hyb, 0.0)
    assert AnchorTS().index(arm, NOW, z) == sorted(AnchorTS().explain(arm, NOW, z).values())[1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "posterior_scale of policy 'anchor-ts' must be greater than 0, got 0"),
        (-1.0, r"posterior_scale of policy 'anchor-ts' must be greater than 0, got -1\.0"),
        (math.inf, "posterior_scale of policy 'anchor-ts' must be finite, got inf"),
        ("1", "posterior_scale of policy 'anchor-ts' must be a number, got '1'"),
    ],
)
def test_an_unusable_scale_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AnchorTS(posterior_scale=value)
