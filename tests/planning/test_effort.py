"""How many worlds are played, and what is said before it takes hours."""

import warnings

import pytest
from driftanchor.simulation.engines import ENGINES

from driftanchor import InvalidInput
from driftanchor.planning.effort import FEWEST, MOST, default_worlds, engine_for, worlds_to_play


def test_the_number_of_worlds_is_fixed() -> None:
    assert default_worlds(1) == default_worlds(20_000) == MOST
    assert default_worlds(20_001) == default_worlds(10**9) == FEWEST
    assert worlds_to_play(None, 20_000, 10) == MOST
    assert worlds_to_play(7, 20_000, 10) == 7


def test_a_long_play_is_announced() -> None:
    with pytest.warns(
        UserWarning,
        match="40 worlds of 1,000,000 rounds with 100 arms take about 67 minutes; a horizon of "
        "7,500 takes about a minute",
    ) as told:
        assert worlds_to_play(None, 10**6, 100, threads=2) == FEWEST
    assert len(told) == 1
    with pytest.warns(UserWarning, match="take about 7 minutes"):
        worlds_to_play(200, 10**5, 20, threads=2)
    with pytest.warns(UserWarning, match="take about 2 days"):
        worlds_to_play(10**4, 10**6, 10, threads=1)


def test_what_nobody_lives_to_see_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"horizon is 1,000,.* take about [\d,]+ days; give"):
        worlds_to_play(10**6, 10**9, 2, threads=1)
    with pytest.raises(InvalidInput, match=r"horizon must be at most 1,000,000,000, got 4,611"):
        worlds_to_play(2, 2**62, 2, threads=1)


def test_what_takes_a_minute_is_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert worlds_to_play(None, 187_500, 2, threads=2) == FEWEST


def test_short_runs_play_every_round_and_long_ones_leap() -> None:
    leaps = [ENGINES[engine_for(horizon)].leaps for horizon in (10**4, 10**5, 10**9)]
    assert leaps == [False, True, True]
    assert ENGINES[engine_for(10**6)].paired
