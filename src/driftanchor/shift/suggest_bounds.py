"""`suggest`: compute V and W from the moves between past periods, and explain them in words."""

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
from driftanchor.shift.next_period import Fiducial, NextPeriod
from driftanchor.shift.period_table import PeriodTable
from driftanchor.shift.suggestion import (
    ArmShift,
    Guess,
    RelativeSensitivity,
    Sensitivity,
    Suggestion,
    Tau,
)

ALPHA = 0.05  # error probability of the intervals of τ
MULTIPLES = (0.5, 1.0, 2.0)  # of each bound, compared in the sensitivity tables
# τ/σ as used for historical controls in clinical trials (Schmidli et al. 2014; Neuenschwander et
# al. 2010). Logs of any length are worth at most (σ/τ)² live rewards.
SCALE = {"small": 0.0625, "moderate": 0.125, "substantial": 0.25, "large": 0.5, "very large": 1.0}
CORRELATED = 0.5  # min correlation for the note that arms move together
MUCH_WIDER = 1.25  # W above this multiple of its value for aligned logs gets a note


def suggest(
    periods: Mapping[str, OfflineData],
    *,
    coverage: float = 0.95,
    unit: str = "period",
    reward_range: tuple[float, float] | None = None,
) -> Suggestion:
    """Suggest V, a bound on each arm's move, and W, a bound on its move relative to the others.

    Assume that a new period differs from past periods as much as past periods differ from one
    another. Then, with probability `coverage`, every arm's true mean is within V of the true mean
    behind its logs. With the same probability, every arm's move is within W of the common move that
    all arms share. The formulas are in `two_way.py` and `next_period.py`. If the logs cannot
    separate common moves from each arm's own moves, W is infinite and V comes from the model in
    `one_way.py`.

    Args:
        periods: Offline data of each period, in order, as returned by `read_periods`. Segments,
            such as countries, may take the place of periods if the bounds are for a new segment.
        coverage: Probability that each bound covers the moves of all arms in a new period.
        unit: What the texts of the suggestion call a period, such as `"week"`.
        reward_range: Lowest and highest possible reward; the bounds never exceed what this range
            allows. The default is (0, 1) if all rewards seem to be 0 or 1, otherwise no limit.

    Example:
        >>> weeks = {
        ...     week: OfflineData.from_summary({"A": (900, a, 0.25), "B": (900, b, 0.25)})
        ...     for week, a, b in (("W01", 0.50, 0.45), ("W02", 0.56, 0.50), ("W03", 0.47, 0.43))
        ... }
        >>> suggestion = suggest(weeks, unit="week")
        >>> round(suggestion.common_sd.estimate, 3), round(suggestion.own_sd.estimate, 3)
        (0.039, 0.0)
        >>> round(suggestion.bias_bound, 3), round(suggestion.relative_bound, 3)
        (0.247, 0.11)
    """
    coverage = check.number(coverage, "coverage", low=0.5, high=0.999)
    _check_unit(unit)
    table = PeriodTable.of(periods)
    limit = _limit(table, reward_range)
    if not table.repeated.any():
        return _unknown(table, coverage, unit)
    if not table.noise[table.seen].any():
        raise InvalidInput(
            "all rewards are equal in every period, so they say nothing of moves: is the reward "
            "the right column?"
        )
    try:
        return _suggested(table, coverage, unit, limit)
    except DriftanchorError:
        raise
    except (ArithmeticError, RuntimeError, ValueError) as error:  # the last two from brentq
        raise InvalidInput(
            "the means and variances of the arms differ so much in size that no bound can be "
            "computed from them: is the reward the right column?"
        ) from error


def _check_unit(unit: object) -> None:
    if not isinstance(unit, str) or not unit.strip():
        raise InvalidInput(
            f"must name a period, such as 'week', got {shown(unit)}", argument="unit"
        )


def _limit(table: PeriodTable, reward_range: object) -> float:
    """Return the largest move that the reward range allows; infinite if the range is unknown."""
    if reward_range is None and not table.is_binary:
        return math.inf
    centre = table.centre[table.logged]
    low, high = valid_range((0.0, 1.0) if reward_range is None else reward_range, centre)
    return float(np.maximum(centre - low, high - centre).max())


def _unknown(table: PeriodTable, coverage: float, unit: str) -> Suggestion:
    """Return a suggestion with infinite bounds and a rough scale for choosing V by hand."""
    nothing = np.full(table.n.shape, np.nan)
    taus = iter(_taus(table, pooled=False) if table.repeated.any() else ())
    arms = {
        label: ArmShift(
            periods=int(table.seen[k].sum()),
            n=int(table.n[k].sum()),
            mean=float(table.centre[k]) if table.logged[k] else math.nan,
            tau=next(taus) if table.repeated[k] else None,
        )
        for k, label in enumerate(table.arms)
    }
    return Suggestion(
        bias_bound=math.inf,
        relative_bound=math.inf,
        coverage=coverage,
        meaning=_unknown_meaning(table, unit),
        relative_meaning=_relative_meaning(math.inf, coverage, unit),
        notes=(),
        tau=None,
        common_sd=None,
        own_sd=None,
        correlation=math.nan,
        arms=arms,
        sensitivity=(),
        relative_sensitivity=(),
        guesses=_guesses(table, coverage),
        periods=table.periods,
        moves=nothing,
        common_moves=np.full(len(table.periods), np.nan),
        errors=nothing,
    )


