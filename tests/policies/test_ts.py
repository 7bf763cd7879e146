"""Thompson sampling by hand."""

import math

import pytest

from driftanchor import TS, ArmEvidence, Draws, Round

NOW = Round(t=8, arms=2)
ARM = ArmEvidence(pulls=8, total=3.0, offline_pulls=100, offline_mean=9.0, bias_bound=0.1)


@pytest.mark.parametrize(("z", "expected"), [(0.0, 1 / 3), (1.5, 1 / 3 + 0.5), (-3.0, -2 / 3)])
def test_the_index_by_hand(z: float, expected: float) -> None:
    # 3/(8 + 1) + z/√9
    assert TS().index(ARM, NOW, Draws(z, 0.0, 0.0)) == pytest.approx(expected, rel=1e-14)


def test_prior_mean_and_noise_by_hand() -> None:
    # (3 + 6)/9 + 2·z/3 with z = 0.75
    rule = TS(prior_mean=6.0, noise=2.0)
    assert rule.index(ARM, NOW, Draws(0.75, 0.0, 0.0)) == pytest.approx(1.5, rel=1e-14)


def test_before_the_first_pull_it_samples_the_prior() -> None:
    bare = ArmEvidence(0, 0.0, 0, 0.0, 0.0)
    assert TS().index(bare, NOW, Draws(-0.7, 0.0, 0.0)) == -0.7


def test_logs_and_bias_bound_are_ignored() -> None:
    z = Draws(0.3, 0.0, 0.0)
    bare = ARM._replace(offline_pulls=0, offline_mean=0.0, bias_bound=math.inf)
    assert TS().index(ARM, NOW, z) == TS().index(bare, NOW, z)
