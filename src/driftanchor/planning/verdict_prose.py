"""The sentences that the verdicts of plans and replays share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftanchor.planning.contenders import BLIND, RULE
from driftanchor.planning.safe_choice import BAD_LIMIT, MATTERS, TAIL_LIMIT
from driftanchor.planning.words import number
from driftanchor.render.numbers import percent

if TYPE_CHECKING:
    from driftanchor.planning.assess import Assessment
    from driftanchor.planning.safe_choice import Safety

LEGEND = (
    "lost: compared with always playing the best arm.",
    "bad case: the mean if the logs mislead as much as the declared bounds allow. Then the arm "
    "that leads in the logs has become worse, and another one better.",
    f"safe: in 19 of 20 worlds it loses at most {TAIL_LIMIT:g} times what is lost without the "
    f"logs, and in the bad case at most {BAD_LIMIT:g} times (or {BAD_LIMIT:g} times the usual loss "
    "without the logs, if that is more). Only safe rules are recommended.",
)


def details(found: Assessment) -> tuple[str, ...]:
    """What follows the answer: the risk of the best rule, and a bolder rule if there is one."""
    sentences = (risk(found), bolder(found)) if found.choice.uses_logs else (reason(found),)
    return tuple(filter(None, sentences))


def expected(found: Assessment) -> str:
    """What the best rule should lose, beside what is lost without the logs."""
    saved, cold = found.saved(found.best_policy).value, found.cold_loss
    return (
        f"about {number(cold - saved)} rewards are lost in {found.horizon:,} decisions instead of "
        f"{number(cold)} without the logs, {percent(saved / cold)} less"
    )


def risk(found: Assessment) -> str:
    """What the best rule loses in the bad case."""
    best = found.safety[found.best_policy]
    return f"The risk: {_bad_case(best)}."


def bolder(found: Assessment) -> str:
    """A rule that saves much more and is not safe; empty if there is none."""
    label = found.choice.bolder
    if label is None:
        return ""
    lost = number(found.cold_loss - found.saved(label).value)
    return f"{label} should lose only {lost}, but risks too much: {_too_much(found.safety[label])}."


def reason(found: Assessment) -> str:
    """Why no rule is recommended: savings are too small, or the risk is too large."""
    cold = found.cold_loss
    if found.choice.bolder is not None:
        return bolder(found)
    saved = found.saved(RULE).value
    change = f"saves {number(saved)}" if saved > 0 else f"loses {number(-saved)} more"
    trusted = ""
    if BLIND in found.lost and found.saved(BLIND).high < 0:  # it is left out of long horizons
        trusted = f", and trusting the logs loses {number(-found.saved(BLIND).value)} more"
    return (
        f"With the logs, {RULE} {change}{trusted}; to matter, a rule must save "
        f"{percent(MATTERS)} of what is lost, {number(MATTERS * cold)}."
    )


def _bad_case(one: Safety) -> str:
    if one.worst <= one.cold_worst:
        return (
            "even if the logs mislead as much as the declared bounds allow, no more is lost "
            f"with them ({number(one.worst)}) than without ({number(one.cold_worst)})"
        )
    return (
        "if the logs mislead as much as the declared bounds allow, "
        f"{number(one.worst)} are lost instead of {number(one.cold_worst)} without them"
    )


def _too_much(one: Safety) -> str:
    if not one.long_tail:
        return _bad_case(one)
    return (
        f"one time in twenty {number(one.tail)} or more are lost, and without the logs "
        f"{number(one.cold_tail)}"
    )
