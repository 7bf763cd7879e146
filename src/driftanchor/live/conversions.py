"""Whether a caller seems to report conversions and to leave out everything else.

Then every online mean is the top reward, no arm looks better than another, and the pulls that paid
nothing wait for ever.
"""

import math

from driftanchor.live.state import State, fold
from driftanchor.live.state_events import Rewarded
from driftanchor.live.terms import Terms

FEWEST = 20  # rewards before anything is said


def all_at_top(terms: Terms, state: State) -> bool:
    """Whether every reward so far is the highest possible, up to rounding.

    The highest possible is that of `reward_range`, or 1 where the range is open.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], reward_range=(0, 1), seed=1)
        >>> state = fold(State.start(terms.arms), Rewarded((0, 1), (1.0, 1.0)))
        >>> all_at_top(terms, state), all_at_top(terms, fold(state, Rewarded((0,), (0.0,))))
        (True, False)
    """
    top, tally = top_reward(terms), state.tally
    gap = abs(tally.totals - top * tally.pulls)
    return bool((gap <= 1e-9 * abs(top) * tally.pulls).all())


def look(terms: Terms, state: State, event: Rewarded) -> tuple[bool, str]:
    """What rewards that are about to be learned say, where all before them were the highest.

    Returns:
        Whether to look at the next rewards too, and a warning where one is due. Other rewards end
        the search, and so does a warning.
    """
    top = top_reward(terms)
    if not all(abs(reward - top) <= 1e-9 * abs(top) for reward in event.rewards):
        return False, ""
    if (
        state.reward_count + len(event.rewards) < FEWEST
        or state.reward_count >= state.pending_count
    ):
        return True, ""
    state = fold(state, event)
    if only_conversions(terms, state):
        return False, warning(terms, state)
    return True, ""


def only_conversions(terms: Terms, state: State) -> bool:
    """Whether rewards other than the highest seem to be left out.

    That is so when at least 20 rewards came, all of them the highest possible, and more decisions
    wait for a reward than ever got one. If all rewards are reported and the highest one has the
    chance p, 20 of them in a row have the probability p²⁰: 1 in a million for p = 0.5.
    """
    came, waiting = int(state.tally.pulls.sum()), int(state.pending.sum())
    return FEWEST <= came < waiting and all_at_top(terms, state)


def warning(terms: Terms, state: State) -> str:
    """What to say when `only_conversions`."""
    came, waiting = int(state.tally.pulls.sum()), int(state.pending.sum())
    return (
        f"all {came} rewards so far are {top_reward(terms):g} and {waiting} pulls wait for theirs: "
        "if only conversions are reported, every mean becomes the same and nothing is learned; "
        "report the other rewards too (0 for a pull that did not convert)"
    )


def top_reward(terms: Terms) -> float:
    """The highest reward of the declared range; 1 where the range is open."""
    high = terms.reward_range[1]
    return high if math.isfinite(high) else 1.0
