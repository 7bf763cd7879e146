"""The sentences that the verdicts of plans and replays share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from driftanchor.core.stats.intervals import mean_estimate
from driftanchor.planning.safe_choice import MATTERS
from driftanchor.planning.words import interval, number
from driftanchor.render.numbers import count, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from driftanchor.core.stats.intervals import Estimate
    from driftanchor.planning.assess import Assessment


def legend(found: Assessment) -> tuple[str, ...]:
    """Explain the columns of the table of losses."""
    return (
        "lost: compared with always playing the best arm.",
        f"saved: how much less than {found.baseline}, which is the default rule without the logs, "
        f"in the same {found.each} (95 % interval).",
        f"worst case: how much more than {found.baseline} if {worst_case(found)} (95 % interval).",
        f"safe: in the worst case at most {number(found.cold_loss)} more, which is what "
        f"{found.baseline} loses on average. Only safe rules are recommended.",
    )


def details(found: Assessment) -> tuple[str, ...]:
    """The sentences after the answer."""
    if found.choice.uses_logs:
        return tuple(filter(None, (most_worlds(found), risk(found), bolder(found), found.limit)))
    return tuple(filter(None, (reason(found), bolder(found), found.instead)))


def expected(found: Assessment) -> str:
    """State the losses of the best rule and of the baseline."""
    saved, cold = found.saved(found.best_policy).value, found.cold_loss
    return (
        f"about {number(cold - saved)} rewards are lost in {count(found.horizon, 'decision')} "
        f"instead of {number(cold)} without the logs, {percent(saved / cold)} less"
    )


def most_worlds(found: Assessment) -> str:
    """State the ratio of losses in 19 of 20 worlds, rounded up; empty if it is infinite."""
    ratio = found.safety[found.best_policy].ratio
    if not math.isfinite(ratio):
        return ""
    times = math.ceil(100 * ratio) / 100
    if times == 0.0:
        return f"In 19 of 20 {found.each} it loses nothing."
    return (
        f"In 19 of 20 {found.each} it loses at most {times:.2f} times as much as without the logs."
    )


def risk(found: Assessment) -> str:
    """State the extra loss of the best rule in the worst case."""
    extra = found.safety[found.best_policy].extra
    return (
        "Worst case, with the bounds fully used against the logs: if "
        f"{worst_case(found)}, it loses {more_or_less(extra)} than without the logs."
    )


def worst_case(found: Assessment) -> str:
    """Describe the worst-case moves in a clause."""
    return moves_text(found.worst_moves, found.promise.is_relative)


def moves_text(moves: Mapping[str, float], together: bool) -> str:
    """Describe moves of arms in words.

    Args:
        moves: The move of each arm.
        together: Whether all arms may also move together.

    Example:
        >>> moves_text({"blue": -0.02, "red": 0.01}, together=False)
        'the mean of blue falls by 0.02 and that of red rises by 0.01'
        >>> moves_text({}, together=True)
        'no arm moves on its own'
    """
    if not moves:
        return "no arm moves on its own" if together else "no mean moves"
    parts = [
        f"{label} {'falls' if move < 0 else 'rises'} by {number(abs(move))}"
        for label, move in sorted(moves.items(), key=lambda item: item[1])
    ]
    shared = ", on top of any move that all arms share" if together else ""
    return f"the mean of {' and that of '.join(parts)}{shared}"


def more_or_less(extra: Estimate) -> str:
    """Format an extra loss with its interval.

    Example:
        >>> from driftanchor.core.stats.intervals import Estimate
        >>> more_or_less(Estimate(3.0, 1.0, 5.0))
        '3.00 more (95 % interval 1.00 to 5.00)'
        >>> more_or_less(Estimate(-3.0, -5.0, 1.0))
        '3.00 less (95 % interval −1.00 to 5.00)'
    """
    if extra.value >= 0:
        return f"{number(extra.value)} more (95 % interval {interval(extra)})"
    value, low, high = extra
    less = type(extra)(-value, -high, -low)
    return f"{number(less.value)} less (95 % interval {interval(less)})"


def bolder(found: Assessment) -> str:
    """Describe a rule that saves more but loses more in the worst case; empty if none does."""
    label, best = found.choice.bolder, found.best_policy
    if label is None:
        return ""
    worst = found.compared.worst
    more = mean_estimate(worst[label] - worst[best])
    other = best if found.choice.uses_logs else "without the logs"
    where = "in that worst case" if found.choice.uses_logs else f"if {worst_case(found)}"
    unsafe = "" if found.safety[label].safe else ", which is not safe"
    return (
        f"{label} loses only {number(float(found.lost[label].mean()))} on average, but "
        f"{number(more.value)} more than {other} {where}{unsafe}."
    )


def reason(found: Assessment) -> str:
    """Explain why the best rule with the logs is not recommended."""
    rule, cold = found.choice.rule, found.cold_loss
    if not found.safety[rule].safe:
        extra = found.safety[rule].extra
        return (
            f"If {worst_case(found)}, {rule} loses {more_or_less(extra)} than without the logs; "
            f"at most {number(cold)} more is safe."
        )
    more = mean_estimate(found.lost[rule] - found.lost[found.baseline])
    return (
        f"With the logs, {rule} loses {more_or_less(more)} than without; to matter, it must save "
        f"at least {percent(MATTERS)} ({number(MATTERS * cold)}), and more than chance explains."
    )