def _suggested(table: PeriodTable, coverage: float, unit: str, limit: float) -> Suggestion:
    """Return the suggestion for logs in which at least one arm appears in two periods."""
    unlimited = table.level.bound(coverage)
    if math.isnan(unlimited):
        raise FloatingPointError("V is not a number")
    bound, relative = min(unlimited, limit), math.inf
    lines = tuple(
        Sensitivity(x, 1.0 if x >= limit else table.level.chance(x), _within(table.moves(), x))
        for x in (bound * times for times in MULTIPLES)
    )
    relative_lines: tuple[RelativeSensitivity, ...] = ()
    common_sd = own_sd = aligned = None
    if table.spread is not None and table.relative is not None:
        relative = min(table.relative.bound(coverage), bound)
        relative_lines = tuple(
            RelativeSensitivity(x, _relative_chance(table, x, limit), _within(table.own_moves(), x))
            for x in (relative * times for times in MULTIPLES)
        )
        common_sd = _tau(table.spread.common2, *table.spread.common_interval(ALPHA))
        own_sd = _tau(table.spread.own2, *table.spread.own_interval(ALPHA))
    if table.relative_if_aligned is not None:
        aligned = table.relative_if_aligned.bound(coverage)
    suggestion = replace(
        _unknown(table, coverage, unit),
        bias_bound=bound,
        relative_bound=relative,
        meaning=_meaning(bound, coverage, table, unit),
        relative_meaning=_relative_meaning(relative, coverage, unit),
        tau=_taus(table, pooled=True)[0],
        common_sd=common_sd,
        own_sd=own_sd,
        correlation=table.one_way(pooled=True).correlation,
        sensitivity=lines,
        relative_sensitivity=relative_lines,
        moves=np.where(table.seen, table.mean - table.centre[:, None], np.nan),
        common_moves=table.common_moves,
        errors=np.where(table.seen, np.sqrt(table.noise), np.nan),
    )
    return replace(suggestion, notes=tuple(_notes(suggestion, table, unit, unlimited, aligned)))


def _relative_chance(table: PeriodTable, bound: float, limit: float) -> float:
    """Return the probability that W = `bound` holds in a new period; `limit` bounds every move."""
    if table.relative is None or bound >= limit:
        return 1.0
    return max(table.relative.chance(bound), table.level.chance(bound))


def _within(moves: Floats, bound: float) -> float:
    seen = moves[~np.isnan(moves)]
    return float((np.abs(seen) <= bound).mean())


def _tau(*squares: float) -> Tau:
    return Tau(*map(math.sqrt, squares))


def _taus(table: PeriodTable, *, pooled: bool) -> list[Tau]:
    one_way = table.one_way(pooled=pooled)
    squares = np.stack([one_way.estimate(), *one_way.interval(ALPHA)], axis=1)
    return [_tau(*row) for row in squares.tolist()]


def _guesses(table: PeriodTable, coverage: float) -> tuple[Guess, ...]:
    """Return the bias bound that each step of `SCALE` implies for these logs."""
    noise = math.sqrt(float(np.median(table.variance)))
    unit = NextPeriod.one_way(Fiducial.known(1.0, 0.0), table.factors).bound(coverage)
    return tuple(
        Guess(word, ratio, round(ratio**-2), ratio * noise * unit) for word, ratio in SCALE.items()
    )


def _volatile(table: PeriodTable) -> list[str]:
    """Return the labels of arms that move significantly more than the average of the others."""
    labels = [label for label, often in zip(table.arms, table.repeated, strict=True) if often]
    if len(labels) == 1:
        return []
    one_way = table.one_way(pooled=False)
    low = one_way.lower(ALPHA / len(labels) / 2)
    squares = one_way.df * one_way.estimate()
    others = (squares.sum() - squares) / (one_way.df.sum() - one_way.df)
    return [label for label, more in zip(labels, low > others, strict=True) if more]


def _meaning(bound: float, coverage: float, table: PeriodTable, unit: str) -> str:
    """Explain in words what the bias bound V promises, and on what condition."""
    error = table.error
    if np.isnan(error).all():
        noise = (
            "The logged means have sampling noise too. It comes on top, and its size is not known "
            "here."
        )
    else:
        k = int(np.nanargmax(error))
        noise = (
            f"The logged means have sampling noise too (standard error up to {error[k]:.2g}, arm "
            f"{table.arms[k]!r}). It comes on top, and policies account for it."
        )
    return (
        f"V = {bound:.4g}: in {100 * coverage:g} % of new {unit}s, if they differ from the past "
        f"{len(table.periods)} as these differ from one another, no arm's true mean is further "
        f"than that from the true mean behind its logs. {noise} It is a promise about "
        "the future only if the future behaves like the past."
    )


