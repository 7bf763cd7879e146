"""ε-exploring Thompson sampling by hand."""

import math
from typing import Any

import pytest

from driftanchor import ArmEvidence, Draws, EpsilonTS, InvalidInput, Round

ARM = ArmEvidence(pulls=4, total=2.0, offline_pulls=50, offline_mean=9.0, bias_bound=0.1)
SAMPLE, MEAN = 0.5 + 1.5, 0.5  # 2/4 + 3/√4 and 2/4


@pytest.mark.parametrize(
    ("epsilon", "arms", "coin", "expected"),
    [
        (None, 5, 0.19, SAMPLE),  # 1/K = 0.2
        (None, 5, 0.2, MEAN),
        (None, 1, 0.99, SAMPLE),
        (0.7, 5, 0.69, SAMPLE),
        (0.7, 5, 0.7, MEAN),
        (0.0, 5, 0.0, MEAN),  # never
        (1.0, 5, 1 - 2**-53, SAMPLE),  # always
    ],
)
def test_the_coin_chooses_between_mean_and_sample(
    epsilon: float | None, arms: int, coin: float, expected: float
) -> None:
    rule = EpsilonTS(epsilon=epsilon)
    assert rule.index(ARM, Round(9, arms), Draws(3.0, 0.0, coin)) == expected


def test_every_arm_has_its_own_coin() -> None:
    rule, now = EpsilonTS(epsilon=0.5), Round(9, 2)
    draws = Draws(3.0, 0.0, 0.1), Draws(3.0, 0.0, 0.9)
    assert [rule.index(ARM, now, z) for z in draws] == [SAMPLE, MEAN]


def test_noise_by_hand() -> None:
    # 2/4 + 5·3/√4
    assert EpsilonTS(noise=5.0, epsilon=1).index(ARM, Round(9, 2), Draws(3.0, 0.0, 0.0)) == 8.0


def test_an_unpulled_arm_comes_first() -> None:
    unpulled = ARM._replace(pulls=0, total=0.0)
    assert EpsilonTS().index(unpulled, Round(9, 2), Draws(-3.0, 0.0, 0.9)) == math.inf


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-0.1, r"epsilon of policy 'epsilon-ts' must be between 0 and 1, got -0\.1"),
        (1.1, r"epsilon of policy 'epsilon-ts' must be between 0 and 1, got 1\.1"),
        (math.nan, "epsilon of policy 'epsilon-ts' must be a number, got nan"),
        ("1/K", "epsilon of policy 'epsilon-ts' must be a number, got '1/K'"),
    ],
)
def test_an_unusable_epsilon_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        EpsilonTS(epsilon=value)
