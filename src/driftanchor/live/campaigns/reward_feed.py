"""Reward feed: detects problems with the rewards a campaign receives.

Three mistakes make a campaign decide without learning: a reward window that is too short, a caller
that reports only one kind of reward, and a caller that reports none.
"""

from __future__ import annotations

import math

import numpy as np

from driftanchor.live.campaigns.campaign_state import CampaignState, centre
from driftanchor.live.changes import only_conversions
from driftanchor.live.stores.store import Reader
from driftanchor.render.numbers import count, length_of_time

RECENT = 20_000  # recent events to search for late rewards
MIN_LATE = 10
LATE_SHARE = 0.2  # of the reported rewards
MIN_COUNT = 20  # minimum rewards or decisions before a warning
UNKNOWN = 1_000  # minimum equal rewards for a warning, without logs to compare with
CHANCE = 1e-3  # equal rewards are surprising if the logs make them less likely than this
PATIENCE = 86_400.0  # seconds to wait for the first rewards if there is no window


def feed_problems(name: str, current: CampaignState, reader: Reader, now: float) -> tuple[str, ...]:
    """Return the problems with the rewards, and what to do about each."""
    after, since = max(reader.counters.seq - RECENT, 0), _same_window_since(current)
    recent = reader.reported(after, since)
    late, in_time = recent.get("late", 0), recent.get("rewarded", 0)
    problems = []
    if late >= MIN_LATE and late >= LATE_SHARE * (late + in_time):
        problems.append(_late_text(name, current, late, late + in_time))
    reported = reader.reported(after, 0) if since else recent
    if not reported and _none_reported(current, reader, now):
        problems.append(_none_text(name, current))
    elif reported.get("rewarded"):
        value = _only_value(current)
        if value is not None and _is_odd(current, value):
            problems.append(_equal_text(name, current, value))
    return tuple(problems)


def _same_window_since(current: CampaignState) -> int:
    """Return the number of the last decision made under another window."""
    details = [entry.detail or {} for entry in current.changes]
    return next((x["decisions"] for x in reversed(details) if "reward_window" in x["after"]), 0)


def _late_text(name: str, current: CampaignState, late: int, all_of_them: int) -> str:
    window = current.settings_of(_same_window_since(current) + 1).reward_window or 0.0
    default = current.settings.default_reward
    instead = "nothing" if default is None else f"the default reward, {default:g},"
    return (
        f"{late:,} of the last {count(all_of_them, 'reported reward')} came after the reward "
        f"window of {length_of_time(window)}, and {instead} counts in their place: the live means "
        "are wrong. Make the window longer than rewards take: driftanchor campaign change "
        f"{name} --reward-window {_short(2 * window)} --reason 'rewards take longer'"
    )


def _none_reported(current: CampaignState, reader: Reader, now: float) -> bool:
    """Return whether decisions are old enough that a reward should have been reported."""
    state, settings = current.state, current.settings
    if state.reward_count:  # all are defaults, or zeros reported long ago
        value = _only_value(current)
        is_default = value is not None and value == settings.default_reward
        return (
            value is not None and is_default and _is_surprising(current, value, state.reward_count)
        )
    window = settings.reward_window or 0.0
    wait = window if window and current.waits else max(window, PATIENCE)
    made = next(reader.all_decisions(after=MIN_COUNT - 1), None)
    return made is not None and now - made.asked_at >= wait


def _none_text(name: str, current: CampaignState) -> str:
    ever = "no reward was ever reported"
    if current.counters.seq > RECENT:
        ever = f"no reward was reported in the last {RECENT:,} events"
    if current.state.reward_count:
        rewards = count(current.state.reward_count, "reward")
        ever += f", and all {rewards} so far are default rewards"
    calls = "tell" if current.waits else "expose and tell"
    return (
        f"{ever}: check that your program calls {calls} with the ids that ask returned, and that "
        f"it calls this store (driftanchor campaign tell {name} DECISION REWARD reports one by "
        "hand)"
    )


def _only_value(current: CampaignState) -> float | None:
    """Return the value of all rewards so far if they are equal up to rounding; else `None`."""
    state = current.state
    columns = np.flatnonzero(state.pulls)
    if not columns.size:
        return None
    means = state.totals[columns] / state.pulls[columns]
    value = float(means[0])
    near = 1e-9 * max(abs(value), 1e-9)
    if np.abs(means - value).max() > near:
        return None
    for column in columns.tolist():
        away = value - centre(current.terms, column)
        squares = current.squares.item(column) - state.pulls.item(column) * away * away
        if squares > 1e-9 * max(current.squares.item(column), near):
            return None
    return value


def _is_odd(current: CampaignState, value: float) -> bool:
    """Return whether it is a problem that all rewards so far have this value.

    It is not if pending decisions will get a different default reward: if only conversions are
    reported, the first rewards of a campaign are all conversions.
    """
    default = current.settings.default_reward
    if default is not None and default != value:
        return False
    if default is None and only_conversions(current.terms, current.state):
        return True
    return _is_surprising(current, value, current.state.reward_count)


def _is_surprising(current: CampaignState, value: float, n: int) -> bool:
    """Return whether n rewards that all equal `value` are unlikely, given the logs.

    A reward with mean m and variance s² differs from x with probability at least
    q = (m − x)²/((m − x)² + s²), by the Cauchy–Schwarz inequality; for rewards of 0 and 1 this is
    exact. So all n are equal with probability at most (1 − q)ⁿ.
    """
    if n < MIN_COUNT:
        return False
    logs = current.terms.offline
    away, noise = logs.pooled_mean() - value, logs.pooled_noise()
    if math.isnan(away) or math.isnan(noise):
        return n >= UNKNOWN
    q = away * away / (away * away + noise * noise) if away else 0.0
    return q >= 1.0 or n * math.log1p(-q) <= math.log(CHANCE)


def _equal_text(name: str, current: CampaignState, value: float) -> str:
    default = current.settings.default_reward
    rewards = count(current.state.reward_count, "reward")
    text = f"all {rewards} so far are {value:g}, so nothing is learned"
    if default is None:
        return (
            f"{text}: report the other rewards too, or let a default count for decisions without a "
            f"reward: driftanchor campaign change {name} --reward-window 7d --default-reward 0 "
            "--reason 'only conversions are reported'"
        )
    return f"{text}: check the value that your program reports"


def _short(seconds: float) -> str:
    """Format a duration as a command-line argument."""
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}"
