"""What an alarm says, in plain words: what, since when, how far, what it means, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from driftanchor.live.watch.alarm import Alarm, Mark, Moved
from driftanchor.render.numbers import count, interval, rounded

CAUSES = (
    "Check what changed since the logs: the arm itself, who sees it, the season, or how rewards "
    "are counted."
)
STILL = (
    "Decisions still use the logs as far as was promised, so they may favour the wrong arm until "
    "enough live rewards have come."
)
GONE = "From now on the logs of {named} do not count: decisions use live rewards alone."


def alarm_text(alarm: Alarm, labels: Sequence[str], distrusts: bool = False) -> str:
    """What an alarm says.

    Args:
        alarm: The alarm.
        labels: Those of all arms.
        distrusts: Whether the campaign then ignores the logs of the arms.
    """
    named = " and ".join(f"{labels[arm.column]!r}" for arm in alarm.arms)
    if distrusts:
        rest = f"{GONE.format(named=named)} {CAUSES}"
    else:
        rest = f"{STILL} {CAUSES} {_remedy(alarm, named)}"
    return f"{_found(alarm, labels, named)} {_when(alarm)} {rest}"


def _found(alarm: Alarm, labels: Sequence[str], named: str) -> str:
    if alarm.promise == "bias_bound":
        (arm,) = alarm.arms
        return (
            f"The logs of {named} no longer fit: its live mean is {_far(arm)} its logged mean, and "
            f"at most {rounded(arm.bound)} was promised."
        )
    if len(alarm.arms) == 1:
        (arm,) = alarm.arms
        return (
            f"{named} no longer moves with the other arms: compared with the logs it is "
            f"{_far(arm)} where the others are, and at most {rounded(arm.bound)} was promised."
        )
    each = "; ".join(
        f"{labels[arm.column]!r} is {_far(arm)} the others, and {rounded(arm.bound)} was promised"
        for arm in alarm.arms
    )
    return (
        f"{named} have moved apart further than was promised: compared with the logs {each}. At "
        "least one of them broke the promise; the rewards do not show which."
    )


def _far(arm: Moved) -> str:
    side = "above" if arm.move.value >= 0 else "below"
    low, high = sorted((abs(arm.move.low), abs(arm.move.high)))
    if arm.move.low < 0 < arm.move.high:
        return f"{rounded(abs(arm.move.value))} {side}"
    return f"{rounded(abs(arm.move.value))} ({interval(low, high)}) {side}"


def _when(alarm: Alarm) -> str:
    rewards = count(sum(arm.rewards for arm in alarm.arms), "live reward")
    text = f"This became clear {_at(alarm.seen)}, after {rewards} of the arm"
    text += "s" if len(alarm.arms) > 1 else ""
    began = alarm.began
    if began is None or began.number >= alarm.seen.number:
        return f"{text}."
    return f"{text}; the move seems to have begun {_at(began)}."


def _at(mark: Mark) -> str:
    at = f"at reward {mark.number:,}"
    return f"{at} ({mark.time})" if mark.time else at


def _remedy(alarm: Alarm, named: str) -> str:
    name = "bias bound" if alarm.promise == "bias_bound" else "relative bound"
    return (
        f"If there is a cause, distrust the logs of {named}, or start a new campaign with a larger "
        f"{name}."
    )
