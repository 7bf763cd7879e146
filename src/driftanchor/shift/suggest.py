"""`suggest`: a bias bound from how far the arms moved between periods of the past."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from driftanchor.core import check
from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.shift import words
from driftanchor.shift.belief import Belief, NextPeriod
from driftanchor.shift.history import History
from driftanchor.shift.suggestion import ArmShift, Guess, Sensitivity, Suggestion, Tau

MISS = 0.05  # intervals of τ miss it with this probability
OTHERS = (0.5, 1.0, 2.0)  # bounds to compare with, in units of the suggested one
# τ/σ as used for historical controls in clinical trials (Schmidli et al. 2014; Neuenschwander et
# al. 2010); (σ/τ)² is what the logs are worth at most.
SCALE = {"small": 0.0625, "moderate": 0.125, "substantial": 0.25, "large": 0.5, "very large": 1.0}


def suggest(
    periods: Mapping[str, OfflineData], *, coverage: float = 0.95, unit: str = "period"
) -> Suggestion:
    """Suggest a bias bound: how far may an arm's live mean be from its mean in all these logs?

    The bound is such that in a new period, if it differs from the past ones as these differ from
    one another, no arm moves further with probability `coverage`. How: see `between.py` and
    `belief.py`.

    Args:
        periods: The offline data of each period, in order, as `read_periods` gives them; or of each
            segment, such as a country, when the next one is a new segment.
        coverage: The probability to cover the moves of all arms in a new period.
        unit: What a period is called in `meaning`, such as `"week"`.

    Example:
        >>> weeks = {
        ...     week: OfflineData.from_summary({"A": (900, a, 0.25), "B": (900, b, 0.25)})
        ...     for week, a, b in (("W01", 0.50, 0.45), ("W02", 0.56, 0.43), ("W03", 0.47, 0.47))
        ... }
        >>> found = suggest(weeks, unit="week")
        >>> round(found.tau.estimate, 3), round(found.bias_bound, 3)
        (0.031, 0.174)
    """
    coverage = check.number(coverage, "coverage", low=0.5, high=0.999)
    history = History.of(periods)
    if not history.repeated.any():
        return _unknown(history, coverage, unit)
    if not history.noise[history.seen].any():
        raise InvalidInput(
            "all rewards are equal in every period: of moves they say nothing; is the reward the "
            "right column?"
        )
    between = history.between(pooled=True)
    coming = NextPeriod(Belief.from_periods(between), history.factors[history.seen.any(axis=1)])
    bound = coming.bound(coverage)
    lines = tuple(_line(bound * times, coming, history) for times in OTHERS)
    (tau,) = _taus(history, pooled=True)
    arms = _arms(history)
    return Suggestion(
        bias_bound=bound,
        coverage=coverage,
        meaning=words.meaning(bound, coverage, history, lines[1].past, unit),
        notes=words.notes(bound, between.correlation, arms, _restless(history), history, unit),
        tau=tau,
        correlation=between.correlation,
        arms=arms,
        sensitivity=lines,
        guesses=_guesses(history, coverage),
        periods=history.periods,
        moves=np.where(history.seen, history.mean - history.centre[:, None], np.nan),
        errors=np.where(history.seen, np.sqrt(history.noise), np.nan),
    )


def _unknown(history: History, coverage: float, unit: str) -> Suggestion:
    """No arm was seen twice: what one period cannot tell, and a scale to guess by."""
    nothing = np.full(history.n.shape, np.nan)
    return Suggestion(
        bias_bound=math.inf,
        coverage=coverage,
        meaning=words.unknown(history, unit),
        notes=(),
        tau=None,
        correlation=math.nan,
        arms=_arms(history),
        sensitivity=(),
        guesses=_guesses(history, coverage),
        periods=history.periods,
        moves=nothing,
        errors=nothing,
    )


def _line(bound: float, coming: NextPeriod, history: History) -> Sensitivity:
    moves = history.moves()
    seen = moves[~np.isnan(moves)]
    return Sensitivity(bound, coming.chance(bound), float((np.abs(seen) <= bound).mean()))


def _taus(history: History, *, pooled: bool) -> list[Tau]:
    between = history.between(pooled=pooled)
    squares = between.estimate(), *between.interval(MISS)
    return [Tau(*row) for row in np.sqrt(np.stack(squares, axis=1)).tolist()]


def _arms(history: History) -> dict[str, ArmShift]:
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


def _restless(history: History) -> list[str]:
    """The arms whose τ is surely above what the others have on average."""
    labels = [label for label, often in zip(history.arms, history.repeated, strict=True) if often]
    if len(labels) == 1:
        return []
    between = history.between(pooled=False)
    low, _ = between.interval(MISS / len(labels))
    squares = between.freedom * between.estimate()
    others = (squares.sum() - squares) / (between.freedom.sum() - between.freedom)
    return [label for label, more in zip(labels, low > others, strict=True) if more]


def _guesses(history: History, coverage: float) -> tuple[Guess, ...]:
    """V by classes of τ/σ, for arms with the rewards that these have."""
    noise = math.sqrt(float(np.median(history.variance)))
    moves = NextPeriod(Belief.known(1.0), history.factors[history.seen.any(axis=1)])
    unit = moves.bound(coverage)
    return tuple(
        Guess(word, ratio, round(ratio**-2), ratio * noise * unit) for word, ratio in SCALE.items()
    )
