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
    """A between-period standard deviation with its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmShift:
    """One arm's periods, rewards and moves.

    Attributes:
        periods: How many periods it was seen in.
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
    """How much another V would cover.

    Attributes:
        bias_bound: The bound.
        chance: Probability that all arms stay within it in a new period.
        past: Share of the past moves within it, noise included. A past move is an arm's mean in one
            period minus its mean in all others.
    """

    bias_bound: float
    chance: float
    past: float


@dataclass(frozen=True)
class RelativeSensitivity:
    """How much another W would cover.

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
    """One step of a scale for guessing τ.

    Attributes:
        word: small, moderate, substantial, large or very large.
        ratio: τ in units of the standard deviation of a reward.
        worth: The largest number of live rewards that logs of any length can replace: (σ/τ)².
        bias_bound: V at this τ; NaN if σ is unknown.
    """

    word: str
    ratio: float
    worth: int
    bias_bound: float


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Tabular):
    """Both bounds from periods of the past.

    Pass it in place of a bound: `bias_bound=suggestion`, `relative_bound=suggestion`.

    Attributes:
        bias_bound: V; infinite if the logs cannot tell.
        relative_bound: W; infinite if the logs cannot tell. Never above V: arms within V of their
            logs are within V of a common move of 0.
        coverage: The probability with which each bound holds.
        meaning: The meaning of V in plain words.
        relative_meaning: The meaning of W in plain words.
        notes: Warnings about these logs to read before relying on the bounds.
        tau: Of all moves of all arms, common and own; None if the logs cannot tell.
        common_sd: Of the moves that all arms share; None if the logs cannot tell.
        own_sd: Of each arm's own moves; None if the logs cannot tell.
        correlation: Between the moves of two arms in the same period; NaN if unknown.
        arms: The periods, rewards and moves of each arm.
        sensitivity: How much half of V, V and twice V cover.
        relative_sensitivity: The same for W; empty if W is infinite.
        guesses: A scale for guessing V.
        periods: Their labels, in order.
        moves: Each arm's mean in each period minus its mean in all periods, by (arm, period); NaN
            if it was not seen.
        common_moves: The part of `moves` that all arms share, by period; NaN if unknown.
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
        """Return the suggestion as JSON, with `"inf"` and null for numbers that JSON lacks."""
        common, own = self.common_sd, self.own_sd
        body = {
            "suggested_bias_bound": self.bias_bound,
            "suggested_relative_bound": self.relative_bound,
            "coverage": self.coverage,
            "meaning": self.meaning,
            "relative_meaning": self.relative_meaning,
            "notes": list(self.notes),
            "tau": None if self.tau is None else asdict(self.tau),
            "common_sd": common and common.estimate,
            "common_sd_interval": common and [common.low, common.high],
            "own_sd": own and own.estimate,
            "own_sd_interval": own and [own.low, own.high],
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
        """Draw the moves, common and own, with both bounds, as PNG, PDF or SVG."""
        from driftanchor.shift.plot import plot

        plot(self, path)


def _encoded(value: Any) -> Any:
    """Encode NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _encoded(x) for key, x in value.items()}
    if isinstance(value, list):
        return [_encoded(x) for x in value]
    return encode(value) if isinstance(value, float) else value
