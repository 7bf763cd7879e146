"""Logs that moved together: how they are simulated, and what each engine makes of them."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from driftanchor.simulation.engines import Loop
from driftanchor.simulation.engines.desk import lay_out
from driftanchor.simulation.engines.late import LATE_REWARDS
from driftanchor.simulation.engines.leaping import EVENTS, THINNED
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.rewards import world_of
from driftanchor.simulation.engines.windows import WINDOWS

from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    Bandit,
    GuardedAnchorTS,
    HybridTS,
    InvalidInput,
    MinUCB,
    simulate,
)
from driftanchor.core.common_move import Alone
from driftanchor.simulation import ENGINES

MEANS = [0.75, 0.5, 0.25]
MOVED = Bandit(MEANS, MEANS, 16, relative_bound=0.125, common_shift=-2.0)


def test_a_common_shift_is_part_of_the_online_means() -> None:
    assert MOVED.online.tolist() == [-1.25, -1.5, -1.75]
    assert MOVED.offline.tolist() == MEANS
    assert MOVED.common_shift == -2.0
    assert MOVED.shift.tolist() == [-2.0] * 3
    assert MOVED.gaps.tolist() == Bandit(MEANS).gaps.tolist()


def test_what_is_promised_when_nothing_is_said() -> None:
    assert MOVED.bias_bound.tolist() == [math.inf] * 3
    assert MOVED.is_relative
    levels = Bandit(MEANS, MEANS, 16, common_shift=0.5)
    assert levels.bias_bound.tolist() == [0.5] * 3  # the truth, as ever
    assert levels.relative_bound.tolist() == [math.inf] * 3
    assert not levels.is_relative
    both = Bandit(MEANS, MEANS, 16, 0.5, relative_bound=[0.1, 0.2, math.inf])
    assert (both.bias_bound[0], both.relative_bound.tolist()) == (0.5, [0.1, 0.2, math.inf])


def test_observed_rewards_move_together_too() -> None:
    bandit = Bandit.resampling(
        [[0.0, 1.0], [3.0]], [0.5, 3.0], 4, relative_bound=0.25, common_shift=0.5
    )
    assert bandit.online.tolist() == [1.0, 3.5]
    assert [pool.tolist() for pool in bandit.pools] == [[0.5, 1.5], [3.5]]
    assert bandit.bias_bound.tolist() == [math.inf] * 2


@pytest.mark.parametrize(
    "bandit",
    [
        Bandit([0.1, 0.7], [0.3, 0.2], 9, relative_bound=[0.1, 0.3], common_shift=0.1),
        Bandit.resampling([[0.1], [0.3]], [0.3, 0.2], 9, relative_bound=0.1, common_shift=0.2),
    ],
)
def test_another_process_gets_the_same_bandit(bandit: Bandit) -> None:
    again = pickle.loads(pickle.dumps(bandit))
    for name in ("online", "offline", "bias_bound", "relative_bound"):
        assert getattr(again, name).tolist() == getattr(bandit, name).tolist()
        assert not getattr(again, name).flags.writeable
    assert again.common_shift == bandit.common_shift
    assert [x.tolist() for x in again.pools] == [x.tolist() for x in bandit.pools]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relative_bound": -0.1}, "relative_bound of arm '1' must be at least 0, got -0.1"),
        ({"relative_bound": [0.1, math.nan]}, "relative_bound of arm '2' must be a number"),
        ({"relative_bound": [0.1]}, "relative_bound has 1 values for 2 arms"),
        ({"relative_bound": {"3": 1.0}}, "unknown arm '3'"),
        ({"relative_bound": 0.1, "offline_pulls": 0}, "relative_bound is given and no arm has"),
        (
            {"relative_bound": 0.1, "offline_pulls": [5, 0]},
            "only arm '1' has both: with one logged arm a common move cannot be separated",
        ),
        ({"common_shift": math.inf}, "common_shift must be finite, got inf"),
        ({"common_shift": "far"}, "common_shift must be a number, got 'far'"),
        (
            {"common_shift": 0.3, "reward": "bernoulli"},
            "common_shift is 0.3 and moves the online mean of arm '1' to 1.1: it must stay between",
        ),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    world: dict[str, Any] = {"online": [0.8, 0.5], "offline": [0.8, 0.5], "offline_pulls": 5}
    with pytest.raises(InvalidInput, match=message):
        Bandit(**(world | options))


@pytest.mark.parametrize("options", [{"bias_bound": 0.1}, {"bias_bound": [0.0, 0.2]}])
def test_bounds_that_just_fit_together_are_taken(options: dict[str, Any]) -> None:
    assert Bandit([0.8, 0.5], 0.5, 5, relative_bound=0.2, **options).is_relative


def test_every_round_is_played_where_logs_move_together() -> None:
    apart = Bandit(MEANS, MEANS, 16)
    for engine in (ENGINES["events"], ENGINES["thinned"]):
        assert engine.loop_for(AnchorTS, MOVED) is EVERY_ROUND
        assert engine.loop_for(MinUCB, MOVED) is EVERY_ROUND
        assert engine.loop_for(MinUCB, apart) is WINDOWS
    assert ENGINES["events"].loop_for(AnchorTS, apart) is EVENTS
    assert ENGINES["thinned"].loop_for(AnchorTS, apart) is THINNED
    assert ENGINES["events"].loop_for(TS, MOVED) is EVENTS  # it uses no logs
    slow = Bandit(MEANS, MEANS, 16, relative_bound=0.1, delay=1)
    assert ENGINES["events"].loop_for(AnchorTS, slow) is LATE_REWARDS


@pytest.mark.parametrize("name", ["hybrid-ts", "hybrid-ucb", "min-ucb", "hierarchical-ts"])
def test_what_all_logs_are_off_by_changes_no_pull(name: str) -> None:
    """With as many logs of each arm even the first pull depends on differences alone."""
    played = [
        simulate(
            name,
            Bandit(MEANS, np.array(MEANS) + off, 16, relative_bound=0.125, logs="given"),
            horizon=200,
            runs=20,
            engine="every-round",
        ).pulls
        for off in (0.0, 4.0, -16.0)
    ]
    np.testing.assert_array_equal(played[0], played[1])
    np.testing.assert_array_equal(played[0], played[2])


@pytest.mark.parametrize("name", [name for name in POLICIES if not POLICIES[name].uses_logs])
def test_what_uses_no_logs_draws_nothing_more(name: str) -> None:
    coins = Bandit(MEANS, reward="bernoulli")  # which every policy takes
    plain = simulate(name, coins, horizon=100, runs=5, engine="every-round")
    promised = Bandit(MEANS, MEANS, 16, reward="bernoulli", relative_bound=0.1)
    beside = simulate(name, promised, horizon=100, runs=5, engine="every-round")
    assert plain.regret.tobytes() == beside.regret.tobytes()


def test_an_infinite_relative_bound_is_none() -> None:
    for name in POLICIES:
        results = [
            simulate(name, bandit, horizon=60, runs=4, engine="every-round").regret.tobytes()
            for bandit in (
                Bandit(MEANS, 0.5, 9, 0.2, "bernoulli"),
                Bandit(MEANS, 0.5, 9, 0.2, "bernoulli", relative_bound=math.inf),
            )
        ]
        assert results[0] == results[1]


def test_logs_that_moved_together_spare_what_they_would_have_spared() -> None:
    """Mean regret of 200 runs with a fixed seed; the margins are some ten standard errors wide."""
    fit = Bandit([0.8] + [0.5] * 9, [0.8] + [0.5] * 9, 200, relative_bound=0.0, common_shift=-1.0)
    policies = ["ts", "anchor-ts", "hybrid-ts"]
    lost = simulate(policies, fit, horizon=2_000, runs=200, engine="every-round").summary()
    assert lost["anchor-ts"]["mean"] < 0.5 * lost["ts"]["mean"]
    assert lost["hybrid-ts"]["mean"] < 0.35 * lost["ts"]["mean"]


def test_a_world_has_the_promises() -> None:
    world = world_of(MOVED)
    assert world.relative_bounds.tolist() == [0.125] * 3
    desk = lay_out(world, HybridTS())
    assert desk.evidence.relative_bounds.tolist() == [0.125] * 3


@pytest.mark.parametrize("loop", [EVERY_ROUND, LATE_REWARDS])
def test_what_moves_arms_is_compiled_only_for_policies_whose_arms_move(loop: Loop) -> None:
    """A rule with a `choose` of its own looks for itself, and one without logs at nothing."""
    moved, alone = world_of(MOVED), world_of(Bandit(MEANS, MEANS, 16))
    assert loop.lay_out(moved, AnchorTS()).together is True
    for world, policy in ((alone, AnchorTS()), (moved, TS()), (moved, GuardedAnchorTS())):
        together = loop.lay_out(world, policy).together
        assert (type(together), bool(together)) == (Alone, False)
