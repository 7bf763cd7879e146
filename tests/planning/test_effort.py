"""How many worlds are played, and what is said before it takes hours."""

import warnings

import pytest

from driftanchor import InvalidInput
from driftanchor.planning.effort import (
    FEWEST,
    MOST,
    default_worlds,
    plays_in_batches,
    worlds_to_play,
)


def test_the_number_of_worlds_is_fixed() -> None:
    assert default_worlds(1) == default_worlds(20_000) == MOST
    assert default_worlds(20_001) == default_worlds(10**9) == FEWEST
    assert worlds_to_play(None, 20_000, 10) == MOST
    assert worlds_to_play(7, 20_000, 10) == 7


def test_long_runs_are_played_in_batches() -> None:
    assert [plays_in_batches(horizon) for horizon in (1, 20_000, 20_001)] == [False, False, True]


def test_a_long_play_is_announced() -> None:
    with pytest.warns(
        UserWarning,
        match="40 worlds of 1,000,000 rounds with 400 arms take about 21 minutes; a horizon of "
        "1,875 takes about a minute",
    ) as told:
        assert worlds_to_play(None, 10**6, 400, threads=2) == FEWEST
    assert len(told) == 1
    with pytest.warns(UserWarning, match="take about 7 minutes"):
        worlds_to_play(1_000, 20_000, 20, threads=2)
    with pytest.warns(UserWarning, match="take about 9 days"):
        worlds_to_play(10**4, 10**6, 500, threads=1)


def test_what_nobody_lives_to_see_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"horizon is 1,000,.* take about [\d,]+ days; give"):
        worlds_to_play(10**6, 10**9, 100, threads=1)
    with pytest.raises(InvalidInput, match=r"horizon must be at most 1,000,000,000, got 4,611"):
        worlds_to_play(2, 2**62, 2, threads=1)


def test_what_takes_a_minute_is_not_and_a_longer_horizon_costs_no_more() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert worlds_to_play(None, 40_000, 90, threads=2) == FEWEST
        assert worlds_to_play(None, 10**9, 90, threads=2) == FEWEST
