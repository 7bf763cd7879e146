"""How many worlds to play, and how long that takes."""

from __future__ import annotations

import warnings

from driftanchor.core import check
from driftanchor.errors import InvalidInput
from driftanchor.simulation.machine import threads_to_use

ROUNDS = 15_000_000  # of one arm, in all worlds together: half a minute on two cores
FEWEST, MOST = 40, 200  # worlds
PATIENCE = 5.0  # minutes that nobody is warned of
LONGEST = 60 * 24 * 30.0  # minutes that anybody may wait for: a month


def worlds_to_play(asked: object, horizon: int, arms: int, threads: int | None = None) -> int:
    """How many worlds to play; a warning says so if it takes long.

    The warning names the line that called the caller: a plan or a replay.

    Args:
        asked: What the caller asks for; `None` for `default_worlds`.
        horizon: Rounds.
        arms: Their number.
        threads: How many to use at most.
    """
    fitting = default_worlds(horizon, arms)
    worlds = fitting if asked is None else check.whole(asked, "worlds", low=2, high=10**6)
    minutes = worlds * horizon * arms / ROUNDS / threads_to_use(threads)
    if minutes > LONGEST:
        raise InvalidInput(
            f"is {horizon:,}: {worlds:,} worlds with {arms:,} arms take about {_words(minutes)}; "
            "give a shorter one, since logs matter most in the first rounds",
            argument="horizon",
        )
    if minutes > PATIENCE:
        short = ROUNDS // (min(worlds, FEWEST) * arms)
        warnings.warn(
            f"every round is played: {worlds:,} worlds of {horizon:,} rounds with {arms:,} arms "
            f"take about {_words(minutes)}; a horizon of {short:,} takes about a minute, and logs "
            "matter most in the first rounds",
            stacklevel=3,
        )
    return worlds


def default_worlds(horizon: int, arms: int) -> int:
    """As many as can be played in a minute or so, up to where more would hardly tell more.

    Example:
        >>> [default_worlds(horizon, 5) for horizon in (1_000, 30_000, 10_000_000)]
        [200, 100, 40]
    """
    return int(min(max(ROUNDS // (horizon * arms), FEWEST), MOST))


def _words(minutes: float) -> str:
    """A long time, roughly.

    Example:
        >>> [_words(minutes) for minutes in (6.2, 200, 9000)]
        ['6 minutes', '3 hours', '6 days']
    """
    if minutes < 120:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{minutes / 1440:,.0f} days"
