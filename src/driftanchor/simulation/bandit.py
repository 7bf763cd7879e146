"""Bandit: a simulated bandit with logs, and how the logged rewards are split among the arms."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
from driftanchor.policies.base import Policy, valid_policy

if TYPE_CHECKING:
    from driftanchor.simulation.instances import Law

LAWS = ("gaussian", "bernoulli", "student")
RESAMPLED = "resampled"  # the reward distribution of `Bandit.resampling`
LOGS = ("drawn", "given")
COVERAGES = ("uniform", "optimal", "suboptimal")
MAX_DELAY = 10**7  # rounds; also the largest batch


@dataclass(frozen=True, eq=False)
class Bandit:
    """A simulated bandit: arms with online means, logs with offline means, and declared bounds.

    `shift` holds the true differences between online and offline means. Policies see only the
    declared bounds.

    Attributes:
        online: Mean online reward of each arm.
        offline: Mean offline reward of each arm; `None` without logs.
        offline_pulls: Number of logged rewards per arm: one number for all arms, or one for each.
        bias_bound: The bound on |online − offline| that policies see: one number, one for each
            arm, or `None` for the true differences, as in the paper. With a relative bound,
            `None` means no bound.
        reward: `"gaussian"`, `"bernoulli"`, or `"student"`. The last is Student's t with 3 degrees
            of freedom, which has heavy tails.
        noise: Standard deviation of a Gaussian or Student reward: one number for all arms, or one
            for each. Bernoulli rewards ignore it. The attribute holds the maximum over the arms.
        logs: `"drawn"` to draw new logs in each run, or `"given"` if `offline` already holds the
            means of the logged rewards.
        delay: Rounds between a pull and its reward; 0 if the reward arrives before the next round.
        batch: Number of rounds whose arms are chosen together, before any of their rewards arrive.
        pools: The observed rewards of each arm, if `resampling` made the bandit.
        relative_bound: The bound on |online − offline − c| that policies see, where c is an
            unknown move common to all arms: one number, one for each arm, or `None` for no bound.
        common_shift: The move that all arms made together since the logs. The online means include
            it.
        arm_noise: The noise of each arm.
        means: The distribution of the means, if each run draws new ones as in `random_bandit`.
        bias: The distribution of logged mean minus online mean, if each run draws logged means too.
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
        move = check.number(common_shift, "common_shift", low=-LARGEST, high=LARGEST)
        means = check.per_arm(values, "online", arms, low=low, high=high)
        means = _moved(means, move, arms, low, high)
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
        deviations = _noise_per_arm(noise, arms)
        vars(self).update(
            online=check.frozen(means),
            offline=check.frozen(past),
            offline_pulls=check.frozen(pulls),
            bias_bound=bounds,
            reward=reward,
            noise=float(deviations.max()),
            logs=check.choice(logs, "logs", LOGS),
            delay=check.whole(delay, "delay", high=MAX_DELAY),
            batch=check.whole(batch, "batch", low=1, high=MAX_DELAY),
            pools=(),
            relative_bound=relative,
            common_shift=move,
            arm_noise=check.frozen(deviations),
            means=None,
            bias=None,
            exact=exact,
        )

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
        """Make a bandit that draws rewards, with replacement, from observed ones.

        Args:
            rewards: The observed rewards of each arm; their means are the online means.
            offline: The logged mean of each arm.
            offline_pulls: As for `Bandit`.
            bias_bound: As for `Bandit`.
            delay: As for `Bandit`.
            batch: As for `Bandit`.
            relative_bound: As for `Bandit`.
            common_shift: A number to add to every reward.

        Example:
            >>> Bandit.resampling([[0, 1, 1, 0], [3, 0, 0, 0]], offline=[0.4, 1.0]).online.tolist()
            [0.5, 0.75]
        """
        observed = check.ordered(rewards, "rewards")
        if not observed:
            raise InvalidInput("is empty: give the rewards of at least one arm", argument="rewards")
        pools = tuple(_pool(pool, i) for i, pool in enumerate(observed, start=1))
        move = check.number(common_shift, "common_shift", low=-LARGEST, high=LARGEST)
        if move != 0:
            pools = tuple(check.frozen(pool + move) for pool in pools)
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
        deviation = math.sqrt(np.mean([pool.var() for pool in pools]))
        vars(bandit).update(
            reward=RESAMPLED,
            noise=deviation,
            pools=pools,
            common_shift=move,
            arm_noise=check.frozen(np.full(len(pools), deviation)),
        )
        return bandit

    @property
    def arms(self) -> Arms:
        """Labels of the arms: numbers from 1, as in the paper."""
        return Arms.numbered(len(self.online))

    @property
    def shift(self) -> Floats:
        """Online mean − offline mean of each arm."""
        return self.online - self.offline

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest possible online reward."""
        if self.pools:
            return min(float(x.min()) for x in self.pools), max(float(x.max()) for x in self.pools)
        return (0.0, 1.0) if self.reward == "bernoulli" else ANYTHING

    def check_policy(self, policy: Policy) -> None:
        """Raise InvalidInput if the policy cannot handle the rewards of this bandit."""
        valid_policy(policy).check_rewards(self.reward_range, f"{self.reward} rewards")

    @property
    def is_late(self) -> bool:
        """Whether some rounds choose an arm before all earlier rewards have arrived."""
        return self.delay > 0 or self.batch > 1

    @property
    def is_relative(self) -> bool:
        """Whether any arm has a relative bound."""
        return bool(np.isfinite(self.relative_bound).any())

    @property
    def known_gaps(self) -> Floats | None:
        """The gap of each arm to the best arm; `None` if each run draws its own means."""
        return self.gaps if self.means is None else None

    @property
    def gaps(self) -> Floats:
        """Expected loss per pull of each arm, compared with the best arm.

        If each run draws its own means, this is the largest loss that the distribution of the means
        allows.
        """
        if self.means is not None:
            low, high = self.means.support
            return np.full(len(self.online), high - low)
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
        """Make a bandit with the base settings of the paper's experiments.

        Arm 1 has mean 0.5 + gap, the others 0.5. Biased logs have mean 0.5 for arm 1 and 0.6 for
        the others, so they favour the wrong arms. The bias bounds are the true differences. The
        `total` logged rewards are split among the arms according to `coverage`; see `cover`.
        """
        if not isinstance(biased, bool | np.bool_):
            raise InvalidInput(f"must be True or False, got {shown(biased)}", argument="biased")
        arms = check.whole(arms, "arms", low=2, high=MAX_ARMS)
        gap = check.number(gap, "gap", low=0.0)
        total = check.whole(total, "total")
        online = [0.5 + gap] + [0.5] * (arms - 1)
        offline = [0.5] + [0.6] * (arms - 1) if biased else online
        return cls(online, offline, offline_pulls=cover(total, arms, coverage))


def with_means(bandit: Bandit, rows: Floats) -> Iterator[Bandit]:
    """Yield one copy of the bandit per row of online means, without validating the rows.

    The bias bounds must be explicit; the copies share them.

    Example:
        >>> two = with_means(Bandit([0.8, 0.5], 0.5, 9, 0.1), np.array([[0.7, 0.6], [0.4, 0.6]]))
        >>> [one.online.tolist() for one in two]
        [[0.7, 0.6], [0.4, 0.6]]
    """
    for row in rows:
        other = copy.copy(bandit)
        vars(other)["online"] = check.frozen(row.copy())
        yield other


def stack_means(bandits: Sequence[Bandit]) -> Floats:
    """Stack the online means of the copies from `with_means`: an array of shape (copies, arms)."""
    shared = {name: x for name, x in vars(bandits[0]).items() if name != "online"}
    if any(vars(one)[name] is not x for one in bandits[1:] for name, x in shared.items()):
        raise InvalidInput("must differ only in their online means", argument="bandits")
    return np.stack([one.online for one in bandits])


def cover(offline_total: int, arms: int, coverage: str | Sequence[float]) -> list[int]:
    """Split `offline_total` logged rewards among the arms.

    `uniform` splits evenly. `optimal` gives 80 % to arm 1 and `suboptimal` 80 % to arm 2; the
    other arms split the rest evenly. A list gives each arm's share. Rewards that are left after
    rounding down go to the first arms, one each.

    Example:
        >>> cover(2000, 10, "optimal")
        [1600, 45, 45, 45, 45, 44, 44, 44, 44, 44]
        >>> cover(10, 3, [0.5, 0.5, 0.0])
        [5, 5, 0]
    """
    if not isinstance(coverage, str):
        return _split_by_share(check.whole(offline_total, "offline_total"), arms, coverage)
    check.choice(coverage, "coverage", COVERAGES)
    total = check.whole(offline_total, "offline_total")
    arms = check.whole(arms, "arms", low=1 if coverage == "uniform" else 2, high=MAX_ARMS)
    if coverage == "uniform":
        return _split_evenly(total, arms)
    favoured = total * 4 // 5
    rest = _split_evenly(total - favoured, arms - 1)
    return [favoured, *rest] if coverage == "optimal" else [rest[0], favoured, *rest[1:]]


def _split_evenly(total: int, arms: int) -> list[int]:
    share, remainder = divmod(total, arms)
    return [share + (i < remainder) for i in range(arms)]


def _split_by_share(total: int, arms: int, shares: Sequence[float]) -> list[int]:
    parts = check.per_arm(shares, "coverage", Arms.numbered(arms), low=0.0, high=1.0)
    if abs(parts.sum() - 1.0) > 1e-9:
        raise InvalidInput(
            f"sums to {parts.sum():g}: the shares of the arms must sum to 1", argument="coverage"
        )
    counts = [int(total * part + 1e-9) for part in parts.tolist()]
    rounded_up = [i for i, part in enumerate(parts) if part > 0][: total - sum(counts)]
    return [count + (i in rounded_up) for i, count in enumerate(counts)]


def _noise_per_arm(noise: object, arms: Arms) -> Floats:
    """Return the noise of each arm; `noise` is one number for all arms, or one for each."""
    if not isinstance(noise, Iterable) or isinstance(noise, str):
        one = check.number(noise, "noise", above=0.0, high=LARGEST)
        return np.full(len(arms), one)
    return check.per_arm(noise, "noise", arms, above=0.0, high=LARGEST)


def _moved(means: Floats, move: float, arms: Arms, low: float, high: float) -> Floats:
    """Return the online means after a common move; refuse means outside [low, high]."""
    if move == 0:
        return means
    moved = means + move
    for label, mean in zip(arms, moved.tolist(), strict=True):
        if not low <= mean <= high:
            raise InvalidInput(
                f"is {move:g} and moves the online mean of arm {label!r} "
                f"to {mean:g}: it must stay between {low:g} and {high:g}",
                argument="common_shift",
            )
    return moved


def _pool(rewards: object, arm: int) -> Floats:
    """Check the observed rewards of an arm and return them as a read-only array."""
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
    invalid = pool[~(np.abs(pool) <= LARGEST)]
    if invalid.size:
        raise InvalidInput(
            f"{of} must be finite and at most {LARGEST:g}, got {invalid[0]:g}", argument="rewards"
        )
    return check.frozen(pool.copy())
