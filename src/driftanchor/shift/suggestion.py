"""Suggestion: the bounds V and W, their meaning in words, and the estimates behind them."""

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
    """Standard deviation of moves between periods, with its 95 % confidence interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class ArmShift:
    """Summary of one arm's rewards and of its moves between periods.

    Attributes:
        periods: Number of periods in which the arm was seen.
        n: Number of rewards in all periods.
        mean: Mean of these rewards; NaN if the arm has none.
        tau: Standard deviation of the arm's moves between periods; None if the arm was seen in
            fewer than two periods.
    """

    periods: int
    n: int
    mean: float
    tau: Tau | None


@dataclass(frozen=True)
class Sensitivity:
    """How often a given bias bound holds.

    Attributes:
        bias_bound: The bound.
        chance: Probability that all arms move by at most the bound in a new period.
        past: Share of past moves within the bound. A past move is an arm's mean in one period minus
            its mean over its other periods; it includes noise.
    """

    bias_bound: float
    chance: float
    past: float


@dataclass(frozen=True)
class RelativeSensitivity:
    """How often a given relative bound holds.

    Attributes:
        relative_bound: The bound.
        chance: Probability that all arms move by at most the bound beyond the common move.
        past: Share of past moves within the bound, as in `Sensitivity`, without common moves.
    """

    relative_bound: float
    chance: float
    past: float


@dataclass(frozen=True)
class Guess:
    """One step of a rough scale for choosing a bias bound by hand.

    Attributes:
        word: Size of the moves in words: small, moderate, substantial, large or very large.
        ratio: τ/σ, the standard deviation of an arm's moves over that of a reward.
        worth: (σ/τ)², the largest number of live rewards that logs of any length are worth.
        bias_bound: The bias bound for this τ; NaN if σ is unknown.
    """

    word: str
    ratio: float
    worth: int
    bias_bound: float


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion(Tabular):
    """The bias bound V and the relative bound W, estimated from logs of past periods.

    Pass a suggestion in place of a bound: `bias_bound=suggestion`, `relative_bound=suggestion`.

    Attributes:
        bias_bound: V, a bound on each arm's move; infinite if the logs cannot determine it.
        relative_bound: W, a bound on each arm's move relative to the common move; infinite if the
            logs cannot determine it. W never exceeds V, because V bounds the moves relative to a
            common move of 0.
        coverage: Probability that each bound holds for all arms in a new period.
        meaning: The meaning of V in plain words.
        relative_meaning: The meaning of W in plain words.
        notes: Warnings about these logs to read before relying on the bounds.
        tau: Standard deviation of moves between periods, common and own together, pooled over all
            arms; None if unknown.
        common_sd: Standard deviation of the moves that all arms share; None if unknown.
        own_sd: Standard deviation of the arms' own moves, which come on top of the common moves;
            None if unknown.
        correlation: Correlation between two arms' moves in the same period; NaN if unknown.
        arms: Periods, rewards and moves of each arm, by label.
        sensitivity: How often bounds of V/2, V and 2 V hold; empty if V is infinite.
        relative_sensitivity: How often bounds of W/2, W and 2 W hold; empty if W is infinite.
        guesses: A rough scale for choosing V by hand.
        periods: Labels of the periods, in order.
        moves: Array of shape (arms, periods): an arm's mean in a period minus its mean over all
            periods. NaN if the arm was not seen in the period.
        common_moves: The part of `moves` that all arms share, one value per period; NaN if unknown.
        errors: Array of shape (arms, periods): the standard error of an arm's mean in a period. NaN
            if the arm was not seen in the period.
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
        """Return a dict for JSON, in which infinity is `"inf"` and NaN is null."""
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
        """Plot common and own moves with both bounds, and write a PNG, PDF or SVG file."""
        from driftanchor.shift.plot import plot

        plot(self, path)


def _encoded(value: Any) -> Any:
    """Replace NaN and infinity in nested dicts and lists, because JSON has neither."""
    if isinstance(value, dict):
        return {key: _encoded(x) for key, x in value.items()}
    if isinstance(value, list):
        return [_encoded(x) for x in value]
    return encode(value) if isinstance(value, float) else value
