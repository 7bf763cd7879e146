"""Suggestion: a bias bound with its meaning, for people and programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from driftanchor.core.check import Floats
from driftanchor.core.record import encode


@dataclass(frozen=True)
class Tau:
    """The between-period standard deviation of a mean, and where it may be (95 %)."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmShift:
    """One arm: in how many periods it was seen, how often, and how its mean moved.

    Attributes:
        periods: How many.
        n: Rewards in all of them.
        mean: Of all of these rewards.
        tau: None where it was seen in one period only.
    """

    periods: int
    n: int
    mean: float
    tau: Tau | None


@dataclass(frozen=True)
class Sensitivity:
    """What another bound would cover.

    Attributes:
        bias_bound: The bound.
        chance: Probability that all arms stay within it in a new period.
        past: Share of the past moves within it: of an arm's mean in one period from its mean in all
            others, noise included.
    """

    bias_bound: float
    chance: float
    past: float


@dataclass(frozen=True)
class Guess:
    """One step of a scale for those who must guess τ.

    Attributes:
        word: small, moderate, substantial, large or very large.
        ratio: τ in units of the standard deviation of a reward.
        worth: How many live rewards the logs are worth at most, however long: (σ/τ)².
        bias_bound: What follows for V; NaN where σ is not known.
    """

    word: str
    ratio: float
    worth: int
    bias_bound: float


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A bias bound from periods of the past.

    Attributes:
        bias_bound: What to hand to a policy; infinite when the logs cannot tell.
        coverage: The probability it is made for.
        meaning: What it says, in plain words.
        notes: What to know about these logs before relying on it.
        tau: Of all arms together; None when the logs cannot tell.
        correlation: Between the moves of two arms in the same period; NaN when unknown.
        arms: Each arm by itself.
        sensitivity: The same for half of the bound and for twice the bound.
        guesses: The scale for those who must guess.
        periods: Their labels, in order.
        moves: Each arm's mean in each period minus its mean in all periods, by (arm, period); NaN
            where it was not seen.
        errors: Standard errors of the former.
    """

    bias_bound: float
    coverage: float
    meaning: str
    notes: tuple[str, ...]
    tau: Tau | None
    correlation: float
    arms: Mapping[str, ArmShift]
    sensitivity: tuple[Sensitivity, ...]
    guesses: tuple[Guess, ...]
    periods: tuple[str, ...]
    moves: Floats
    errors: Floats

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        body = {
            "suggested_bias_bound": self.bias_bound,
            "coverage": self.coverage,
            "meaning": self.meaning,
            "notes": list(self.notes),
            "tau": None if self.tau is None else asdict(self.tau),
            "correlation": self.correlation,
            "arms": {label: asdict(arm) for label, arm in self.arms.items()},
            "sensitivity": [asdict(line) for line in self.sensitivity],
            "guesses": [asdict(guess) for guess in self.guesses],
            "periods": list(self.periods),
        }
        encoded: dict[str, Any] = _encoded(body)
        return encoded

    def plot(self, path: str | os.PathLike[str]) -> None:
        """The moves with the bound, and τ of each arm, as PNG, PDF or SVG."""
        from driftanchor.shift.plot import plot

        plot(self, path)


def _encoded(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    if isinstance(value, dict):
        return {key: _encoded(x) for key, x in value.items()}
    if isinstance(value, list):
        return [_encoded(x) for x in value]
    return encode(value) if isinstance(value, float) else value
