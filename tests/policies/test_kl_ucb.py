"""KL-UCB against 40 digits, by hand, and against a naive simulator that plays the same arms."""

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_runs import Array, naive_pulls

from driftanchor import KLUCB, UCB, ArmEvidence, Bandit, Draws, InvalidInput, Round, simulate
from driftanchor.policies.kl_ucb import largest_chance

SILENT = Draws(0.0, 0.0, 0.0)
ARM = ArmEvidence(pulls=8, total=2.0, offline_pulls=50, offline_mean=9.0, bias_bound=0.1)


def divergence(p: Decimal, q: Decimal) -> Decimal:
    return p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln()


def bisected(p: float, level: float) -> float:
    """The largest q with d(p, q) ≤ level, by bisection with 40 digits."""
    with localcontext() as digits:
        digits.prec = 40
        below, above, d = Decimal(p), Decimal(1), Decimal(level)
        for _ in range(100):
            middle = (below + above) / 2
            below, above = (
                (middle, above) if divergence(Decimal(p), middle) <= d else (below, middle)
            )
        return float(below)


@pytest.mark.parametrize("p", [1e-9, 0.01, 0.25, 0.5, 0.9, 0.999, 1 - 1e-9])
@pytest.mark.parametrize("level", [1e-12, 1e-4, 0.1, 1.0, 3.0])
def test_the_largest_chance_agrees_with_40_digits(p: float, level: float) -> None:
    exact = bisected(p, level)
    assert largest_chance(p, level) == pytest.approx(exact, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "level", "expected"),
    [
        (0.0, math.log(4.0), 0.75),  # −log(1 − q) = log 4
        (0.0, 0.0, 0.0),
        (0.3, 0.0, 0.3),
        (1.0, 2.0, 1.0),
        (0.5, 500.0, 1.0),
        (math.inf, 1.0, math.inf),
    ],
)
def test_the_ends_by_hand(p: float, level: float, expected: float) -> None:
    assert largest_chance(p, level) == pytest.approx(expected, rel=1e-15)


@given(st.floats(0.0, 1.0), st.floats(0.0, 50.0), st.floats(0.0, 50.0))
def test_it_never_falls_by_waiting(p: float, level: float, more: float) -> None:
    assume(more > 1e-9 * level)
    low, high = largest_chance(p, level), largest_chance(p, level + more)
    assert p <= low <= 1.0
    assert low <= high or high == pytest.approx(low, rel=4e-16)


def test_the_budget_by_hand() -> None:
    # after 20 plays: log 20 + 3 log log 20, for 8 pulls of mean 1/4
    level = math.log(20) + 3 * math.log(math.log(20))
    assert KLUCB(c=3).index(ARM, Round(21, 2), SILENT) == pytest.approx(bisected(0.25, level / 8))
    wide = KLUCB(reward="gaussian", noise=2.0, c=3).index(ARM, Round(21, 2), SILENT)
    assert wide == pytest.approx(0.25 + 2 * math.sqrt(2 * level / 8), rel=1e-14)
    early = KLUCB(c=3).index(ARM, Round(3, 2), SILENT)  # log log 2 is negative and counts as 0
    assert early == pytest.approx(bisected(0.25, math.log(2) / 8))


@given(st.integers(0, 10**6), st.floats(-1e6, 1e6), st.integers(1, 10**6))
def test_for_gaussian_rewards_without_c_it_is_ucb(pulls: int, total: float, t: int) -> None:
    arm, now = ARM._replace(pulls=pulls, total=total if pulls else 0.0), Round(t, 2)
    mine = KLUCB(reward="gaussian").index(arm, now, SILENT)
    assert mine == pytest.approx(UCB().index(arm, now, SILENT), rel=1e-14)


def test_a_naive_simulator_plays_the_same_arms() -> None:
    rng = np.random.default_rng(8)
    bandit = Bandit.resampling([rng.beta(a, 2, 500) for a in (3, 2, 1)])  # no ties

    def indices(pulls: Array, totals: Array, t: int) -> Array:
        """The last point of a fine grid that is not ruled out, then halved ten times more."""
        p, level = (totals / pulls)[:, None], (math.log(t - 1) / pulls)[:, None]
        low, high = p, np.ones_like(p)
        for _ in range(50):
            q = (low + high) / 2
            inside = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)) <= level
            low, high = np.where(inside, q, low), np.where(inside, high, q)
        return low[:, 0]

    ours = simulate("kl-ucb", bandit, horizon=300, runs=3, seed=6, engine="every-round").pulls[0]
    for run in range(3):
        assert naive_pulls(indices, bandit, 300, 6, run).tolist() == ours[run].tolist()


def test_only_coins_need_rewards_between_0_and_1() -> None:
    bandit = Bandit([0.5, 3.0])
    simulate(KLUCB(reward="gaussian"), bandit, horizon=3, runs=1, engine="interpreted")
    with pytest.raises(InvalidInput, match="'kl-ucb' is for rewards from 0 to 1, and gaussian"):
        simulate("kl-ucb", bandit, horizon=3, runs=1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": -1}, "c of policy 'kl-ucb' must be at least 0, got -1"),
        ({"reward": "coins"}, "unknown reward of policy 'kl-ucb' 'coins'; known: bernoulli, gauss"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        KLUCB(**parameters)
