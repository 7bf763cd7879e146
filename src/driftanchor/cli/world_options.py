"""The bandit that the options of `driftanchor simulate` describe."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from driftanchor.cli import parse
from driftanchor.core.record import encode
from driftanchor.errors import InvalidInput
from driftanchor.render.numbers import count

if TYPE_CHECKING:
    from driftanchor.simulation.bandit import Bandit

PAPER_ONLINE = "0.8,0.5*9"
PAPER_OFFLINE = "0.5,0.6*9"
PAPER_PULLS = 200  # of each arm
ROUNDING = 1e-9  # by which means that are typed in may miss a bound


def build(
    *,
    online: str | None,
    offline: str | None,
    offline_pulls: str | None,
    offline_total: str | None,
    coverage: str | None,
    bias_bound: str | None,
    relative_bound: str | None = None,
    common_shift: str = "0",
    reward: str,
    noise: str | None,
    delay: str = "0",
    batch: str = "1",
) -> Bandit:
    """The bandit of the options; what is not given is as in the paper's biased base setting."""
    from driftanchor.simulation.bandit import Bandit

    if noise is not None and reward == "bernoulli":
        raise InvalidInput(f"--noise {noise!r} is not for bernoulli rewards: they have their own")
    if online is None and offline is None:
        offline = PAPER_OFFLINE
    means = parse.numbers(PAPER_ONLINE if online is None else online, "--online")
    pulls = _pulls(len(means), offline, offline_pulls, offline_total, coverage)
    past: Any = means if offline == "same" else None
    if offline not in (None, "same"):
        past = parse.number_or_list(offline, "--offline")
    bound = None if bias_bound is None else parse.number_or_list(bias_bound, "--bias-bound")
    sigma = 1.0 if noise is None else parse.number_or_list(noise, "--noise")
    late: Any = {"delay": parse.number(delay, "--delay"), "batch": parse.number(batch, "--batch")}
    apart: Any = {"common_shift": parse.number(common_shift, "--common-shift")}
    if relative_bound is not None:
        apart["relative_bound"] = parse.number_or_list(relative_bound, "--relative-bound")
    return Bandit(means, past, pulls, bound, reward, sigma, **late, **apart)


def _pulls(
    arms: int, offline: str | None, each: str | None, total: str | None, coverage: str | None
) -> Any:
    """Logged rewards of each arm."""
    from driftanchor.simulation.bandit import cover

    given = {"--offline-pulls": each, "--offline-total": total, "--coverage": coverage}
    first, *others = [option for option, text in given.items() if text is not None] or [""]
    if each is not None and others:
        raise InvalidInput(f"{first} and {others[0]} are both given: choose one")
    if offline is None and not first:
        return 0
    if each is not None:
        pulls = parse.number_or_list(each, first)
    else:
        logged: Any = PAPER_PULLS * arms if total is None else parse.number(total, first)
        pulls = cover(logged, arms, "uniform" if coverage is None else coverage)
    if offline is None and any(pulls if isinstance(pulls, list) else [pulls]):
        raise InvalidInput(
            f"{first} is {given[first]!r} and --offline is missing: give the means of the logged "
            "rewards, or --offline same for unbiased logs"
        )
    return pulls


def describe(bandit: Bandit) -> str:
    """The bandit in one line, lists as they can be typed."""
    world = f"{count(len(bandit.online), 'arm')}, online means {shown(bandit.online)}"
    world += f", {bandit.reward} rewards"
    if bandit.reward != "bernoulli":
        world += f" with noise {shown(_alike(bandit))}"
    world += f" seen {bandit.delay:,} rounds late" if bandit.delay else ""
    world += f" in batches of {bandit.batch:,} rounds" if bandit.batch > 1 else ""
    if not bandit.offline_pulls.any():
        return f"{world}; no logs"
    world += f"; logged rewards {shown(bandit.offline_pulls)} with means {shown(bandit.offline)}"
    if bandit.common_shift:
        world += f" before all arms moved by {bandit.common_shift:g}"
    world += f"; bias bound {shown(bandit.bias_bound)}"
    return (
        f"{world}; relative bound {shown(bandit.relative_bound)}" if bandit.is_relative else world
    )


def _alike(bandit: Bandit) -> list[float]:
    """The noise of each arm; one number where it is the same for all."""
    noise: list[float] = bandit.arm_noise.tolist()
    return noise[:1] if len({*noise}) == 1 else noise


def shown(values: Iterable[float]) -> str:
    """A list as it can be typed; the start of it when it is long.

    Example:
        >>> shown([0.8, 0.5, 0.5, 0.5])
        '0.8,0.5*3'
    """
    groups = [
        (text, len(list(same))) for text, same in itertools.groupby(f"{x:.10g}" for x in values)
    ]
    parts = [text if count == 1 else f"{text}*{count}" for text, count in groups]
    return ",".join(parts[:6]) + (",…" if len(parts) > 6 else "")


def as_json(bandit: Bandit) -> dict[str, Any]:
    """The bandit for programs."""
    return {
        "online": bandit.online.tolist(),
        "offline": bandit.offline.tolist(),
        "offline_pulls": bandit.offline_pulls.tolist(),
        "bias_bound": [encode(x) for x in bandit.bias_bound.tolist()],
        "relative_bound": [encode(x) for x in bandit.relative_bound.tolist()],
        "common_shift": bandit.common_shift,
        "reward": bandit.reward,
        "noise": noise[0] if len(noise := _alike(bandit)) == 1 else noise,
        "delay": bandit.delay,
        "batch": bandit.batch,
    }


def broken(bandit: Bandit) -> list[int]:
    """The columns of arms with logs whose mean has moved further than their bounds allow."""
    import numpy as np

    moved = bandit.online - bandit.offline
    too_far = (np.abs(moved) > bandit.bias_bound * (1 + ROUNDING)) | (
        np.abs(moved - bandit.common_shift) > bandit.relative_bound * (1 + ROUNDING) + ROUNDING
    )
    return [int(column) for column in np.flatnonzero(too_far & (bandit.offline_pulls > 0))]
