"""`suggest`: bounds from how far the arms moved between periods of the past."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import valid_range
from driftanchor.errors import DriftanchorError, InvalidInput, shown
from driftanchor.shift import suggestion_prose
from driftanchor.shift.one_way_moves import OneWayMoves, TauLaw
from driftanchor.shift.period_model import MISS, PeriodModel
from driftanchor.shift.period_table import PeriodTable
from driftanchor.shift.suggestion import (
    ArmShift,
    Guess,
    RelativeSensitivity,
    Sensitivity,
    Suggestion,
    Tau,
)

OTHERS = (0.5, 1.0, 2.0)  # bounds to compare with, in units of the suggested one
# τ/σ as used for historical controls in clinical trials (Schmidli et al. 2014; Neuenschwander et
# al. 2010); (σ/τ)² is what the logs are worth at most.
SCALE = {"small": 0.0625, "moderate": 0.125, "substantial": 0.25, "large": 0.5, "very large": 1.0}


def suggest(
    periods: Mapping[str, OfflineData],
    *,
    coverage: float = 0.95,
    unit: str = "period",
    reward_range: tuple[float, float] | None = None,
) -> Suggestion:
    """Suggest both bounds: V for the levels of the arms, and W for the arms against each other.

    In a new period, if it differs from the past ones as these differ from one another, no arm's
    true mean is further than V from the true mean behind all its logs with probability `coverage`.
    With the same probability no arm is further than W from the move that all arms share. How: see
    `two_way.py` and `two_way_moves.py`. Where the logs cannot tell common moves from own ones, W is
    infinite and V is that of `one_way.py` and `one_way_moves.py`.

    Args:
        periods: The offline data of each period, in order, as `read_periods` gives them; or of each
            segment, such as a country, when the next one is a new segment.
        coverage: The probability to cover the moves of all arms in a new period.
        unit: What a period is called in `meaning`, such as `"week"`.
        reward_range: The lowest and the highest reward possible: no bound is larger than what they
            allow. (0, 1) where all rewards are 0 or 1, whether given or not.

    Example:
        >>> weeks = {
        ...     week: OfflineData.from_summary({"A": (900, a, 0.25), "B": (900, b, 0.25)})
        ...     for week, a, b in (("W01", 0.50, 0.45), ("W02", 0.56, 0.50), ("W03", 0.47, 0.43))
        ... }
        >>> found = suggest(weeks, unit="week")
        >>> round(found.common_sd.estimate, 3), round(found.own_sd.estimate, 3)
        (0.039, 0.0)
        >>> round(found.bias_bound, 3), round(found.relative_bound, 3)
        (0.247, 0.11)
    """
    coverage = check.number(coverage, "coverage", low=0.5, high=0.999)
    _check_unit(unit)
    history = PeriodTable.of(periods)
    limit = _limit(history, reward_range)
    if not history.repeated.any():
        return _unknown(history, coverage, unit)
    if not history.noise[history.seen].any():
        raise InvalidInput(
            "all rewards are equal in every period, so they say nothing of moves: is the reward "
            "the right column?"
        )
    try:
        return _suggested(history, coverage, unit, limit)
    except DriftanchorError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise InvalidInput(
            "the means and variances of the arms differ so much in size that no bound can be "
            "computed from them: is the reward the right column?"
        ) from error


def _suggested(history: PeriodTable, coverage: float, unit: str, limit: float) -> Suggestion:
    """What the periods say, where some arm was seen twice."""
    model = PeriodModel(history)
    wanted = model.level.bound(coverage)
    if math.isnan(wanted):
        raise FloatingPointError("V is not a number")
    bound = min(wanted, limit)
    lines = tuple(
        Sensitivity(x, 1.0 if x >= limit else model.level.chance(x), _within(history.moves(), x))
        for x in (bound * times for times in OTHERS)
    )
    relative = math.inf
    relative_lines: tuple[RelativeSensitivity, ...] = ()
    if model.relative is not None:
        relative = min(model.relative.bound(coverage), bound)
        relative_lines = tuple(
            RelativeSensitivity(x, _chance(model, x, limit), _within(model.own_moves(), x))
            for x in (relative * times for times in OTHERS)
        )
    (tau,) = _taus(history, pooled=True)
    arms = _arms(history)
    correlation = history.one_way(pooled=True).correlation
    found = Suggestion(
        bias_bound=bound,
        relative_bound=relative,
        coverage=coverage,
        meaning=suggestion_prose.meaning(bound, coverage, history, unit),
        relative_meaning=suggestion_prose.relative_meaning(relative, coverage, history, unit),
        notes=(),
        tau=tau,
        common_sd=model.common_sd,
        own_sd=model.own_sd,
        correlation=correlation,
        arms=arms,
        sensitivity=lines,
        relative_sensitivity=relative_lines,
        guesses=_guesses(history, coverage),
        periods=history.periods,
        moves=np.where(history.seen, history.mean - history.centre[:, None], np.nan),
        common_moves=model.common_moves,
        errors=np.where(history.seen, np.sqrt(history.noise), np.nan),
    )
    notes = suggestion_prose.notes(
        found,
        history,
        unit,
        restless=_restless(history),
        wanted=wanted,
        alike=None if model.alike is None else model.alike.bound(coverage),
    )
    return replace(found, notes=notes)


def _check_unit(unit: object) -> None:
    if not isinstance(unit, str) or not unit.strip():
        raise InvalidInput(
            f"must name a period, such as 'week', got {shown(unit)}", argument="unit"
        )


def _limit(history: PeriodTable, reward_range: object) -> float:
    """How far a mean can be from the logged one; infinite if the range of rewards is not known."""
    if reward_range is None and not history.coins:
        return math.inf
    centre = history.centre[history.seen.any(axis=1)]
    low, high = valid_range((0.0, 1.0) if reward_range is None else reward_range, centre)
    return float(np.maximum(centre - low, high - centre).max())


def _chance(model: PeriodModel, bound: float, limit: float) -> float:
    """That W holds: as the model says, and surely where the rewards' range allows no more."""
    if model.relative is None or bound >= limit:
        return 1.0
    return max(model.relative.chance(bound), model.level.chance(bound))


