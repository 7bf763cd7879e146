"""When it is plain that only conversions are reported, and when it is not."""

import pytest

from driftanchor.live import conversions
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import Decided, Rewarded
from driftanchor.live.terms import Terms


def after(terms: Terms, rewards: list[float], waiting: int) -> State:
    """Two arms with these rewards, in turn, and so many decisions that wait."""
    columns = tuple(i % 2 for i in range(len(rewards)))
    state = fold(State.start(terms.arms), Rewarded(columns, tuple(rewards)))
    for n in range(waiting):
        state = fold(state, Decided(n + 1, 0))
    return state


@pytest.mark.parametrize(
    ("reward_range", "rewards", "waiting", "plain"),
    [
        ((0, 1), [1.0] * 20, 21, True),
        ((0, 1), [1.0] * 19, 500, False),  # too few
        ((0, 1), [1.0] * 20, 20, False),  # a batch may be on its way
        ((0, 1), [1.0] * 20 + [0.0], 500, False),  # one other reward is enough
        ((0, 1), [1.0] * 20 + [0.999], 500, False),
        ((0, 0.3), [0.3] * 1_000, 1_001, True),  # sums are rounded
        ((0, 100), [1.0] * 20, 21, False),
        ((-5, 0), [0.0] * 20, 21, True),
        ((-5, 0), [-1e-3] * 20, 21, False),
        (None, [1.0] * 20, 21, True),  # where the range is open, conversions are ones
        (None, [2.0] * 20, 21, False),
        ((0, 1), [], 500, False),
    ],
)
def test_it_is_plain_when_all_are_at_the_top_and_more_wait(
    reward_range: object, rewards: list[float], waiting: int, plain: bool
) -> None:
    terms = Terms.declare(arms=["A", "B"], reward_range=reward_range, seed=1)
    assert conversions.only_conversions(terms, after(terms, rewards, waiting)) is plain


def test_the_warning_says_what_to_do() -> None:
    terms = Terms.declare(arms=["A", "B"], reward_range=(0, 5), seed=1)
    text = conversions.warning(terms, after(terms, [5.0] * 30, 70))
    assert text.startswith("all 30 rewards so far are 5 and 70 pulls wait for theirs: ")
    assert text.endswith("report the other rewards too (0 for a pull that did not convert)")


@pytest.mark.parametrize(
    ("waiting", "rewards", "still", "warned"),
    [
        (60, [1.0] * 19, True, False),  # too few to say
        (60, [1.0] * 20, False, True),
        (40, [1.0] * 20, True, False),  # no more wait than came
        (60, [1.0] * 20 + [0.0], False, False),
        (60, [], True, False),
    ],
)
def test_it_is_looked_for_until_something_is_known(
    waiting: int, rewards: list[float], still: bool, warned: bool
) -> None:
    terms = Terms.declare(arms=["A", "B"], reward_range=(0, 1), seed=1)
    state = after(terms, [], waiting).copy()
    event = Rewarded((0,) * len(rewards), tuple(rewards))
    found, said = conversions.look(terms, state, event)
    assert (found, bool(said)) == (still, warned)
    assert (state.reward_count, state.pending_count) == (0, waiting)
