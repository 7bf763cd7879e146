"""What a plan says: its answer, the words of its page, and the table of its logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftanchor.planning.assess import USE
from driftanchor.planning.verdict_prose import expected
from driftanchor.planning.words import Texts, number
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.planning.plan import Plan

SAVES = ("gap", "Anchor-TS saves", "MIN-UCB saves", "needed")  # the columns from theory
AGAINST = (
    "The arm that leads in the logs is worse by the shift. Of the arms that can then overtake it, "
    "the one furthest behind in the logs is better by the shift."
)


def answer(found: Plan) -> str:
    """The answer in one sentence."""
    if found.decision == USE:
        return f"Use the logs, with {found.best_policy}: {expected(found)}."
    return (
        f"Do not use the logs: with {_moves(found)}, no safe rule saves enough of the "
        f"{number(found.cold_loss)} rewards that are lost without them in "
        f"{found.horizon:,} decisions."
    )


def limit(found: Plan) -> str:
    """Up to which shift the logs help."""
    even, declared = found.break_even.value, number(found.promise.size)
    if even > found.largest_shift:
        most = number(found.largest_shift)
        return f"The logs help even if means moved against them by {most}, the most that was tried."
    if even == 0:
        return "The logs help on average, but not if the means moved against them at all."
    return (
        f"The logs help as long as no mean moved against them by more than {number(even)} "
        f"({declared} is declared)."
    )


def _moves(found: Plan) -> str:
    """How far means may have moved, in words."""
    size = number(found.promise.size)
    if not found.promise.is_relative:
        return f"means that may have moved by {size}"
    return f"arms that may have moved apart by {size} each"


def page_texts(found: Plan) -> Texts:
    """What the page of a plan says."""
    arms, n = len(found.offline.arms), int(found.offline.n.sum())
    letter, size = found.promise.letter, number(found.promise.size)
    law = "coins" if found.law.name == "bernoulli" else "Gaussian"
    return Texts(
        title="What are these logs worth?",
        answers=("use the logs", "do not use the logs"),
        lead=f"{arms} arms, {n:,} logged rewards; {_moves(found)}; {found.horizon:,} rounds.",
        expected=f"In {found.worlds:,} worlds that the logs and the promise leave possible: "
        f"{_worlds(found)}.",
        how="The logs are taken as they are. In each world the means behind them are drawn "
        "from what the logs leave open, then moved, and every policy plays once. Rewards are "
        f"{law}: {found.law.why}. Savings are paired world by world. Own moves are uniform "
        f"within ±{letter}, because nothing else is known of them.{_common(found)} The "
        f"break-even is for a bad case. {AGAINST}",
        shift_axis="how far means have moved against the logs",
        shift_ticks=tuple(number(float(x)) for x in found.by_shift.x),
        shift_says=AGAINST,
        shift_mark=(float(found.promise.reach.max()), f"{letter} = {size}"),
        bound_mark=(found.promise.axis[1], "declared"),
        tables=(arm_table(found),),
    )


def _worlds(found: Plan) -> str:
    letter = found.promise.letter
    if not found.promise.is_relative:
        return f"each mean has moved by something within ±{letter}, independent of the others"
    return (
        f"all means have moved together, and each by something of its own within ±{letter}, "
        "independent of the others"
    )


def _common(found: Plan) -> str:
    """How arms move together, in a sentence."""
    if not found.promise.is_relative:
        return ""
    if found.promise.has_levels:
        return " The common move is uniform within what V leaves."
    return (
        " The common move is normal and wide, because nothing is promised of it: its standard "
        "deviation is the noise of a reward (for a rate p it is p (1 − p), and all rates stay "
        "between 0 and 1), or the distance between the best and the worst logged mean if that "
        "is larger."
    )


def arm_table(found: Plan) -> Table:
    """The logs, and what theory says they save."""
    bounds = {"V": found.promise.levels, "W": found.promise.apart}
    bounds = {letter: x for letter, x in bounds.items() if np.isfinite(x).any()}
    rows = []
    for i, label in enumerate(found.offline.arms):
        logged = f"{found.offline.n[i]:,}", number(float(found.offline.mean[i]))
        limits = (number(float(x[i])) for x in bounds.values())
        saves = [number(float(x)) for x in found.theory.get(label, {}).values()]
        rows.append((label, *logged, *limits, *(saves or ["–"] * len(SAVES))))
    return Table(
        "The logs, the pulls that theory says they save if no mean has moved, and the pulls "
        "that an arm needs without logs",
        ("arm", "n", "mean", *bounds, *SAVES),
        tuple(rows),
    )
