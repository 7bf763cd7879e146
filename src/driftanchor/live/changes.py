"""Turn the changes that callers request into events, or raise.

If only conversions are reported, every online mean is the highest reward, and no arm looks better
than another. `check_conversions` detects this.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.offline import OfflineData, Summary
from driftanchor.core.promises import bias_bounds, check_log_sizes, relative_bounds, valid_range
from driftanchor.errors import InvalidInput, shown
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import ArmAdded, GivenUp, Paused, Resumed, Rewarded
from driftanchor.live.terms import Terms, warn_of_suggestion

MIN_REWARDS = 20  # rewards before `only_conversions` can be true


def rewards(terms: Terms, arm: str | Sequence[str], reward: float | Sequence[float]) -> Rewarded:
    """Return the event for a reward or a batch; raise if any of the batch is invalid."""
    if isinstance(arm, str):
        column, checked = one_reward(terms, arm, reward)
        return Rewarded((column,), (checked,))
    labels, values = _batch(arm, "arm"), _batch(reward, "reward")
    if len(labels) != len(values):
        raise InvalidInput(
            f"has {len(values)} values for {len(labels)} arms: give one for each", argument="reward"
        )
    for label in labels:  # before the rewards are validated
        terms.arms.column(label)
    pairs = [one_reward(terms, *pair) for pair in zip(labels, values, strict=True)]
    return Rewarded(tuple(i for i, _ in pairs), tuple(x for _, x in pairs))


def one_reward(terms: Terms, label: object, reward: object) -> tuple[int, float]:
    """Validate an arm and a reward; return its column and the reward as a float."""
    column = terms.columns.get(label) if type(label) is str else None
    if column is None:
        column = terms.offline.arms.column(label)
    low, high = terms.limits
    if type(reward) is float and low <= reward <= high:  # fast path for the usual case
        return column, reward + 0.0  # -0.0 becomes 0.0, as in `check.number`
    return column, check.number(reward, "reward", of=f"arm {label!r}", low=low, high=high)


def _batch(values: object, argument: str) -> list[object]:
    """Return the values of a batch, in order; refuse mappings."""
    if isinstance(values, Mapping):
        raise InvalidInput(f"must be a list, got the mapping {shown(values)}", argument=argument)
    return check.ordered(values, argument)


def add_arm(
    terms: Terms,
    label: str,
    offline: Summary,
    bias_bound: float | None,
    relative_bound: float | None,
) -> ArmAdded:
    """Return the event that adds an arm, after validating it against the terms."""
    with _errors_about("label"):
        arms = Arms([label])
    if label in terms.arms:
        raise InvalidInput(
            f"{label!r} is already an arm: choose another label for the new one", argument="label"
        )
    with _errors_about("offline"):
        alone = OfflineData.from_summary({label: offline})
        check_log_sizes(alone)
        valid_range(terms.reward_range, alone.mean)
    warn_of_suggestion("bias_bound", bias_bound, alone)
    warn_of_suggestion("relative_bound", relative_bound, alone)
    level = None if bias_bound is None else bias_bounds(bias_bound, arms).item()
    relative = None if relative_bound is None else relative_bounds(relative_bound, arms).item()
    terms.with_arm(label, offline, level, relative)
    numbers: Any = tuple(x + 0.0 if isinstance(x, float) else x for x in offline)  # no -0.0
    return ArmAdded(label, numbers, level, relative)


@contextlib.contextmanager
def _errors_about(argument: str) -> Iterator[None]:
    """Make errors name the caller's argument."""
    try:
        yield
    except InvalidInput as error:
        whole = error.argument in ("arms", "summary")
        problem = error.problem if whole else f"is refused: {error}"
        raise InvalidInput(problem, argument=argument) from error


def give_up(state: State, label: str | None, count: int | None) -> list[GivenUp]:
    """Return the events that close `count` pending pulls of an arm; `None` means all."""
    arms, pending = state.arms, state.pending
    if label is None:
        if count is not None:
            raise InvalidInput(
                f"is {count!r} and arm is missing: say of which arm", argument="count"
            )
        return [GivenUp(int(i), pending.item(i)) for i in np.flatnonzero(pending)]
    column = arms.column(label)
    waiting = pending.item(column)
    closed = waiting if count is None else check.whole(count, "count")
    if closed > waiting:
        raise InvalidInput(
            f"must be at most {waiting}, what arm {label!r} has, got {closed}", argument="count"
        )
    return [GivenUp(column, closed)]


def pause(state: State, label: str) -> Paused:
    """Return the event that pauses an arm; refuse the last playable arm."""
    column = state.arms.column(label, "label")
    if state.playable[column] and state.playable.sum() == 1:
        raise InvalidInput(
            f"{label!r} is the last arm that can be played: add another first", argument="label"
        )
    return Paused(column)


def resume(state: State, label: str) -> Resumed:
    """Return the event that resumes a paused arm."""
    return Resumed(state.arms.column(label, "label"))


def only_highest(terms: Terms, state: State) -> bool:
    """Return whether every reward so far is the highest possible, up to rounding.

    The highest possible reward is the upper end of `reward_range`, or 1 if the range has none.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], reward_range=(0, 1), seed=1)
        >>> state = fold(State.start(terms.arms), Rewarded((0, 1), (1.0, 1.0)))
        >>> only_highest(terms, state), only_highest(terms, fold(state, Rewarded((0,), (0.0,))))
        (True, False)
    """
    highest = _highest(terms)
    gap = abs(state.totals - highest * state.pulls)
    return bool((gap <= 1e-9 * abs(highest) * state.pulls).all())


def only_conversions(terms: Terms, state: State) -> bool:
    """Return whether only conversions seem to be reported.

    That is: at least 20 rewards came, all of them the highest possible, and more decisions wait for
    a reward than ever got one. If all rewards are reported and the highest has the probability p,
    20 in a row have the probability p²⁰: 1 in a million for p = 0.5.
    """
    enough = MIN_REWARDS <= state.reward_count < state.pending_count
    return enough and only_highest(terms, state)


def check_conversions(terms: Terms, state: State, event: Rewarded) -> tuple[bool, str]:
    """Check new rewards, given that all before them were the highest possible.

    Returns:
        Whether to check the next rewards too, and a warning if only conversions seem to be
        reported. The check ends with the warning, or with the first lower reward.
    """
    highest = _highest(terms)
    if not all(abs(reward - highest) <= 1e-9 * abs(highest) for reward in event.rewards):
        return False, ""
    if state.reward_count >= state.pending_count:  # cheaper than the rest
        return True, ""
    after = fold(state, event)
    if not only_conversions(terms, after):
        return True, ""
    return False, (
        f"all {after.reward_count} rewards so far are {highest:g} and {after.pending_count} pulls "
        "wait for theirs: if only conversions are reported, every mean becomes the same and "
        "nothing is learned; report the other rewards too (0 for a pull that did not convert)"
    )


def _highest(terms: Terms) -> float:
    high = terms.reward_range[1]
    return high if math.isfinite(high) else 1.0
