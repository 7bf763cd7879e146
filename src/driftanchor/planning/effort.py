"""Choose the number of worlds, and estimate the run time."""

from __future__ import annotations

import warnings

from driftanchor.core import check
from driftanchor.errors import InvalidInput
from driftanchor.simulation.run import threads_to_use

ROUNDS = 15_000_000  # of one arm, in all worlds together: a quarter of a minute on two cores
PER_MINUTE = 2 * ROUNDS  # of one thread
FEWEST, MOST = 40, 100  # worlds
EVERY_ROUND = 20_000  # rounds up to which every round is played
PATIENCE = 5.0  # minutes without a warning
LONGEST = 60 * 24 * 30.0  # minutes that anybody may wait for: a month
FARTHEST = 10**9  # rounds


def worlds_to_play(asked: object, horizon: int, arms: int, threads: int | None = None) -> int:
    """Return the number of worlds to play; warn if they take long.

    The warning points to the line that called `plan` or `replay`.

    Args:
        asked: The requested number; `None` for `default_worlds`.
        horizon: Rounds.
        arms: The number of arms.
        threads: The maximum number of threads.
    """
    if horizon > FARTHEST:
        raise InvalidInput(
            f"must be at most {FARTHEST:,}, got {horizon:,}: logs matter most in the first rounds",
            argument="horizon",
        )
    fitting = default_worlds(horizon)
    worlds = fitting if asked is None else check.whole(asked, "worlds", low=2, high=10**6)
    played = 4 * EVERY_ROUND if plays_in_batches(horizon) else horizon
    minutes = worlds * played * arms / PER_MINUTE / threads_to_use(threads)
    if minutes > LONGEST:
        raise InvalidInput(
            f"is {horizon:,}: {worlds:,} worlds with {arms:,} arms take about {_words(minutes)}; "
            "give a shorter one, since logs matter most in the first rounds",
            argument="horizon",
        )
    if minutes > PATIENCE:
        short = PER_MINUTE // (min(worlds, FEWEST) * arms)
        warnings.warn(
            f"{worlds:,} worlds of {horizon:,} rounds with {arms:,} arms "
            f"take about {_words(minutes)}; a horizon of {short:,} takes about a minute, and logs "
            "matter most in the first rounds",
            stacklevel=3,
        )
    return worlds


def default_worlds(horizon: int) -> int:
    """Return the default number of worlds: 100, or 40 beyond 20,000 rounds.

    Example:
        >>> [default_worlds(horizon) for horizon in (1_000, 20_000, 10_000_000)]
        [100, 100, 40]
    """
    return MOST if horizon <= EVERY_ROUND else FEWEST


def plays_in_batches(horizon: int) -> bool:
    """Return whether this many rounds are played in batches of decisions."""
    return horizon > EVERY_ROUND


def _words(minutes: float) -> str:
    """A long time, roughly.

    Example:
        >>> [_words(minutes) for minutes in (6.2, 200, 9000)]
        ['6 minutes', '3 hours', '6 days']
    """
    if minutes < 120:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{minutes / 1440:,.0f} days"
