"""The texts of a plan: its answer, its page, and the table of its logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftanchor.planning.assess import USE, moves_within
from driftanchor.planning.verdict_prose import expected, moves_text
from driftanchor.planning.words import Texts, number
from driftanchor.render.numbers import count
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.core.check import Floats
    from driftanchor.planning.plan import Plan

SAVES = ("gap", "Anchor-TS saves", "MIN-UCB saves", "needed")  # the columns from theory
AGAINST = (
    "The arm that leads in the logs is worse by the shift, and another arm is better by the shift: "
    "the arm for which this costs a rule that trusts the logs most."
)
INSTEAD = (
    "To start cold, declare bias_bound=inf: then the logged means are ignored, and the noise of a "
    "reward is still taken from the logs."
)


def answer(found: Plan) -> str:
    """State the answer in one sentence."""
    if found.decision == USE:
        return f"Use the logs, with {found.best_policy}: {expected(found)}."
    rule = found.choice.rule
    why = "does not save enough of" if found.safety[rule].safe else "may add too much to"
    return (
        f"Do not use the logs: with {_moves(found)}, {rule} {why} the {number(found.cold_loss)} "
        f"rewards that are lost without them in {count(found.horizon, 'decision')}."
    )


def limit(found: Plan) -> str:
    """State the break-even and compare it with the declared bound."""
    even = found.break_even
    if even.value > found.largest_shift:
        most = np.full(len(found.offline.arms), found.largest_shift)
        return (
            f"Break-even: none up to the largest shift tried; even if {_against(found, most)}, "
            f"{found.break_even_policy} loses less with the logs than without."
        )
    if even.value == 0:
        return (
            f"Break-even: none; {found.break_even_policy} saves nothing with the logs even if no "
            "mean moves."
        )
    moves = _against(found, np.full(len(found.offline.arms), even.value))
    high = min(even.high, found.largest_shift)
    over = "more than " if even.high > found.largest_shift else ""
    reach = found.promise.reach
    allowed = f"; you allowed {number(float(reach[0]))}" if np.ptp(reach) == 0 else ""
    return (
        f"Break-even: if {moves}, {found.break_even_policy} loses as much with the logs as without "
        f"(95 % interval of the shift: {number(even.low)} to {over}{number(high)}){allowed}."
    )


def _against(found: Plan, reach: Floats) -> str:
    return moves_text(moves_within(found, reach), found.promise.is_relative)


def _moves(found: Plan) -> str:
    """How far means may have moved, in words."""
    size = number(found.promise.size)
    if not found.promise.is_relative:
        return f"means that may have moved by {size}"
    return f"arms that may have moved apart by {size} each"


def page_texts(found: Plan) -> Texts:
    """Return the texts of a plan's page."""
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
        f"within ±{letter}, because nothing else is known of them.{_common(found)} In the worst "
        f"case and at the break-even, two arms move against the logs. {AGAINST}",
        shift_axis="how far means have moved against the logs",
        shift_ticks=tuple(number(float(x)) for x in found.by_shift.x),
        shift_says=AGAINST,
        shift_mark=(float(found.promise.reach.max()), f"{letter} = {size}"),
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
