"""Bandit: a simulated world with logs of its past."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import MAX_ARMS, Arms
from driftanchor.core.check import LARGEST, Floats, Ints
from driftanchor.core.promises import (
    ANYTHING,
    Range,
    bias_bounds,
    check_promises,
    relative_bounds,
)
from driftanchor.errors import InvalidInput, shown
from driftanchor.policies.base import Policy
from driftanchor.policies.base import valid_policy
from driftanchor.simulation.bandit_checks import moved_together, noise_of, pool_of
from driftanchor.simulation.coverage import cover
from driftanchor.simulation.law import Law

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
        noise: Standard deviation of a Gaussian or Student reward, one number for all arms or one
            for each; a Bernoulli reward has its own. As an attribute the largest of them.
        logs: `"drawn"` anew in each run, or `"given"`: then `offline` is the logged mean itself.
        delay: Rounds that go by before a reward is seen; 0 if it is seen before the next round.
        batch: Rounds for which arms are chosen at once, before any of their rewards is seen.
        pools: The observed rewards of each arm, where `resampling` draws from them.
        relative_bound: The bound on |online − offline − c| that policies are given, where c is an
            unknown move common to all arms: one number, one for each arm, or `None` for no bound.
        common_shift: How far all arms moved together online; the online means include it.
        arm_noise: The noise of each arm.
        means: The law of the means where each run draws them anew, as in `random_bandit`.
        bias: There the law of how much the logs over-estimate an arm, if they do.
        exact: Whether the bias bounds are the true differences.

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
    arm_noise: Floats
    means: Law | None
    bias: Law | None
    exact: bool

    def __init__(
        self,
        online: Sequence[float] | Floats,
        offline: Sequence[float] | Floats | float | None = None,
        offline_pulls: Sequence[int] | Ints | int = 0,
        bias_bound: Sequence[float] | Floats | float | None = None,
        reward: str = "gaussian",
        noise: Sequence[float] | Floats | float = 1.0,
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
        means = moved_together(means, together, arms, low, high)
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
        exact = bias_bound is None and relative_bound is None
        if bias_bound is None:
            bias_bound = np.abs(means - past) if exact else math.inf
        bounds = bias_bounds(bias_bound, arms)
        check_promises(relative, pulls, arms)
        deviations = noise_of(noise, arms)
        for name, array in (
            ("online", means),
            ("offline", past),
            ("offline_pulls", pulls),
            ("bias_bound", bounds),
            ("relative_bound", relative),
            ("arm_noise", deviations),
        ):
            object.__setattr__(self, name, check.frozen(array))
        object.__setattr__(self, "reward", reward)
        object.__setattr__(self, "noise", float(deviations.max()))
        object.__setattr__(self, "logs", check.choice(logs, "logs", LOGS))
        object.__setattr__(self, "delay", check.whole(delay, "delay", high=LATEST))
        object.__setattr__(self, "batch", check.whole(batch, "batch", low=1, high=LATEST))
        object.__setattr__(self, "pools", ())
        object.__setattr__(self, "common_shift", together)
        for name, unsaid in (("means", None), ("bias", None), ("exact", exact)):
            object.__setattr__(self, name, unsaid)

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
        pools = tuple(pool_of(pool, i) for i, pool in enumerate(observed, start=1))
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
        deviation = math.sqrt(np.mean([pool.var() for pool in pools]))
        object.__setattr__(bandit, "noise", deviation)
        object.__setattr__(bandit, "arm_noise", check.frozen(np.full(len(pools), deviation)))
        object.__setattr__(bandit, "pools", pools)
        object.__setattr__(bandit, "common_shift", together)
        return bandit

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), vars(self))

    @property
    def arms(self) -> Arms:
        """The arms, numbered from 1 as in the paper."""
        return Arms.numbered(len(self.online))

    @property
    def shift(self) -> Floats:
        """Online mean − offline mean: how far reality has moved."""
        return self.online - self.offline

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest online reward possible."""
        if self.pools:
            return min(float(x.min()) for x in self.pools), max(float(x.max()) for x in self.pools)
        return (0.0, 1.0) if self.reward == "bernoulli" else ANYTHING

    def check_policy(self, policy: Policy) -> None:
        """Refuse a policy that is not made for such rewards."""
        valid_policy(policy).check_rewards(self.reward_range, f"{self.reward} rewards")

    @property
    def is_late(self) -> bool:
        """Whether an arm may be chosen before the reward of the previous round is seen."""
        return self.delay > 0 or self.batch > 1

    @property
    def is_relative(self) -> bool:
        """Whether a relative bound is promised for any arm."""
        return bool(np.isfinite(self.relative_bound).any())

    @property
    def known_gaps(self) -> Floats | None:
        """What a pull of each arm loses; `None` where means are drawn anew in each run."""
        return self.gaps if self.means is None else None

    @property
    def gaps(self) -> Floats:
        """What a pull of each arm loses against the best arm; at most, where means are drawn."""
        if self.means is not None:
            return np.full(len(self.online), self.means.ends[1] - self.means.ends[0])
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
        arms = check.whole(arms, "arms", low=2, high=MAX_ARMS)
        gap = check.number(gap, "gap", low=0.0)
        total = check.whole(total, "total")
        online = [0.5 + gap] + [0.5] * (arms - 1)
        offline = [0.5] + [0.6] * (arms - 1) if biased else online
        return cls(online, offline, offline_pulls=cover(total, arms, coverage))


def _restored(cls: type[Bandit], values: dict[str, Any]) -> Bandit:
    """A bandit in another process: its arrays are read-only there too."""
    bandit = object.__new__(cls)
    for name, value in values.items():
        for array in value if isinstance(value, tuple) else [value]:
            if isinstance(array, np.ndarray):
                check.frozen(array)
        object.__setattr__(bandit, name, value)
    return bandit