def _within(moves: Floats, bound: float) -> float:
    seen = moves[~np.isnan(moves)]
    return float((np.abs(seen) <= bound).mean())


def _unknown(history: PeriodTable, coverage: float, unit: str) -> Suggestion:
    """No arm was seen twice: what one period cannot tell, and a scale to guess by."""
    nothing = np.full(history.n.shape, np.nan)
    return Suggestion(
        bias_bound=math.inf,
        relative_bound=math.inf,
        coverage=coverage,
        meaning=suggestion_prose.unknown(history, unit),
        relative_meaning=suggestion_prose.relative_meaning(math.inf, coverage, history, unit),
        notes=(),
        tau=None,
        common_sd=None,
        own_sd=None,
        correlation=math.nan,
        arms=_arms(history),
        sensitivity=(),
        relative_sensitivity=(),
        guesses=_guesses(history, coverage),
        periods=history.periods,
        moves=nothing,
        common_moves=np.full(len(history.periods), np.nan),
        errors=nothing,
    )


def _taus(history: PeriodTable, *, pooled: bool) -> list[Tau]:
    one_way = history.one_way(pooled=pooled)
    squares = one_way.estimate(), *one_way.interval(MISS)
    return [Tau(*row) for row in np.sqrt(np.stack(squares, axis=1)).tolist()]


def _arms(history: PeriodTable) -> dict[str, ArmShift]:
    taus = iter(_taus(history, pooled=False) if history.repeated.any() else ())
    return {
        label: ArmShift(
            periods=int(history.seen[k].sum()),
            n=int(history.n[k].sum()),
            mean=float(history.centre[k]) if history.n[k].any() else math.nan,
            tau=next(taus) if history.repeated[k] else None,
        )
        for k, label in enumerate(history.arms)
    }


def _restless(history: PeriodTable) -> list[str]:
    """The arms whose τ is surely above what the others have on average."""
    labels = [label for label, often in zip(history.arms, history.repeated, strict=True) if often]
    if len(labels) == 1:
        return []
    one_way = history.one_way(pooled=False)
    low = one_way.lower(MISS / len(labels) / 2)
    squares = one_way.freedom * one_way.estimate()
    others = (squares.sum() - squares) / (one_way.freedom.sum() - one_way.freedom)
    return [label for label, more in zip(labels, low > others, strict=True) if more]


def _guesses(history: PeriodTable, coverage: float) -> tuple[Guess, ...]:
    """V by classes of τ/σ, for arms with the rewards that these have."""
    noise = math.sqrt(float(np.median(history.variance)))
    moves = OneWayMoves(TauLaw.known(1.0), history.factors[history.seen.any(axis=1)])
    unit = moves.bound(coverage)
    return tuple(
        Guess(word, ratio, round(ratio**-2), ratio * noise * unit) for word, ratio in SCALE.items()
    )
