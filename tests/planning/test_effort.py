"""How many worlds are played, and what is said before it takes hours."""

import warnings

import pytest

from driftanchor import InvalidInput
from driftanchor.planning.effort import FEWEST, MOST, default_worlds, worlds_to_play


def test_as_many_worlds_as_a_minute_allows() -> None:
    assert default_worlds(1, 2) == MOST
    assert default_worlds(10**9, 100) == FEWEST
    assert default_worlds(20_000, 10) == 75
    assert worlds_to_play(None, 20_000, 10) == 75
    assert worlds_to_play(7, 20_000, 10) == 7


def test_a_long_play_is_announced() -> None:
    with pytest.warns(
        UserWarning,
        match="40 worlds of 1,000,000,000 rounds with 2 arms take about 44 hours; a horizon of "
        "187,500 takes about a minute",
    ) as told:
        assert worlds_to_play(None, 10**9, 2, threads=2) == FEWEST
    assert len(told) == 1
    with pytest.warns(UserWarning, match="take about 7 minutes"):
        worlds_to_play(100, 10**5, 20, threads=2)
    with pytest.warns(UserWarning, match="take about 22 hours"):
        worlds_to_play(2, 10**9, 10, threads=1)


def test_what_nobody_lives_to_see_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"horizon is 4,611,.* take about [\d,]+ days; give"):
        worlds_to_play(2, 2**62, 2, threads=1)


def test_what_takes_a_minute_is_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert worlds_to_play(None, 187_500, 2, threads=2) == FEWEST
