"""The texts of a replay: its answer, its page, and the table of shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftanchor.planning.assess import USE
from driftanchor.planning.verdict_prose import expected, worst_case
from driftanchor.planning.words import Texts, interval, number
from driftanchor.render.numbers import count
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.planning.replay import Replay


def answer(found: Replay) -> str:
    """State the answer in one sentence."""
    there = found.history.by.there
    if found.decision == USE:
        return f"The logs would have helped, with {found.best_policy}: {there}, {expected(found)}."
    rule = found.choice.rule
    why = "does not save enough of" if found.safety[rule].safe else "could have added too much to"
    return (
        f"{_refusal(found)}: {there}, {rule} {why} the {number(found.cold_loss)} rewards that are "
        f"lost without them in {count(found.horizon, 'decision')}."
    )


def _refusal(found: Replay) -> str:
    """Say whether the logs would have helped at a risk, or not at all."""
    if found.choice.bolder is not None or not found.safety[found.choice.rule].safe:
        return "The logs would have helped only at a risk"
    return "The logs would not have helped"


def limit(found: Replay) -> str:
    """State the break-even as a multiple of the shift that happened."""
    even, unit = found.break_even.value, found.by_shift.unit
    if even > found.largest_shift or unit == 0:
        most = number(found.by_shift.x[-1])
        return f"The logs would have helped even with {most} times the shift that happened."
    if even == 0:
        return "The logs would not have helped if nothing had moved."
    return f"The logs would have helped up to {number(even / unit)} times the shift that happened."


def page_texts(found: Replay) -> Texts:
    """Return the texts of a replay's page."""
    past, largest = found.history, number(found.history.largest)
    bounds = found.promise.text + ("" if found.declared else ", the largest shift that happened")
    sizes = past.by.sizes(int(found.offline.n.sum()), int(past.after.n.sum()))
    there = past.by.there[0].upper() + past.by.there[1:]
    return Texts(
        title="What would these logs have been worth?",
        answers=(
            "would have helped",
            _refusal(found).removeprefix("The logs ").removeprefix("would have helped "),
        ),
        lead=f"{len(found.offline.arms)} arms, {sizes}; {bounds}; {found.horizon:,} rounds.",
        expected=f"{there}, as it really was: {found.worlds:,} runs of each policy.",
        how=f"{past.by.how}: its means are taken for the truth, and runs differ by the rewards "
        "drawn. In each run all policies meet the same rewards. The worst case, which decides "
        "whether a rule is safe, is not what happened but what the promise would have allowed: "
        f"{worst_case(found)}.",
        shift_axis="how far the means move, in multiples of what happened",
        shift_ticks=tuple(number(float(x)) for x in found.by_shift.x),
        shift_says=f"Every mean moved 0 to 2 times as far as it really did (the furthest by "
        f"{largest}).",
        shift_mark=(1.0, "what happened"),
        tables=(shift_table(found),),
    )


def shift_table(found: Replay) -> Table:
    """How far each arm moved, and whether V held where it is declared."""
    past = found.history
    levels = found.promise.has_levels
    rows = []
    for i, label in enumerate(found.offline.arms):
        n, m = past.before.n[i], number(float(past.before.mean[i]))
        later = (f"{past.after.n[i]:,}", number(float(past.after.mean[i])))
        moved = ["–", "–", "–"]
        if label in past.shifts:
            shift = past.shifts[label]
            moved = [number(shift.value), interval(shift), found.held(label)]
        rows.append((label, f"{n:,}", m, *later, *moved[: 3 if levels else 2]))
    sides = f"n {past.by.before}", "mean", f"n {past.by.after}", "mean"
    headings = ["arm", *sides, "shift", "95 %"]
    headings += ["within V"] if levels else []
    return Table("How far the means moved", tuple(headings), tuple(rows))
