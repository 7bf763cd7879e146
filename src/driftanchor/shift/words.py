"""What a suggestion says, in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from driftanchor.shift.history import History
from driftanchor.shift.suggestion import ArmShift

TOGETHER = 0.5  # a correlation from which arms are said to move together


def meaning(bound: float, coverage: float, history: History, past: float, unit: str) -> str:
    """What the bound promises, and on which condition."""
    moves = int((~np.isnan(history.moves())).sum())
    return (
        f"V = {bound:.4g}: in {100 * coverage:g} % of new {unit}s, if they differ from the past "
        f"{len(history.periods)} as these differ from one another, no arm's mean is further than "
        f"that from its mean in the logs. It covers {100 * past:.0f} % of the {moves:,} moves "
        "seen, noise included. It is a promise about the future only if that behaves like the past."
    )


def unknown(history: History, unit: str) -> str:
    """What cannot be known from logs in which no arm was seen twice."""
    seen = f"in one {unit} only, {history.periods[0]!r}"
    if len(history.periods) > 1:
        seen = f"in {len(history.periods)} {unit}s, but no arm in two of them"
    return (
        f"The logs saw arms {seen}: how far a mean moves from one {unit} to the next cannot be "
        "known from them. They tell noise within it and nothing else. Read logs of several "
        f"{unit}s, guess by the scale, or say inf."
    )


def notes(
    bound: float,
    correlation: float,
    arms: Mapping[str, ArmShift],
    restless: list[str],
    history: History,
    unit: str,
) -> tuple[str, ...]:
    """What to know about these logs before relying on the bound."""
    found = []
    if np.isnan(history.variance).all():
        found.append(
            "the rewards have no variance, so noise cannot be told from moves: all of it counts as "
            "moves, and the bound is too large rather than too small"
        )
    few = len(history.periods)
    if few == 2:
        found.append(f"two {unit}s are one move for each arm: the bound is wide for that reason")
    once = [label for label, arm in arms.items() if arm.periods == 1]
    if once:
        found.append(
            f"{_named(once)} seen in one {unit} only: the bound takes them to move as others do"
        )
    if restless:
        found.append(f"{_named(restless)} moving more than the others: V may be too small there")
    if correlation >= TOGETHER:
        found.append(
            f"arms move together (correlation {correlation:.2f}): such moves change no choice "
            "between arms, but a bias bound must cover them"
        )
    means = [arm.mean for arm in arms.values() if not math.isnan(arm.mean)]
    apart = max(means) - min(means)
    if len(means) > 1 and bound >= apart:
        found.append(
            f"the arms' means are {apart:.3g} apart and V is no less: such logs can hardly rule "
            "out an arm"
        )
    return tuple(found)


def _named(labels: list[str]) -> str:
    if len(labels) == 1:
        return f"arm {labels[0]!r} is"
    more = f" and {len(labels) - 3:,} more" if len(labels) > 3 else ""
    return f"arms {', '.join(repr(label) for label in labels[:3])}{more} are"
