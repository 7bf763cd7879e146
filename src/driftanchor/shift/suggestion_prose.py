"""What a suggestion says, in plain words."""

from __future__ import annotations

import math

import numpy as np

from driftanchor.shift.period_table import PeriodTable
from driftanchor.shift.suggestion import Suggestion

TOGETHER = 0.5  # a correlation from which arms are said to move together
LONGER = 1.25  # times as large: W is said to grow because arms were logged at different times


def meaning(bound: float, coverage: float, history: PeriodTable, unit: str) -> str:
    """What V promises, and on which condition."""
    return (
        f"V = {bound:.4g}: in {100 * coverage:g} % of new {unit}s, if they differ from the past "
        f"{len(history.periods)} as these differ from one another, no arm's true mean is further "
        f"than that from the true mean behind its logs. {_noise(history)} It is a promise about "
        "the future only if the future behaves like the past."
    )


def relative_meaning(bound: float, coverage: float, history: PeriodTable, unit: str) -> str:
    """What W promises, or why it is not known."""
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


def _noise(history: PeriodTable) -> str:
    """How far the logged means may be from the true ones behind them."""
    error = history.error
    if np.isnan(error).all():
        return (
            "The logged means have sampling noise too. It comes on top, and its size is not known "
            "here."
        )
    k = int(np.nanargmax(error))
    return (
        f"The logged means have sampling noise too (standard error up to {error[k]:.2g}, arm "
        f"{history.arms[k]!r}). It comes on top, and policies account for it."
    )


def unknown(history: PeriodTable, unit: str) -> str:
    """What cannot be known from logs in which no arm was seen twice."""
    seen = f"in one {unit} only, {history.periods[0]!r}"
    if len(history.periods) > 1:
        seen = f"in {len(history.periods)} {unit}s, but no arm in two of them"
    return (
        f"The logs saw arms {seen}: how far a mean moves from one {unit} to the next cannot be "
        "known from them. They show the noise within it and nothing else. Read logs of several "
        f"{unit}s, guess by the scale, or say inf."
    )


def notes(
    found: Suggestion,
    history: PeriodTable,
    unit: str,
    *,
    restless: list[str],
    wanted: float,
    alike: float | None,
) -> tuple[str, ...]:
    """What to know about these logs before relying on the bounds.

    Args:
        found: The suggestion, without notes.
        history: What it is from.
        unit: What a period is called.
        restless: Arms that move more than the others.
        wanted: V without regard to the range of rewards.
        alike: W if all arms had been logged in the same periods; None if it is not known.
    """
    bound, relative = found.bias_bound, found.relative_bound
    said = []
    if np.isnan(history.variance).all():
        said.append(
            "the rewards have no variance, so noise cannot be separated from moves: all of it "
            "counts as moves, and the bounds are too large rather than too small"
        )
    repeated = sum(arm.periods > 1 for arm in found.arms.values())
    if len(history.periods) == 2:
        said.append(_two(repeated, unit))
    if found.own_sd is None:
        said.append(_no_own(repeated, unit))
    if wanted > bound:
        said.append(
            f"the moves alone would ask for V = {wanted:.3g}; V was lowered to {bound:.3g}, as the "
            "range of the rewards allows no more. Such a bound promises nothing"
        )
    once = [label for label, arm in found.arms.items() if arm.periods == 1]
    if once:
        said.append(
            f"{_named(once)} seen in one {unit} only: the bounds assume that such arms move as the "
            "others do"
        )
    if alike is not None and relative > LONGER * alike:
        said.append(
            f"arms were logged in different {unit}s, so common moves are part of the differences "
            f"between their logged means, and W must cover that: with logs of the same {unit}s it "
            f"would be {alike:.3g}"
        )
    if restless:
        said.append(
            f"{_named(restless)} moving more than the others: V and W may be too small there"
        )
    if found.correlation >= TOGETHER:
        said.append(
            f"arms move together (correlation {found.correlation:.2f}): such moves change no "
            "choice between arms. V must cover them, W need not"
        )
    below = [line.past for line in found.sensitivity if line.bias_bound == bound]
    if below and below[0] < found.coverage - 0.1:
        said.append(
            f"only {100 * below[0]:.0f} % of the past moves are within V, because the means of "
            f"single {unit}s have sampling noise (standard error up to "
            f"{np.nanmax(found.errors):.2g}) that V leaves out"
        )
    means = [arm.mean for arm in found.arms.values() if not math.isnan(arm.mean)]
    apart = max(means) - min(means)
    if len(means) > 1 and min(bound, relative) >= apart / 2:
        said.append(
            f"the arms' means are {apart:.3g} apart, and two arms that move by "
            f"{min(bound, relative):.3g} in opposite directions close that gap: these logs rule "
            "out no arm"
        )
    elif len(means) > 1 and bound >= apart / 2:
        said.append(
            f"the arms' means are {apart:.3g} apart: with V alone these logs rule out no arm, "
            "with W they may"
        )
    return tuple(said)


def _two(arms: int, unit: str) -> str:
    """How little two periods are."""
    own = {1: "", 2: ", and the own moves of two arms only once"}.get(
        arms, f", and the own moves of {arms:,} arms {arms - 1:,} times"
    )
    return (
        f"two {unit}s are very little: they show the common move once{own}. The bounds are wide "
        f"for that reason; more {unit}s are the only cure"
    )


def _no_own(arms: int, unit: str) -> str:
    if arms == 1:
        return (
            f"only one arm was seen in several {unit}s: its own moves cannot be separated from "
            "moves that all arms share, so W is not known"
        )
    return (
        f"no two arms were seen in the same two {unit}s, directly or through others: own moves "
        "cannot be separated from common ones, so W is not known"
    )


def _named(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"arm {labels[0]!r} is"
    more = f" and {len(labels) - 3:,} more" if len(labels) > 3 else ""
    return f"arms {', '.join(repr(label) for label in labels[:3])}{more} are"
