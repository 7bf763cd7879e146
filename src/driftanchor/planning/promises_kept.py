"""Whether the promises held, as far as what came after the logs shows."""

from __future__ import annotations

from driftanchor.core.stats.intervals import Estimate
from driftanchor.planning.promise import Promise
from driftanchor.planning.split_logs import SplitLogs
from driftanchor.planning.words import listed


def within(shift: Estimate, bound: float) -> str:
    """Whether a shift is within a bound, as far as its interval shows.

    Example:
        >>> [within(Estimate(0.2, 0.1, 0.3), bound) for bound in (0.4, 0.25, 0.05)]
        ['yes', 'unclear', 'no']
    """
    if max(abs(shift.low), abs(shift.high)) <= bound:
        return "yes"
    return "no" if shift.low > bound or shift.high < -bound else "unclear"


def held_together(past: SplitLogs, promise: Promise) -> dict[str, str]:
    """Whether each promise held for all arms: `"yes"`, `"no"` or `"unclear"`.

    W held if there is a common move from which no arm is further away than W.
    """
    column = past.before.arms.column
    held: dict[str, str] = {}
    if promise.has_levels:
        found = [within(s, promise.levels[column(x)]) for x, s in past.shifts.items()]
        held["bias_bound"] = _worst(found)
    if promise.is_relative:
        rows = [(s, float(promise.apart[column(x)])) for x, s in past.shifts.items()]
        surely = max(s.high - w for s, w in rows) <= min(s.low + w for s, w in rows)
        perhaps = max(s.low - w for s, w in rows) <= min(s.high + w for s, w in rows)
        held["relative_bound"] = "yes" if surely else "unclear" if perhaps else "no"
    return held


def _worst(answers: list[str]) -> str:
    return next(x for x in ("no", "unclear", "yes") if x in answers)


def promises_kept(past: SplitLogs, promise: Promise) -> tuple[str, ...]:
    """Whether V and W held, in words."""
    held = held_together(past, promise)
    notes = []
    if "bias_bound" in held:
        levels = dict(zip(past.before.arms, promise.levels, strict=True))
        broken = [x for x, shift in past.shifts.items() if within(shift, levels[x]) == "no"]
        notes.append(
            {
                "yes": "V held for all arms with logs",
                "no": f"V did not hold: {listed(broken)} moved further",
                "unclear": "V may have held: no arm moved further for sure",
            }[held["bias_bound"]]
        )
    if "relative_bound" in held:
        notes.append(
            {
                "yes": "W held: arms did not move further apart",
                "no": "W did not hold: arms moved further apart",
                "unclear": "W may have held: arms did not move further apart for sure",
            }[held["relative_bound"]]
        )
    return tuple(notes)
