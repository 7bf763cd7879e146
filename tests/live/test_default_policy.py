"""The default policy fits the units of the rewards, and says why."""

import math

import pytest

from driftanchor import (
    GuardedAnchorTS,
    Learner,
    OfflineData,
)

LOGS = OfflineData.from_summary({"A": (200, 50.0, 90.0), "B": (100, 56.0, 120.0)})


SD = math.sqrt((199 * 90 + 99 * 120) / 298)


# 5 % of chi-square laws lie below these (any table has them): the limit is s √(ν/χ²).
TABLE = {2: 0.103, 5: 1.145, 10: 3.940, 30: 18.493, 100: 77.929}


def test_without_a_policy_it_is_the_guarded_rule_in_the_units_of_the_logs() -> None:
    learner = Learner(offline=LOGS, bias_bound=5.0)
    rule = learner.policy
    assert isinstance(rule, GuardedAnchorTS)
    assert rule == GuardedAnchorTS(prior_mean=rule.prior_mean, noise=rule.noise)
    assert rule.prior_mean == pytest.approx(52.0)
    assert SD < rule.noise < 1.1 * SD
    text = "\n".join(learner.reasons)
    for word in (
        "guarded-anchor-ts is the default",
        "anchor-ts is the paper",
        "52:",
        "9.998",
        "estimated",
    ):
        assert word in text


@pytest.mark.parametrize("degrees", TABLE)
def test_the_noise_is_an_upper_limit_of_the_standard_deviation(degrees: int) -> None:
    logs = OfflineData.from_summary({"A": (degrees, 1.0, 9.0), "B": (2, 1.0, 9.0), "C": (1, 1.0)})
    limit = 3.0 * math.sqrt(degrees / TABLE[degrees])
    assert logs.noise_limit() == pytest.approx(limit, rel=0.15 if degrees == 2 else 0.01)
    assert logs.noise_limit() > 0.999 * limit
    assert Learner(offline=logs, bias_bound=0.0).policy.noise == logs.noise_limit()


def test_with_more_logs_the_limit_comes_down_to_the_standard_deviation() -> None:
    logs = OfflineData.from_summary({"A": (10**12, 1.0, 9.0)})
    assert logs.noise_limit() == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("row", [(0,), (2, 1.0, 4.0), (50, 1.0)])
def test_too_few_logs_have_no_limit(row: tuple[float, ...]) -> None:
    assert math.isnan(OfflineData.from_summary({"A": row, "B": (1, 2.0, 0.0)}).noise_limit())


@pytest.mark.parametrize(
    ("variance", "noise"),
    [(0.04, 0.2), (0.24, 0.5), (9.0, 0.5), (None, 0.5), (0.0, 0.5)],
)
def test_a_declared_range_holds_the_noise_down_to_half_of_it(
    variance: float | None, noise: float
) -> None:
    logs = OfflineData.from_summary({"A": (400, 0.3, variance)})
    rule = Learner(offline=logs, bias_bound=0.1, reward_range=(0, 1)).policy
    assert rule.prior_mean == 0.3
    assert noise <= rule.noise < min(1.07 * noise, 0.5 + 1e-9)


def test_without_logs_the_units_come_from_the_range_or_are_assumed() -> None:
    learner = Learner(arms=["A"], reward_range=(0, 10))
    assert (learner.policy.prior_mean, learner.policy.noise) == (5.0, 5.0)
    assert len(learner.reasons) == 3  # no logs, nothing to say of a bias bound
    for reward_range in (None, (0.0, math.inf)):
        learner = Learner(arms=["A"], reward_range=reward_range)
        assert (learner.policy.prior_mean, learner.policy.noise) == (0.0, 1.0)
        assert "noise 1: assumed" in learner.reasons[2]


@pytest.mark.parametrize(
    ("source", "eps", "budget"),
    [("proved", 0.0, 0.0), ("estimated", 0.2, 5.0), ("guessed", 0.4, 8.0)],
)
def test_the_less_sure_the_bias_bound_the_more_the_guard_insures(
    source: str, eps: float, budget: float
) -> None:
    learner = Learner(offline=LOGS, bias_bound=5.0, bias_bound_source=source)
    assert isinstance(learner.policy, GuardedAnchorTS)
    assert (learner.policy.eps, learner.policy.budget) == (eps, budget)
    begins = f"budget {budget:g}, eps {eps:g}: the bounds are {source}, so "
    assert learner.reasons[3].startswith(begins)


def test_logs_without_variance_are_warned_of() -> None:
    bare = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48)})
    with pytest.warns(UserWarning, match="no variance, so noise=1 is assumed") as caught:
        Learner(offline=bare, bias_bound=0.1)
    assert caught[0].filename == __file__
