"""The worlds: moves of arms on their own and together, as the promise says."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor import OfflineData
from driftanchor.core.check import Floats
from driftanchor.planning.promise import Promise, promised
from driftanchor.planning.reward_law import RewardLaw
from driftanchor.planning.worlds import Worlds, against, common_scale, shifts_of

COINS = RewardLaw("bernoulli", 0.5, "")
MONEY = RewardLaw("gaussian", 2.0, "")
RATES = OfflineData.from_summary(
    {x: (2000, m, m * (1 - m)) for x, m in {"A": 0.12, "B": 0.10, "C": 0.08, "D": 0.05}.items()}
)
SALES = OfflineData.from_summary({"A": (200, 7.0, 4.0), "B": (200, 6.0, 4.0), "C": (200, 5.5, 4.0)})


def moves(logs: OfflineData, law: RewardLaw, promise: Promise) -> tuple[Floats, Floats]:
    """The moves of each arm in each world: in the expected worlds, and in the worst case."""
    truth = Worlds.draw(logs, law, promise, 1000, 300, 0)
    scenes = truth.expected, truth.worst
    expected, worst = (np.stack([b.online for b in scene(promise)]) for scene in scenes)
    return expected - truth.means, worst - truth.means


def test_with_levels_alone_each_mean_moves_within_its_bound() -> None:
    bounds = np.array([0.01, 0.02, 0.0, 0.03])
    promise = promised(bounds.tolist(), None, RATES).promise
    truth = Worlds.draw(RATES, COINS, promise, 10_000, 40, 0)
    for world, bandit in enumerate(truth.expected(promise)):
        assert bandit.logs == "given"
        assert (bandit.offline == RATES.mean).all()
        assert (bandit.offline_pulls == RATES.n).all()
        assert (bandit.bias_bound == bounds).all()
        moved = np.abs(bandit.online - truth.means[world])
        assert (moved <= bounds + 1e-15).all()
    for shift, up in ((0.01, 1), (0.02, 1), (0.03, 2), (0.06, 3)):
        against = np.zeros(4)
        against[[0, up]] = -shift, shift
        far = truth.moved(shift, promise)[0]
        assert far.online == pytest.approx(np.clip(truth.means[0] + against, 0, 1))
    assert truth.worst(promise)[0].online == pytest.approx(
        np.clip(truth.means[0] + [-0.01, 0.02, 0, 0], 0, 1)
    )


def test_no_level_no_limit_to_the_common_move() -> None:
    promise = promised(None, 0.1, SALES).promise
    expected, bad = moves(SALES, MONEY, promise)
    for moved in (expected, bad):
        assert (np.ptp(moved, axis=1) <= 0.2 + 1e-12).all()  # arms move apart by 2 W at most
    common = bad.mean(axis=1)
    assert common.std() == pytest.approx(2.0, rel=0.2)  # the noise; 300 draws: ± 4 %
    assert abs(common.mean()) < 0.5
    assert np.ptp(expected, axis=1).max() > 0.15


def test_a_common_move_keeps_rates_inside_and_in_their_order() -> None:
    truth = Worlds.draw(RATES, COINS, promised(None, 0.0, RATES).promise, 1000, 500, 0)
    online = np.stack([bandit.online for bandit in truth.expected(truth.promise)])
    assert ((online >= 0) & (online <= 1)).all()
    assert online - online.mean(axis=1, keepdims=True) == pytest.approx(
        truth.means - truth.means.mean(axis=1, keepdims=True)
    )
    assert online.mean(axis=1).std() > 0.02
    assert common_scale(RATES, COINS) == pytest.approx(0.0875 * 0.9125)


def test_both_promises_hold_in_every_expected_world_and_in_the_worst_case() -> None:
    promise = promised(0.3, 0.2, SALES).promise
    for moved in moves(SALES, MONEY, promise):
        assert (np.abs(moved) <= 0.3 + 1e-12).all()
        assert (np.ptp(moved, axis=1) <= 0.4 + 1e-12).all()
    assert moves(SALES, MONEY, promise)[1].mean(axis=1).std() > 0.03


def test_policies_are_given_both_promises_and_none_without_logs() -> None:
    promise = promised(0.3, 0.2, SALES).promise
    truth = Worlds.draw(SALES, MONEY, promise, 1000, 2, 0)
    given, cold = truth.expected(promise)[0], truth.expected(promise, logs=False)[0]
    assert set(given.bias_bound) == {0.3}
    assert set(given.relative_bound) == {0.2}
    assert not cold.offline_pulls.any()
    assert (given.online == cold.online).all()


def test_the_arm_that_rises_is_the_one_that_costs_most() -> None:
    """10,000 rounds, gaps of 0.02, 0.04 and 0.07 to the leader, 2,000 logged rewards."""
    raised = {
        shift: int(np.argmax(against(RATES, np.full(4, shift), 10_000)))
        for shift in (0.001, 0.01, 0.02, 0.021, 0.03, 0.04, 0.06, 0.2)
    }
    # Up to 0.01 no arm overtakes, so it is the next one. Up to 0.02 only B overtakes. At 0.03 a
    # rule that trusts the logs plays A for 4,000 rounds before B, and for ever if C is better.
    assert raised == {0.001: 1, 0.01: 1, 0.02: 1, 0.021: 1, 0.03: 2, 0.04: 2, 0.06: 3, 0.2: 3}


def test_the_move_follows_the_bounds_of_each_arm() -> None:
    assert against(SALES, np.array([0.6, 0.6, 0.1]), 1000).tolist() == [-0.6, 0.6, 0]
    assert against(SALES, np.array([0.2, 0.1, 3.0]), 1000).tolist() == [-0.2, 0, 3]
    assert not against(SALES, np.zeros(3), 1000).any()
    alone = OfflineData.from_summary({"A": (4, 5.0, 4.0), "new": (0,)})
    assert against(alone, np.ones(2), 1000).tolist() == [-1, 1]


def test_a_wider_bound_allows_no_milder_worst_case() -> None:
    """What a rule loses that plays the leader of the logs for ever grows with the bound."""
    logs = OfflineData.from_summary({"A": (6400, 0.113), "B": (6400, 0.088), "C": (6400, 0.078)})
    gaps = []
    for reach in np.linspace(0.013, 0.03, 35):
        online = logs.mean + against(logs, np.full(3, reach), 10_000)
        gaps.append(online.max() - online[0])
    assert gaps == sorted(gaps)


def test_shifts_are_in_units_of_the_logs() -> None:
    shifts = shifts_of(SALES, MONEY)
    assert (shifts[0], len(shifts)) == (0.0, 9)
    assert shifts[1:] == pytest.approx(np.geomspace(0.5, 3.0, 8))  # half of each gap: 0.5, 0.75
    noisy = OfflineData.from_summary({"A": (8, 5.1, 4.0), "B": (8, 5.0, 4.0)})
    assert shifts_of(noisy, MONEY)[1] == pytest.approx(0.5)  # half of the gap's standard error
    alone = OfflineData.from_summary({"A": (4, 5.0, 4.0), "new": (0,)})
    assert shifts_of(alone, MONEY)[1:] == pytest.approx(np.geomspace(1, 4, 8))
    assert max(shifts_of(OfflineData.from_summary({"A": (9, 0.9), "B": (9, 0.1)}), COINS)) < 1
