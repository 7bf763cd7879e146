"""SAM-TS by hand, its edges, and its weights against a posterior that is integrated on a grid."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import TS, ArmEvidence, Draws, Round, SamTS
from driftanchor.policies.sam_ts import log_odds, share

NOW = Round(t=5, arms=2)
ARM = ArmEvidence(pulls=4, total=2.0, offline_pulls=12, offline_mean=0.25, bias_bound=1.0)


def parts(arm: ArmEvidence, **units: float) -> dict[str, float]:
    return SamTS(**units).explain(arm, NOW, Draws(1.0, 0.0, 0.0))


def test_both_samples_by_hand() -> None:
    seen = parts(ARM)
    assert seen["hybrid_sample"] == pytest.approx((2 + 12 * 0.25) / 16 + 1 / 4)
    assert seen["online_sample"] == pytest.approx(2 / 5 + 1 / math.sqrt(5))


def test_the_weight_by_hand() -> None:
    # D = 0.25, so w = 1/(1 + exp(−4·1·(1 − 0.5)/2)) = 1/(1 + 1/e)
    w = 1 / (1 + math.exp(-1))
    fits = NormalDist(0.25, math.sqrt(1 / 12 + 1 / 4)).pdf(0.5)
    vague = NormalDist(0.0, math.sqrt(1 + 1 / 4)).pdf(0.5)
    assert parts(ARM)["fit"] == pytest.approx(w * fits / (w * fits + (1 - w) * vague))


@pytest.mark.parametrize("bound", [0.0, 0.3, 2.0])
def test_the_posterior_is_that_of_the_mixture_prior(bound: float) -> None:
    """The mean of the index over noise, against the posterior mean integrated on a grid."""
    arm, noise, m0 = ARM._replace(bias_bound=bound), 0.5, 0.1
    rule = SamTS(prior_mean=m0, noise=noise)
    belief = rule.believe(arm)
    ours = belief.fit * belief.hybrid_mean + (1 - belief.fit) * belief.online_mean
    mu = np.linspace(-6, 6, 200_001)

    def normal(x: float | np.ndarray, mean: float | np.ndarray, sd: float) -> np.ndarray:
        return np.asarray(np.exp(-((x - mean) ** 2) / (2 * sd**2)) / sd)

    w = 1 / (1 + math.exp(-4 * bound * (bound - 2 * 0.25) / (2 * noise**2)))
    prior = w * normal(mu, 0.25, noise / math.sqrt(12)) + (1 - w) * normal(mu, m0, noise)
    posterior = prior * normal(0.5, mu, noise / 2)
    assert ours == pytest.approx(float((mu * posterior).sum() / posterior.sum()), rel=1e-6)


def test_the_coin_picks_the_part() -> None:
    rule, seen = SamTS(), parts(ARM)
    below, above = seen["fit"] - 1e-9, seen["fit"]
    assert rule.index(ARM, NOW, Draws(1.0, 0.0, below)) == seen["hybrid_sample"]
    assert rule.index(ARM, NOW, Draws(1.0, 0.0, above)) == seen["online_sample"]


def test_before_the_first_reward_either_part_is_as_likely() -> None:
    fresh = ARM._replace(pulls=0, total=0.0)
    seen = parts(fresh)
    assert seen["fit"] == 0.5
    assert seen["hybrid_sample"] == pytest.approx(0.25 + 1 / math.sqrt(12))
    assert seen["online_sample"] == 1.0


def test_rewards_far_from_the_logs_leave_them_aside() -> None:
    assert parts(ARM._replace(pulls=400, total=400.0, bias_bound=0.1))["fit"] < 1e-9
    assert parts(ARM._replace(pulls=400, total=100.0, bias_bound=0.1))["fit"] > 0.9


@given(
    st.integers(0, 10**6), st.floats(-1e6, 1e6), st.booleans(), st.floats(-9, 9), st.floats(0, 0.99)
)
def test_without_logs_or_without_a_promise_it_is_ts(
    pulls: int, total: float, logged: bool, z: float, coin: float
) -> None:
    total = total if pulls else 0.0
    arm = ArmEvidence(pulls, total, 9 if logged else 0, 0.5, math.inf if logged else 0.1)
    draws = Draws(z, 0.0, coin)
    assert SamTS().index(arm, NOW, draws) == TS().index(arm, NOW, draws)


@pytest.mark.parametrize("bound", [0.0, 1e-300, 1e150, 1e308])
@pytest.mark.parametrize("noise", [1e-9, 1.0, 1e9])
def test_nothing_overflows(bound: float, noise: float) -> None:
    arm = ARM._replace(pulls=10**9, total=1e9, bias_bound=bound)
    assert 0.0 <= parts(arm, noise=noise)["fit"] <= 1.0


def test_odds_of_any_size_are_a_share() -> None:
    assert [share(x) for x in (-math.inf, -800.0, 0.0, 800.0, math.inf)] == [0, 0, 0.5, 1, 1]
    assert share(1.0) + share(-1.0) == pytest.approx(1.0)


def test_a_bound_of_zero_says_nothing_either_way() -> None:
    # w = 1/2: only how likely the rewards are counts
    exact = log_odds(ARM._replace(bias_bound=0.0), 0.0, 1.0)
    fits = NormalDist(0.25, math.sqrt(1 / 12 + 1 / 4)).pdf(0.5)
    assert exact == pytest.approx(math.log(fits / NormalDist(0.0, math.sqrt(1.25)).pdf(0.5)))


def test_logs_that_moved_along_are_judged_where_they_are_now() -> None:
    apart = ARM._replace(offline_mean=-1.75, bias_bound=math.inf, relative_bound=0.0)
    there = SamTS().moved(apart, 2.0)
    assert there.offline_mean == 0.25
    assert parts(there) == pytest.approx(parts(ARM._replace(bias_bound=0.0)))
