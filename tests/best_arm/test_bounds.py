"""The bounds of LUCB-H by hand, and the level of the radius that holds in all rounds at once."""

import math

import pytest

from driftanchor import ArmEvidence, Round
from driftanchor.best_arm.bounds import AIM, Interval, Rule, interval, radius

PAPER, ANYTIME = Rule(2.0, 0.1, False), Rule(2.0, 0.1, True)
NOW = Round(t=40, arms=3)
ARM = ArmEvidence(pulls=4, total=2.0, offline_pulls=12, offline_mean=0.7, bias_bound=0.1)
LEVEL = 2 * math.log(3 * 40 / 0.1)


def test_the_papers_bounds_by_hand() -> None:
    online = (0.5 - 2 * math.sqrt(LEVEL / 4), 0.5 + 2 * math.sqrt(LEVEL / 4))
    wide = 2 * math.sqrt(LEVEL / 16) + 12 * 0.1 / 16
    pooled = ((2 + 12 * 0.7) / 16 - wide, (2 + 12 * 0.7) / 16 + wide)
    assert interval(PAPER, ARM, NOW) == pytest.approx(
        (max(online[0], pooled[0]), min(online[1], pooled[1])), rel=1e-14
    )
    assert pooled[1] < online[1]  # the logs help


def test_each_bound_is_the_tighter_one() -> None:
    far = ARM._replace(
        offline_mean=6.0
    )  # the logs are far above: only their lower bound is tighter
    found, alone = interval(PAPER, far, NOW), interval(PAPER, far._replace(offline_pulls=0), NOW)
    assert found.lower > alone.lower
    assert found.upper == alone.upper


def test_logs_that_break_their_promise_may_leave_nothing() -> None:
    sure = ARM._replace(pulls=5_000, total=0.0, offline_pulls=5_000, offline_mean=1.0)
    found = interval(PAPER, sure, NOW)
    assert found.lower > found.upper


@pytest.mark.parametrize("rule", [PAPER, ANYTIME])
def test_logs_of_which_nothing_is_promised_change_nothing(rule: Rule) -> None:
    unknown = ARM._replace(bias_bound=math.inf)
    assert interval(rule, unknown, NOW) == interval(rule, ARM._replace(offline_pulls=0), NOW)


def test_the_anytime_radius_is_the_mixture_of_the_definition() -> None:
    """With v = σ²/n and τ² = σ²/ρ: r² = v (v + τ²)/τ² (log((v + τ²)/v) + 2 log(1/α))."""
    n, alpha, sigma = 37, 0.1 / 3, 2.0
    cost = 2 * math.log(1 / alpha)
    rho = AIM / (cost + math.log(1 + cost))
    v, tau2 = sigma**2 / n, sigma**2 / rho
    expected = math.sqrt(v * (v + tau2) / tau2 * (math.log((v + tau2) / v) + cost))
    assert radius(ANYTIME, n, alpha, AIM, NOW) == pytest.approx(expected, rel=1e-12)
    alone = ARM._replace(pulls=n, total=0.0, offline_pulls=0)
    assert interval(ANYTIME, alone, NOW) == pytest.approx(Interval(-expected, expected))


def test_with_logs_two_intervals_share_the_chance() -> None:
    alone = interval(ANYTIME, ARM._replace(offline_pulls=0), NOW)
    useless = interval(ANYTIME, ARM._replace(bias_bound=1e9), NOW)
    assert useless.upper - useless.lower > alone.upper - alone.lower
