"""Explain an arm's share in one sentence."""

from __future__ import annotations

from driftanchor.render.numbers import count, percent

LITTLE = 0.03  # a share that is no more than chance
MUCH = 2.0  # times as much as something else


def share_reason(state: str, share: float, of: int, p_best: float | None, floor: float) -> str:
    """Explain an arm's share of the last decisions.

    Args:
        state: The state of the arm.
        share: The arm's share of the last decisions.
        of: The number of these decisions.
        p_best: The probability that it is best; None if too little is known.
        floor: The arm's guaranteed share.

    Example:
        >>> share_reason("active", 0.76, 1000, 0.998, 0.08)
        'It got 76 % of the last 1,000 decisions: it is most likely the best.'
        >>> share_reason("active", 0.09, 1000, 0.001, 0.08)
        'It got 9 % of the last 1,000 decisions: about its guaranteed 8 %.'
    """
    if state != "active":
        return f"It gets nothing: it is {state}."
    if not of:
        return "It has got nothing yet: there were no decisions."
    got = f"It got {percent(round(share, 3))} of the last {count(of, 'decision')}"
    if p_best is None:
        return f"{got}: too little is known yet to prefer an arm."
    if p_best >= 0.5 and share >= 0.5:
        return f"{got}: it is {'most likely' if p_best > 0.9 else 'likely'} the best."
    if floor and share <= floor + LITTLE:
        return f"{got}: about its guaranteed {percent(floor)}."
    if share > MUCH * max(p_best, floor, LITTLE):
        return (
            f"{got}, more than its chance to be the best: the rule plays it to check that the logs "
            "are right about it."
        )
    if p_best >= 0.5:
        return f"{got}: it leads, but the rule is not sure yet, or has become sure only lately."
    if p_best < LITTLE:
        return f"{got}: it is unlikely to be the best."
    return f"{got}: it may be the best, and is played about as often as that is likely."
