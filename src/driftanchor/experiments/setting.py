"""Setting: the words an experiment file describes a bandit with."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.simulation.bandit import Bandit, cover
from driftanchor.simulation.instances import Law, random_bandit

Table = dict[str, Any]
SHAPES = ("step", "ladder")
# What a word stands in for: these say nothing beside it.
INSTEAD = {
    "online": ("gap", "shape", "base"),
    "offline_pulls": ("offline", "coverage"),
    "offline_means": ("delta", "other_bias", "bias"),
    "bias": ("delta", "other_bias"),
}
# Where means are drawn anew in each run, nobody knows before which arm is the best.
NOT_OF_LAWS = ("offline_means", "delta", "other_bias", "bias_bound_at_least")
NOT_SCALED = ("reward_scale", "reward_shift")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A bandit in the paper's words; the defaults are its unbiased base setting.

    Attributes:
        arms: K.
        gap: What the other arms fall short of arm 1, the best.
        shape: `"step"`, or `"ladder"`: the means go down to that in steps of the same size.
        base: Mean online reward of the other arms, on a ladder of the last one.
        online: Instead of these the mean online reward of each arm, or the law that each run draws
            them from, such as `{"law": "normal", "mean": 0, "sd": 1}`.
        offline: Logged rewards in all.
        coverage: How they are spread: a word of `driftanchor.simulation.COVERAGES`, or each arm's
            share of them.
        offline_pulls: Instead of these the logged rewards of each arm.
        delta: How much the logs under-estimate the best arm, of equal ones the first.
        other_bias: How much they over-estimate the other arms.
        offline_means: Instead of these the mean logged reward of each arm.
        bias: Where means are drawn, the law of how much the logs over-estimate an arm.
        bias_bound: V of every arm, one for each, or `"exact"` for the true bias, which it is when
            not given; with a relative bound it is ∞ when not given.
        bias_bound_at_least: V is raised to this where it is smaller.
        relative_bound: W of every arm, or one for each; ∞ promises nothing.
        common_shift: How far all arms moved together since the logs.
        reward: The law of rewards.
        noise: Standard deviation of a Gaussian or Student reward, of all arms or of each.
        delay: Rounds that go by before a reward is seen.
        batch: Rounds that arms are chosen for at once.
        reward_scale: All rewards are multiplied by this, noise and bias bounds too,
        reward_shift: and then this is added.
        horizon: Rounds in a run, instead of those that the file says.
    """

    arms: int = 10
    gap: float = 0.3
    shape: str = "step"
    base: float = 0.5
    online: list[float] | Table | None = None
    offline: int = 2000
    coverage: str | list[float] = "uniform"
    offline_pulls: int | list[int] | None = None
    delta: float = 0.0
    other_bias: float = 0.0
    offline_means: float | list[float] | None = None
    bias: Table | None = None
    bias_bound: float | str | list[float] | None = None
    bias_bound_at_least: float = 0.0
    relative_bound: float | list[float] = math.inf
    common_shift: float = 0.0
    reward: str = "gaussian"
    noise: float | list[float] = 1.0
    delay: int = 0
    batch: int = 1
    reward_scale: float = 1.0
    reward_shift: float = 0.0
    horizon: int | None = None

    def __post_init__(self) -> None:
        for word, others in INSTEAD.items():
            if getattr(self, word) is not None:
                self._refuse(others, f"says nothing beside {word}")
        if isinstance(self.online, list):
            if self.arms not in (DEFAULTS["arms"], len(self.online)):
                raise InvalidInput(
                    f"is {self.arms}, and online has {len(self.online)}", argument="arms"
                )
            object.__setattr__(self, "arms", len(self.online))
        if self.is_random:
            self._refuse(NOT_OF_LAWS, "speaks of means that are known, and online is a law")
            self._refuse(NOT_SCALED, "is for means that are known, and online is a law")
        elif self.bias is not None:
            raise InvalidInput("is a law, and online is none: give offline_means", argument="bias")
        if self.horizon is not None:
            check.whole(self.horizon, "horizon", low=1, high=10**12)
        if self.bias_bound is None:
            unsaid = "exact" if self.relative_bound == math.inf else math.inf
            object.__setattr__(self, "bias_bound", unsaid)

    def _refuse(self, words: tuple[str, ...], why: str) -> None:
        for word in words:
            if getattr(self, word) != DEFAULTS[word]:
                raise InvalidInput(f"{why}: leave one of the two out", argument=word)

    @property
    def is_random(self) -> bool:
        """Whether each run draws its means."""
        return isinstance(self.online, dict)

    def bandit(self) -> Bandit:
        """The bandit it describes."""
        arms = check.whole(self.arms, "arms", low=1, high=10**6)
        pulls: Any = self.offline_pulls
        if pulls is None:
            pulls = cover(self.offline, arms, self.coverage)
        declared: Any = None if self._is_exact else self.bias_bound
        common: dict[str, Any] = {"reward": self.reward, "delay": self.delay, "batch": self.batch}
        if isinstance(self.online, dict):
            return random_bandit(
                Law.of(self.online, "online"),
                arms,
                pulls,
                declared,
                bias=None if self.bias is None else Law.of(self.bias, "bias"),
                noise=self.noise,
                relative_bound=None if self.relative_bound == math.inf else self.relative_bound,
                common_shift=self.common_shift,
                **common,
            )
        scale = check.number(self.reward_scale, "reward_scale", above=0.0)
        online = self._online(arms)
        offline = self._offline(online)
        bounds = np.abs(online + self.common_shift - offline)
        if declared is not None:
            bounds = check.per_arm(declared, "bias_bound", _labels(arms), low=0.0, infinite=True)
        bounds = np.maximum(bounds, self.bias_bound_at_least)
        return Bandit(
            online * scale + self.reward_shift,
            offline * scale + self.reward_shift,
            pulls,
            bounds * scale,
            noise=_times(self.noise, scale),
            relative_bound=_times(self.relative_bound, scale),
            common_shift=self.common_shift * scale,
            **common,
        )

    def _online(self, arms: int) -> Floats:
        if isinstance(self.online, list):
            return check.per_arm(self.online, "online", _labels(arms))
        step = check.choice(self.shape, "shape", SHAPES) == "step"
        down = 1.0 * (np.arange(arms) == 0) if step else np.linspace(1.0, 0.0, arms)
        return np.asarray(self.base + self.gap * down)

    def _offline(self, online: Floats) -> Floats:
        if self.offline_means is not None:
            return check.per_arm(self.offline_means, "offline_means", _labels(len(online)))
        first = 0 if self.online is None else int(online.argmax())
        best = np.arange(len(online)) == first
        return np.asarray(online + np.where(best, -self.delta, self.other_bias))

    @property
    def _is_exact(self) -> bool:
        if isinstance(self.bias_bound, str) and self.bias_bound != "exact":
            raise InvalidInput(
                f"must be a number or 'exact', got {self.bias_bound!r}", argument="bias_bound"
            )
        return self.bias_bound == "exact"


DEFAULTS: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(Setting)}


def _labels(arms: int) -> list[str]:
    return [str(i + 1) for i in range(arms)]


def _times(value: float | list[float], scale: float) -> float | list[float]:
    return [x * scale for x in value] if isinstance(value, list) else value * scale


def unusable(word: str, value: object) -> str:
    """Why a setting cannot have this value, by its type; empty when it can.

    Example:
        >>> unusable("gap", "wide"), unusable("gap", 0.3), unusable("noise", [1, 2])
        ('this setting takes no str', '', '')
    """
    listed = isinstance(value, list)
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, float) and math.isinf(part) and "_bound" in word:
            continue
        if isinstance(part, float) and not math.isfinite(part):
            return "it must be finite"
        if listed and (isinstance(part, bool) or not isinstance(part, int | float)):
            return f"a list here holds numbers, and not {part!r}"
    kinds = {int: ("int", "float"), float: ("int", "float"), str: ("str",)}
    kinds |= {list: ("list[int]", "list[float]"), dict: ("Table",)}
    takes = str(Setting.__dataclass_fields__[word].type).split(" | ")
    fits = any(kind in takes for kind in kinds.get(type(value), ()))
    return "" if fits else f"this setting takes no {type(value).__name__}"
