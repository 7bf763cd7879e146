"""Setting: the words an experiment file describes a bandit with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.errors import InvalidInput
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.coverage import cover

Share = str | list[float]
SHAPES = ("step", "ladder")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A bandit in the paper's words; the defaults are its unbiased base setting.

    Attributes:
        arms: K.
        gap: What the other arms fall short of arm 1, the best.
        shape: `"step"`, or `"ladder"`: the means go down to that in steps of the same size.
        base: Mean online reward of the other arms, on a ladder of the last one.
        offline: Logged rewards in all.
        coverage: How they are spread: a word of `driftanchor.simulation.COVERAGES`, or each arm's
            share of them.
        delta: How much the logs under-estimate arm 1.
        other_bias: How much they over-estimate the other arms.
        bias_bound: V of every arm, or `"exact"` for the true bias of each, which it is when not
            given; with a relative bound it is ∞ when not given.
        bias_bound_at_least: V is raised to this where it is smaller.
        relative_bound: W of every arm; ∞ promises nothing.
        common_shift: How far all arms moved together since the logs.
        reward: The law of rewards.
        noise: Standard deviation of a Gaussian or Student reward.
        delay: Rounds that go by before a reward is seen.
        batch: Rounds that arms are chosen for at once.
        reward_scale: All rewards are multiplied by this, noise and bias bounds too,
        reward_shift: and then this is added.
    """

    arms: int = 10
    gap: float = 0.3
    shape: str = "step"
    base: float = 0.5
    offline: int = 2000
    coverage: Share = "uniform"
    delta: float = 0.0
    other_bias: float = 0.0
    bias_bound: float | str | None = None
    bias_bound_at_least: float = 0.0
    relative_bound: float = math.inf
    common_shift: float = 0.0
    reward: str = "gaussian"
    noise: float = 1.0
    delay: int = 0
    batch: int = 1
    reward_scale: float = 1.0
    reward_shift: float = 0.0

    def __post_init__(self) -> None:
        if self.bias_bound is None:
            unsaid = "exact" if self.relative_bound == math.inf else math.inf
            object.__setattr__(self, "bias_bound", unsaid)

    def bandit(self) -> Bandit:
        """The bandit it describes."""
        arms = check.whole(self.arms, "arms", low=1, high=10**6)
        scale = check.number(self.reward_scale, "reward_scale", above=0.0)
        first = np.arange(arms) == 0
        step = check.choice(self.shape, "shape", SHAPES) == "step"
        down = 1.0 * first if step else np.linspace(1.0, 0.0, arms)
        online = self.base + self.gap * down
        offline = online + np.where(first, -self.delta, self.other_bias)
        bounds = np.maximum(
            self._bounds(np.abs(online + self.common_shift - offline)), self.bias_bound_at_least
        )
        return Bandit(
            online * scale + self.reward_shift,
            offline * scale + self.reward_shift,
            offline_pulls=cover(self.offline, arms, self.coverage),
            bias_bound=bounds * scale,
            reward=self.reward,
            noise=self.noise * scale,
            delay=self.delay,
            batch=self.batch,
            relative_bound=self.relative_bound * scale,
            common_shift=self.common_shift * scale,
        )

    def _bounds(self, bias: check.Floats) -> check.Floats:
        if isinstance(self.bias_bound, str):
            if self.bias_bound != "exact":
                raise InvalidInput(
                    f"must be a number or 'exact', got {self.bias_bound!r}", argument="bias_bound"
                )
            return bias
        return np.full(
            len(bias), check.number(self.bias_bound, "bias_bound", low=0.0, infinite=True)
        )


def unusable(word: str, value: object) -> str:
    """Why a setting cannot have this value, by its type; empty when it can.

    Example:
        >>> unusable("gap", "wide"), unusable("gap", 0.3)
        ('this setting takes no str', '')
    """
    wanted = str(Setting.__dataclass_fields__[word].type)
    if isinstance(value, float) and not math.isfinite(value):
        endless = math.isinf(value) and "_bound" in word
        return "" if endless else "it must be finite"
    allowed = (
        (isinstance(value, int | float) and ("int" in wanted or "float" in wanted))
        or (isinstance(value, str) and ("str" in wanted or "Share" in wanted))
        or (isinstance(value, list) and "Share" in wanted)
    )
    return (
        ""
        if allowed and not isinstance(value, bool)
        else f"this setting takes no {type(value).__name__}"
    )
