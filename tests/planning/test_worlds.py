"""The worlds: moves of arms on their own and together, as the promise says."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor import OfflineData
from driftanchor.core.check import Floats
from driftanchor.planning.promise import Promise, promised
from driftanchor.planning.reward_law import RewardLaw
from driftanchor.planning.worlds import Worlds, common_scale, shifts_of

COINS = RewardLaw("bernoulli", 0.5, "")
MONEY = RewardLaw("gaussian", 2.0, "")
RATES = OfflineData.from_summary(
    {x: (2000, m, m * (1 - m)) for x, m in {"A": 0.12, "B": 0.10, "C": 0.08, "D": 0.05}.items()}
)
SALES = OfflineData.from_summary({"A": (200, 7.0, 4.0), "B": (200, 6.0, 4.0), "C": (200, 5.5, 4.0)})


def moves(logs: OfflineData, law: RewardLaw, promise: Promise) -> tuple[Floats, Floats]:
    """The moves of each arm in each world: expected, and as bad as can be."""
    truth = Worlds.draw(logs, law, promise, 300, 0)
    expected, bad = (np.stack([b.online for b in x(promise)]) for x in (truth.expected, truth.bad))
    return expected - truth.means, bad - truth.means


def test_with_levels_alone_each_mean_moves_within_its_bound() -> None:
    bounds = np.array([0.01, 0.02, 0.0, 0.03])
    promise = promised(bounds.tolist(), None, RATES).promise
    truth = Worlds.draw(RATES, COINS, promise, 40, 0)
    for world, bandit in enumerate(truth.expected(promise)):
        assert bandit.logs == "given"
        assert (bandit.offline == RATES.mean).all()
        assert (bandit.offline_pulls == RATES.n).all()
        assert (bandit.bias_bound == bounds).all()
        moved = np.abs(bandit.online - truth.means[world])
        assert (moved <= bounds + 1e-15).all()
    for shift, up in ((0.01, 1), (0.015, 1), (0.0201, 2), (0.04, 3)):
        against = np.zeros(4)
        against[[0, up]] = -shift, shift
        far = truth.moved(shift, promise)[0]
        assert far.online == pytest.approx(np.clip(truth.means[0] + against, 0, 1))
    assert truth.bad(promise)[0].online == pytest.approx(
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
    truth = Worlds.draw(RATES, COINS, promised(None, 0.0, RATES).promise, 500, 0)
    online = np.stack([bandit.online for bandit in truth.expected(truth.promise)])
    assert ((online >= 0) & (online <= 1)).all()
    assert online - online.mean(axis=1, keepdims=True) == pytest.approx(
        truth.means - truth.means.mean(axis=1, keepdims=True)
    )
    assert online.mean(axis=1).std() > 0.02
    assert common_scale(RATES, COINS) == pytest.approx(0.0875 * 0.9125)


def test_both_promises_hold_in_every_expected_world_and_in_the_bad_case() -> None:
    promise = promised(0.3, 0.2, SALES).promise
    for moved in moves(SALES, MONEY, promise):
        assert (np.abs(moved) <= 0.3 + 1e-12).all()
        assert (np.ptp(moved, axis=1) <= 0.4 + 1e-12).all()
    assert moves(SALES, MONEY, promise)[1].mean(axis=1).std() > 0.03


def test_policies_are_given_both_promises_and_none_without_logs() -> None:
    promise = promised(0.3, 0.2, SALES).promise
    truth = Worlds.draw(SALES, MONEY, promise, 2, 0)
    given, cold = truth.expected(promise)[0], truth.expected(promise, logs=False)[0]
    assert set(given.bias_bound) == {0.3}
    assert set(given.relative_bound) == {0.2}
    assert not cold.offline_pulls.any()
    assert (given.online == cold.online).all()


def test_what_the_promise_allows() -> None:
    truth = Worlds.draw(
        SALES, MONEY, promised({"A": 0.6, "B": 0.6, "C": 0.1}, None, SALES).promise, 2, 0
    )
    assert truth.allows(0.6)  # A and B change places
    assert not truth.allows(0.76)  # A and C would
    assert not truth.allows(0.61)


def test_shifts_are_in_units_of_the_logs() -> None:
    shifts = shifts_of(SALES, MONEY)
    assert shifts == pytest.approx([0, 0.5, 0.75, 1.5, 3, 6])  # half of each gap, then doubled
    noisy = OfflineData.from_summary({"A": (8, 5.1, 4.0), "B": (8, 5.0, 4.0)})
    assert shifts_of(noisy, MONEY)[1] == pytest.approx(0.5)  # half of the gap's standard error
    many = {str(i): (10**6, 1 - 2.0**-i, 1.0) for i in range(1, 18)}
    shifts = shifts_of(OfflineData.from_summary(many), RewardLaw("gaussian", 1.0, ""))
    assert len(shifts) <= 12
    assert shifts == sorted(shifts)
    alone = OfflineData.from_summary({"A": (4, 5.0, 4.0), "new": (0,)})
    assert shifts_of(alone, MONEY) == pytest.approx([0, 1, 2, 4, 8])
    assert max(shifts_of(OfflineData.from_summary({"A": (9, 0.9), "B": (9, 0.1)}), COINS)) < 1
