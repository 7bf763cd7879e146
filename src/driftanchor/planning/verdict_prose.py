"""The sentences that the verdicts of plans and replays share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftanchor.planning.contenders import BLIND
from driftanchor.planning.safe_choice import TAIL_LIMIT
from driftanchor.planning.words import number

if TYPE_CHECKING:
    from driftanchor.planning.assess import Assessment


def details(found: Assessment) -> tuple[str, ...]:
    """What follows the answer: its price, a bolder rule if there is one, and the other rules."""
    return tuple(filter(None, (price(found), bolder(found), others(found))))


def price(found: Assessment) -> str:
    """What the best rule risks in a bad case; empty if that is little."""
    risk = found.safety[found.best_policy]
    if risk.worst <= TAIL_LIMIT * risk.cold_worst:
        return ""
    return (
        "In the worst case that the declared bounds allow it loses about "
        f"{number(risk.worst)}, against {number(risk.cold_worst)} without the logs."
    )


def bolder(found: Assessment) -> str:
    """A rule that saves much more and is not safe; empty if there is none."""
    label = found.choice.bolder
    if label is None:
        return ""
    risk, saves = found.safety[label], number(found.saved(label).value)
    if risk.long_tail:
        why = (
            f"one time in twenty it loses {number(risk.tail)} or more, against "
            f"{number(risk.cold_tail)} without the logs"
        )
    else:
        why = (
            f"in the worst case that the declared bounds allow it loses {number(risk.worst)}, "
            f"against {number(risk.cold_worst)} without the logs"
        )
    return f"{label} saves {saves}, but it is not safe: {why}."


def others(found: Assessment) -> str:
    """What every rule saves that was not named yet, and whether it is safe."""
    named = (found.best_policy, found.choice.bolder)
    saved = [
        f"{label} {number(found.saved(label).value)}"
        + ("" if found.safety[label].safe else " (not safe)")
        for label, one in found.contenders.items()
        if not one.cold and label not in named
    ]
    who = "Other rules save" if found.choice.uses_logs else "Rules that use them save"
    return f"{who}: {', '.join(saved)}."


def if_trusted(found: Assessment) -> str:
    """The end of a sentence: what it costs to trust the logs, where it does."""
    if BLIND not in found.lost:  # it is left out of the longest horizons
        return ""
    saved = found.saved(BLIND)
    return f"; to trust them costs about {number(-saved.value)} more" if saved.high < 0 else ""