def _relative_meaning(bound: float, coverage: float, unit: str) -> str:
    """Explain in words what the relative bound W promises, or why it is unknown."""
    if math.isinf(bound):
        return (
            "W is not known: to tell the move that arms share from their own moves, two arms must "
            f"have been seen in the same two {unit}s."
        )
    return (
        f"W = {bound:.4g}: in {100 * coverage:g} % of new {unit}s, on the same condition, all arms "
        "move together by some common amount, and no arm's true mean is further than W from where "
        "that puts it. Only these own moves can change which arm is best."
    )


def _unknown_meaning(table: PeriodTable, unit: str) -> str:
    """Explain in words why V is unknown, for logs in which no arm appears in two periods."""
    seen = f"in one {unit} only, {table.periods[0]!r}"
    if len(table.periods) > 1:
        seen = f"in {len(table.periods)} {unit}s, but no arm in two of them"
    return (
        f"The logs saw arms {seen}: how far a mean moves from one {unit} to the next cannot be "
        "known from them. They show the noise within it and nothing else. Read logs of several "
        f"{unit}s, guess by the scale, or say inf."
    )


def _notes(
    suggestion: Suggestion, table: PeriodTable, unit: str, unlimited: float, aligned: float | None
) -> list[str]:
    """Return warnings about these logs.

    `unlimited` is V before the range of rewards limited it. `aligned` is W as it would be if all
    arms were logged in the same periods.
    """
    bound, relative = suggestion.bias_bound, suggestion.relative_bound
    notes = []
    if np.isnan(table.variance).all():
        notes.append(
            "the rewards have no variance, so noise cannot be separated from moves: all of it "
            "counts as moves, and the bounds are too large rather than too small"
        )
    repeated = int(table.repeated.sum())
    if len(table.periods) == 2:
        own = {1: "", 2: ", and the own moves of two arms only once"}.get(
            repeated, f", and the own moves of {repeated:,} arms {repeated - 1:,} times"
        )
        notes.append(
            f"two {unit}s are very little: they show the common move once{own}. The bounds are "
            f"wide for that reason; more {unit}s are the only cure"
        )
    if suggestion.own_sd is None and repeated == 1:
        notes.append(
            f"only one arm was seen in several {unit}s: its own moves cannot be separated from "
            "moves that all arms share, so W is not known"
        )
    elif suggestion.own_sd is None:
        notes.append(
            f"no two arms were seen in the same two {unit}s, directly or through others: own moves "
            "cannot be separated from common ones, so W is not known"
        )
    if unlimited > bound:
        notes.append(
            f"the moves alone would ask for V = {unlimited:.3g}; V was lowered to {bound:.3g}, as "
            "the range of the rewards allows no more. Such a bound promises nothing"
        )
    once = [label for label, arm in suggestion.arms.items() if arm.periods == 1]
    if once:
        notes.append(
            f"{_named(once)} seen in one {unit} only: the bounds assume that such arms move as the "
            "others do"
        )
    if aligned is not None and relative > MUCH_WIDER * aligned:
        notes.append(
            f"arms were logged in different {unit}s, so common moves are part of the differences "
            f"between their logged means, and W must cover that: with logs of the same {unit}s it "
            f"would be {aligned:.3g}"
        )
    volatile = _volatile(table)
    if volatile:
        notes.append(
            f"{_named(volatile)} moving more than the others: V and W may be too small there"
        )
    if suggestion.correlation >= CORRELATED:
        notes.append(
            f"arms move together (correlation {suggestion.correlation:.2f}): such moves change no "
            "choice between arms. V must cover them, W need not"
        )
    past = [line.past for line in suggestion.sensitivity if line.bias_bound == bound]
    if past and past[0] < suggestion.coverage - 0.1:
        notes.append(
            f"only {100 * past[0]:.0f} % of the past moves are within V, because the means of "
            f"single {unit}s have sampling noise (standard error up to "
            f"{np.nanmax(suggestion.errors):.2g}) that V leaves out"
        )
    gap = float(np.ptp(table.centre[table.logged]))
    if table.logged.sum() > 1 and min(bound, relative) >= gap / 2:
        notes.append(
            f"the arms' means are {gap:.3g} apart, and two arms that move by "
            f"{min(bound, relative):.3g} in opposite directions close that gap: these logs rule "
            "out no arm"
        )
    elif table.logged.sum() > 1 and bound >= gap / 2:
        notes.append(
            f"the arms' means are {gap:.3g} apart: with V alone these logs rule out no arm, "
            "with W they may"
        )
    return notes


def _named(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"arm {labels[0]!r} is"
    more = f" and {len(labels) - 3:,} more" if len(labels) > 3 else ""
    return f"arms {', '.join(repr(label) for label in labels[:3])}{more} are"
