"""What is kept of rewards: folds are pure, batches do not matter, and records come back."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import OfflineData
from driftanchor.errors import InvalidInput, UnreadableState
from driftanchor.live.state_events import ArmAdded, Distrusted, Paused
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarm import Mark
from driftanchor.live.watch.look import look
from driftanchor.live.watch.move_interval import UNWATCHED, move_interval
from driftanchor.live.watch.watch import Watch, correct, fold

LOGS = OfflineData.from_summary({"A": (500, 0.1), "B": (500, 0.2), "C": (0,)})
TERMS = Terms.declare(
    offline=LOGS, bias_bound=[0.05, math.inf, 0.1], relative_bound=0.02, reward_range=(0, 1), seed=1
)
FOLDED = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1)), max_size=30)


@given(FOLDED, st.integers(0, 30))
def test_a_batch_is_its_rewards_one_by_one(rewards: list[tuple[int, float]], cut: int) -> None:
    start = Watch.start(TERMS)
    one = start
    for number, (column, reward) in enumerate(rewards):
        one = fold(one, [column], [reward], Mark(number))
    two = start
    for part in (rewards[:cut], rewards[cut:]):
        two = fold(two, [c for c, _ in part], [r for _, r in part], Mark(0))
    for arm, same in zip(one.arms, two.arms, strict=True):
        assert arm[:7] == same[:7]
    assert start == Watch.start(TERMS)


@given(FOLDED)
def test_records_come_back(rewards: list[tuple[int, float]]) -> None:
    watch = fold(
        Watch.start(TERMS), [c for c, _ in rewards], [r for _, r in rewards], Mark(3, "Tue")
    )
    watch = look(watch, Mark(4, "Wed"))
    assert Watch.from_json(json.loads(json.dumps(watch.to_json(), allow_nan=False))) == watch


def test_a_watch_with_alarms_comes_back() -> None:
    watch = look(fold(Watch.start(TERMS), [0] * 400, [1.0] * 400, Mark(400)), Mark(400, "Tue"))
    assert len(watch.alarms) == 1
    assert Watch.from_json(json.loads(json.dumps(watch.to_json(), allow_nan=False))) == watch


@pytest.mark.parametrize(
    "damage", [None, [], {}, {"level": 0.1}, {"level": 7, "arms": [], "alarms": [], "added": 0}]
)
def test_damaged_records_are_refused(damage: object) -> None:
    with pytest.raises(UnreadableState):
        Watch.from_json(damage)
    broken = Watch.start(TERMS).to_json()
    with pytest.raises(UnreadableState):
        Watch.from_json({**broken, "alarms": [damage or 3]})


def test_the_level_is_shared_and_some_is_kept_for_new_arms() -> None:
    watch = Watch.start(TERMS, 0.01)
    assert [arm.ruler.miss for arm in watch.arms[:2]] == pytest.approx([0.0045, 0.0045])
    assert watch.arms[2].ruler == UNWATCHED  # it has no logs
    terms = TERMS
    spent = 0.009
    for i in range(30):
        event = ArmAdded(f"new{i}", (50, 0.3), 0.1, 0.1)
        terms = terms.after(event)
        watch = watch.after(event, terms)
        spent += watch.arms[-1].ruler.miss
    assert watch.arms[3].ruler.logged == 50
    assert 0.0099 < spent <= 0.01
    assert watch.after(Paused(0), terms) is watch


def test_an_arm_that_is_distrusted_is_watched_no_longer() -> None:
    watch = fold(Watch.start(TERMS), [0] * 9, [1.0] * 9, Mark(9))
    event = Distrusted(0)
    watch = watch.after(event, TERMS.after(event))
    after = look(fold(watch, [0] * 900, [1.0] * 900, Mark(909)), Mark(909))
    assert after.arms[0].n == 9
    assert after.alarms == ()


def test_the_interval_is_that_of_the_sums() -> None:
    arm = fold(Watch.start(TERMS), [1, 0, 1], [1.0, 0.0, 0.5], Mark(3)).arms[1]
    assert (arm.n, arm.total) == (2, 1.5)
    assert arm.squares == pytest.approx((1 - 0.2) ** 2 + (0.5 - 0.6) ** 2)
    assert (arm.low, arm.high) == move_interval(arm.ruler, 2, 1.5, arm.squares)


@pytest.mark.parametrize("level", [0, 0.6, "x"])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(InvalidInput, match="level"):
        Watch.start(TERMS, level)


def test_a_corrected_reward_counts_as_what_it_became() -> None:
    start = Watch.start(TERMS)
    wrong = fold(start, [0, 0, 1], [0.0, 0.0, 1.0], Mark(3))
    right = fold(start, [0, 0, 1], [0.0, 1.0, 1.0], Mark(3))
    corrected = correct(wrong, 0, 0.0, 1.0)
    assert corrected.arms[0][1:6] == pytest.approx(right.arms[0][1:6])
    assert corrected.arms[1] == wrong.arms[1]
    assert correct(start, 0, 0.0, 1.0) is start  # nothing was folded
    assert correct(start, 2, 0.0, 1.0) is start  # not watched
