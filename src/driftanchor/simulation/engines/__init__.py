"""The engines: `ENGINES` holds all of them, fastest first.

To add an engine, write its loop in a file of its own and add one entry here. Every engine plays
late rewards with `LATE_REWARDS`, and `EVERY_ROUND` where its own loops serve no policy.
"""

from __future__ import annotations

from driftanchor.core import check
from driftanchor.errors import InvalidInput
from driftanchor.simulation.engines.engine import Engine, Loop
from driftanchor.simulation.engines.late import LATE_REWARDS
from driftanchor.simulation.engines.leaping import EVENTS, THINNED
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.windows import WINDOWS

ENGINES: dict[str, Engine] = {
    "events": Engine(
        compiled=True,
        processes=False,
        paired=False,
        leaps=True,
        loops=(LATE_REWARDS, EVENTS, WINDOWS, EVERY_ROUND),
    ),
    "thinned": Engine(
        compiled=True,
        processes=False,
        paired=True,
        leaps=True,
        loops=(LATE_REWARDS, THINNED, WINDOWS, EVERY_ROUND),
    ),
    "every-round": Engine(
        compiled=True,
        processes=False,
        paired=True,
        leaps=False,
        loops=(LATE_REWARDS, EVERY_ROUND),
    ),
    "processes": Engine(
        compiled=False,
        processes=True,
        paired=True,
        leaps=False,
        loops=(LATE_REWARDS, EVERY_ROUND),
    ),
    "interpreted": Engine(
        compiled=False,
        processes=False,
        paired=True,
        leaps=False,
        loops=(LATE_REWARDS, EVERY_ROUND),
    ),
}
ENGINE_NAMES = ("auto", *ENGINES)

__all__ = ["ENGINES", "ENGINE_NAMES", "Engine", "Loop", "engine_named", "fastest"]


def engine_named(name: object) -> str:
    """A name of `ENGINES`; for `"auto"` that of the fastest engine."""
    if isinstance(name, str) and name == "vectorised":
        raise InvalidInput(
            "'vectorised' was removed: use 'auto', which compiles runs where Numba is installed, "
            "or 'processes', which needs no Numba",
            argument="engine",
        )
    known = check.choice(name, "engine", ENGINE_NAMES)
    return fastest() if known == "auto" else known


def fastest(*, paired: bool = False, leaps: bool = True) -> str:
    """The fastest engine that is installed here.

    Args:
        paired: Only those that keep policies paired by their rewards.
        leaps: `False` for those alone that play every round.
    """
    return next(
        name
        for name, engine in ENGINES.items()
        if engine.is_installed and engine.paired >= paired and engine.leaps <= leaps
    )
