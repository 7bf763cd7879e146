"""Bandit: a simulated world with logs of its past."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import MOST, Arms
from driftanchor.core.check import LARGEST, Floats, Ints
from driftanchor.core.promises import bias_bounds, check_promises, relative_bounds
from driftanchor.errors import InvalidInput, shown
from driftanchor.simulation.coverage import cover

LAWS = ("gaussian", "bernoulli", "student")
RESAMPLED = "resampled"  # the law of `Bandit.resampling`
LOGS = ("drawn", "given")
LATEST = 10**7  # the most rounds that rewards may be late by


@dataclass(frozen=True, eq=False)
class Bandit:
    """Arms with an online mean, logs drawn around an offline mean, and declared bias bounds.

    `shift` is the true difference that the bias bounds are about.

    Attributes:
        online: Mean online reward of each arm.
        offline: Mean offline reward of each arm; `None` where there are no logs.
        offline_pulls: Number of logged rewards, one number for all arms or one for each.
        bias_bound: The bound on |online − offline| that policies are given: one number, one for
            each arm, or `None` for the true differences, as in the paper. Where a relative bound
            is given, `None` means no bound.
        reward: `"gaussian"`, `"bernoulli"`, or `"student"`: heavy tails, Student's t with 3
            degrees of freedom.
        noise: Standard deviation of a Gaussian or Student reward; a Bernoulli reward has its own.
        logs: `"drawn"` anew in each run, or `"given"`: then `offline` is the logged mean itself.
        delay: Rounds that go by before a reward is seen; 0 if it is seen before the next round.
        batch: Rounds for which arms are chosen at once, before any of their rewards is seen.
        pools: The observed rewards of each arm, where `resampling` draws from them.
        relative_bound: The bound on |online − offline − c| that policies are given, where c is an
            unknown move common to all arms: one number, one for each arm, or `None` for no bound.
        common_shift: How far all arms moved together online; the online means include it.

    Example:
        >>> bandit = Bandit(online=[0.8, 0.5], offline=[0.5, 0.6], offline_pulls=200)
        >>> bandit.shift.round(3).tolist(), bandit.gaps.round(3).tolist()
        ([0.3, -0.1], [0.0, 0.3])
        >>> moved = Bandit([0.8, 0.5], [0.8, 0.5], 200, relative_bound=0.1, common_shift=-1.0)
        >>> moved.online.round(3).tolist(), moved.bias_bound.tolist()
        ([-0.2, -0.5], [inf, inf])
    """

    online: Floats
    offline: Floats
    offline_pulls: Ints
    bias_bound: Floats
    reward: str
    noise: float
    logs: str
    delay: int
    batch: int
    pools: tuple[Floats, ...]
    relative_bound: Floats
    common_shift: float

    def __init__(
        self,
        online: Sequence[float] | Floats,
        offline: Sequence[float] | Floats | float | None = None,
        offline_pulls: Sequence[int] | Ints | int = 0,
        bias_bound: Sequence[float] | Floats | float | None = None,
        reward: str = "gaussian",
        noise: float = 1.0,
        *,
        logs: str = "drawn",
        delay: int = 0,
        batch: int = 1,
        relative_bound: Sequence[float] | Floats | float | None = None,
        common_shift: float = 0.0,
    ) -> None:
        check.choice(reward, "reward", LAWS)
        low, high = (0.0, 1.0) if reward == "bernoulli" else (-LARGEST, LARGEST)
        values = check.ordered(online, "online")
        if not values:
            raise InvalidInput("is empty: give the mean of at least one arm", argument="online")
        arms = Arms.numbered(len(values))
        together = check.number(common_shift, "common_shift", low=-LARGEST, high=LARGEST)
        means = check.per_arm(values, "online", arms, low=low, high=high)
        if together != 0:
            means = means + together
            for label, mean in zip(arms, means.tolist(), strict=True):
                if not low <= mean <= high:
                    raise InvalidInput(
                        f"is {together:g} and moves the online mean of arm {label!r} "
                        f"to {mean:g}: it must stay between {low:g} and {high:g}",
                        argument="common_shift",
                    )
        pulls = check.pulls_per_arm(offline_pulls, "offline_pulls", arms)
        if offline is None and pulls.any():
            first = arms[int(np.flatnonzero(pulls)[0])]
            raise InvalidInput(
                f"of arm {first!r} is {pulls[pulls > 0][0]} and offline is missing: "
                "give the offline means, or offline=online for unbiased logs",
                argument="offline_pulls",
            )
        past = means if offline is None else offline
        past = check.per_arm(past, "offline", arms, low=low, high=high)
        relative = relative_bounds(relative_bound, arms)
        if bias_bound is None:
            bias_bound = np.abs(means - past) if relative_bound is None else math.inf
        bounds = bias_bounds(bias_bound, arms)
        check_promises(bounds, relative, pulls, arms)
        for name, array in (
            ("online", means),
            ("offline", past),
            ("offline_pulls", pulls),
            ("bias_bound", bounds),
            ("relative_bound", relative),
        ):
            object.__setattr__(self, name, check.frozen(array))
        object.__setattr__(self, "reward", reward)
        object.__setattr__(self, "noise", check.number(noise, "noise", above=0.0, high=LARGEST))
        object.__setattr__(self, "logs", check.choice(logs, "logs", LOGS))
        object.__setattr__(self, "delay", check.whole(delay, "delay", high=LATEST))
        object.__setattr__(self, "batch", check.whole(batch, "batch", low=1, high=LATEST))
        object.__setattr__(self, "pools", ())
        object.__setattr__(self, "common_shift", together)

    @classmethod
    def resampling(
        cls,
        rewards: Sequence[Sequence[float] | Floats],
        offline: Sequence[float] | Floats | float | None = None,
        offline_pulls: Sequence[int] | Ints | int = 0,
        bias_bound: Sequence[float] | Floats | float | None = None,
        *,
        delay: int = 0,
        batch: int = 1,
        relative_bound: Sequence[float] | Floats | float | None = None,
        common_shift: float = 0.0,
    ) -> Bandit:
        """A world whose rewards are drawn, with replacement, from those that were observed.

        Args:
            rewards: The observed rewards of each arm; the online means are theirs.
            offline: The logged mean of each arm, as it is.
            offline_pulls: As above.
            bias_bound: As above.
            delay: As above.
            batch: As above.
            relative_bound: As above.
            common_shift: Added to every reward.

        Example:
            >>> Bandit.resampling([[0, 1, 1, 0], [3, 0, 0, 0]], offline=[0.4, 1.0]).online.tolist()
            [0.5, 0.75]
        """
        observed = check.ordered(rewards, "rewards")
        if not observed:
            raise InvalidInput("is empty: give those of at least one arm", argument="rewards")
        pools = tuple(_pool(pool, i) for i, pool in enumerate(observed, start=1))
        together = check.number(common_shift, "common_shift", low=-LARGEST, high=LARGEST)
        if together != 0:
            pools = tuple(check.frozen(pool + together) for pool in pools)
        means = [float(pool.mean()) for pool in pools]
        bandit = cls(
            means,
            offline,
            offline_pulls,
            bias_bound,
            logs="given",
            delay=delay,
            batch=batch,
            relative_bound=relative_bound,
        )
        object.__setattr__(bandit, "reward", RESAMPLED)
        object.__setattr__(bandit, "noise", math.sqrt(np.mean([pool.var() for pool in pools])))
        object.__setattr__(bandit, "pools", pools)
        object.__setattr__(bandit, "common_shift", together)
        return bandit

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew in another process: its arrays are read-only there too, for Numba another type.
        logs = (self.offline, self.offline_pulls, self.bias_bound)
        named: dict[str, Any] = {
            "delay": self.delay,
            "batch": self.batch,
            "relative_bound": self.relative_bound,
        }
        if self.pools:
            again = functools.partial(Bandit.resampling, **named)
            return functools.partial(_made_again, again, self.common_shift), (self.pools, *logs)
        again = functools.partial(type(self), **named, logs=self.logs)
        given = (self.online, *logs, self.reward, self.noise)
        return functools.partial(_made_again, again, self.common_shift), given

    @property
    def arms(self) -> Arms:
        """The arms, numbered from 1 as in the paper."""
        return Arms.numbered(len(self.online))

    @property
    def shift(self) -> Floats:
        """Online mean − offline mean: how far reality has moved."""
        return self.online - self.offline

    @property
    def is_late(self) -> bool:
        """Whether an arm may be chosen before the reward of the previous round is seen."""
        return self.delay > 0 or self.batch > 1

    @property
    def is_relative(self) -> bool:
        """Whether a relative bound is promised for any arm."""
        return bool(np.isfinite(self.relative_bound).any())

    @property
    def gaps(self) -> Floats:
        """What a pull of each arm loses against the best arm."""
        best: float = self.online.max()
        return best - self.online

    @classmethod
    def paper(
        cls,
        *,
        biased: bool,
        gap: float = 0.3,
        arms: int = 10,
        total: int = 2000,
        coverage: str = "uniform",
    ) -> Bandit:
        """The base settings of the paper's experiments.

        Arm 1 has mean 0.5 + gap, the others 0.5. Biased logs have means 0.5 and 0.6, so that they
        recommend the wrong arms; bias bounds are exact.
        """
        if not isinstance(biased, bool | np.bool_):
            raise InvalidInput(f"must be True or False, got {shown(biased)}", argument="biased")
        arms = check.whole(arms, "arms", low=2, high=MOST)
        gap = check.number(gap, "gap", low=0.0)
        total = check.whole(total, "total")
        online = [0.5 + gap] + [0.5] * (arms - 1)
        offline = [0.5] + [0.6] * (arms - 1) if biased else online
        return cls(online, offline, offline_pulls=cover(total, arms, coverage))


def _made_again(make: Callable[..., Bandit], common_shift: float, *given: Any) -> Bandit:
    """A bandit from online means or rewards that include the common shift already."""
    bandit = make(*given)
    object.__setattr__(bandit, "common_shift", common_shift)
    return bandit


def _pool(rewards: object, arm: int) -> Floats:
    """The observed rewards of an arm, checked."""
    of = f"of arm {arm}"
    try:
        pool = np.asarray(rewards, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{of} must be a list of numbers, got {shown(rewards)}", argument="rewards"
        ) from None
    if pool.ndim != 1 or pool.size == 0:
        raise InvalidInput(
            f"{of} must be a list of at least one number, got {shown(rewards)}", argument="rewards"
        )
    odd = pool[~(np.abs(pool) <= LARGEST)]
    if odd.size:
        raise InvalidInput(
            f"{of} must be finite and at most {LARGEST:g}, got {odd[0]:g}", argument="rewards"
        )
    return check.frozen(pool.copy())
