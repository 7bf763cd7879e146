"""Suggestion: both bounds with their meaning, for people and programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from driftanchor.core.check import Floats
from driftanchor.core.record import encode
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known


@dataclass(frozen=True)
class Tau:
    """A between-period standard deviation, and where it may be (95 %)."""

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
        tau: None if it was seen in one period only.
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
class RelativeSensitivity:
    """What another relative bound would cover.

    Attributes:
        relative_bound: The bound.
        chance: Probability that all arms' own moves stay within it in a new period.
        past: Share of the past moves within it, without their common part, noise included.
    """

    relative_bound: float
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


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Tabular):
    """Both bounds from periods of the past.

    It can be given wherever a bound can: `bias_bound=suggestion`, `relative_bound=suggestion`.

    Attributes:
        bias_bound: V, what to give a policy; infinite when the logs cannot tell.
        relative_bound: W; infinite when the logs cannot tell. Never above V: arms that are each
            within V of their logs are so with a common move of 0.
        coverage: The probability both are made for.
        meaning: What V says, in plain words.
        relative_meaning: What W says, in plain words.
        notes: What to know about these logs before relying on the bounds.
        tau: Of all moves of all arms, common and own; None when the logs cannot tell.
        common_sd: Of the moves that all arms share; None when the logs cannot tell.
        own_sd: Of each arm's own moves; None when the logs cannot tell.
        correlation: Between the moves of two arms in the same period; NaN when unknown.
        arms: What was found for each arm.
        sensitivity: What half of V, V and twice V cover.
        relative_sensitivity: The same for W; empty when it is infinite.
        guesses: The scale for those who must guess.
        periods: Their labels, in order.
        moves: Each arm's mean in each period minus its mean in all periods, by (arm, period); NaN
            where it was not seen.
        common_moves: The part of the former that all arms share, by period; NaN when unknown.
        errors: Standard errors of the means in each period.
    """

    bias_bound: float
    relative_bound: float
    coverage: float
    meaning: str
    relative_meaning: str
    notes: tuple[str, ...]
    tau: Tau | None
    common_sd: Tau | None
    own_sd: Tau | None
    correlation: float
    arms: Mapping[str, ArmShift]
    sensitivity: tuple[Sensitivity, ...]
    relative_sensitivity: tuple[RelativeSensitivity, ...]
    guesses: tuple[Guess, ...]
    periods: tuple[str, ...]
    moves: Floats
    common_moves: Floats
    errors: Floats

    def _line(self) -> str:
        seen = f"{count(len(self.arms), 'arm')} in {count(len(self.periods), 'period')}"
        bounds = f"bias_bound {self.bias_bound:.4g}, relative_bound {self.relative_bound:.4g}"
        return f"{bounds}, for {100 * self.coverage:g} % of new periods, from {seen}"

    def _columns(self) -> dict[str, list[object]]:
        arms = self.arms.values()
        return {
            "arm": list(self.arms),
            "periods": [arm.periods for arm in arms],
            "n": [arm.n for arm in arms],
            "mean": known([arm.mean for arm in arms]),
            "tau": [arm.tau and arm.tau.estimate for arm in arms],
            "tau_low": [arm.tau and arm.tau.low for arm in arms],
            "tau_high": [arm.tau and arm.tau.high for arm in arms],
        }

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        body = {
            "suggested_bias_bound": self.bias_bound,
            "suggested_relative_bound": self.relative_bound,
            "coverage": self.coverage,
            "meaning": self.meaning,
            "relative_meaning": self.relative_meaning,
            "notes": list(self.notes),
            "tau": None if self.tau is None else asdict(self.tau),
            **_numbers("common_sd", self.common_sd),
            **_numbers("own_sd", self.own_sd),
            "correlation": self.correlation,
            "arms": {label: asdict(arm) for label, arm in self.arms.items()},
            "sensitivity": [asdict(line) for line in self.sensitivity],
            "relative_sensitivity": [asdict(line) for line in self.relative_sensitivity],
            "guesses": [asdict(guess) for guess in self.guesses],
            "periods": list(self.periods),
            "common_moves": self.common_moves.tolist(),
        }
        encoded: dict[str, Any] = _encoded(body)
        return encoded

    def plot(self, path: str | os.PathLike[str]) -> None:
        """The moves, common and own, with both bounds, as PNG, PDF or SVG."""
        from driftanchor.shift.plot import plot

        plot(self, path)


def _numbers(name: str, tau: Tau | None) -> dict[str, Any]:
    """The estimate under the name, the interval under another."""
    if tau is None:
        return {name: None, f"{name}_interval": None}
    return {name: tau.estimate, f"{name}_interval": [tau.low, tau.high]}


def _encoded(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    if isinstance(value, dict):
        return {key: _encoded(x) for key, x in value.items()}
    if isinstance(value, list):
        return [_encoded(x) for x in value]
    return encode(value) if isinstance(value, float) else value
