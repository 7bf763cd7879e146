"""What is kept of rewards: folds are pure, batches do not matter, and records come back."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import OfflineData
from driftanchor.errors import InvalidInput, UnreadableState
from driftanchor.live.state_events import ArmAdded, Distrusted, Paused
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarms import Mark
from driftanchor.live.watch.move_intervals import UNWATCHED, move_interval
from driftanchor.live.watch.watch import Watch, add_alarms, correct, fold, misfits

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
    watch = add_alarms(watch, Mark(4, "Wed"))
    assert Watch.from_json(json.loads(json.dumps(watch.to_json(), allow_nan=False))) == watch


def test_a_watch_with_alarms_comes_back() -> None:
    watch = add_alarms(
        fold(Watch.start(TERMS), [0] * 400, [1.0] * 400, Mark(400)), Mark(400, "Tue")
    )
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
    after = add_alarms(fold(watch, [0] * 900, [1.0] * 900, Mark(909)), Mark(909))
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


def terms(arms: str, **promises: object) -> Terms:
    logs = OfflineData.from_summary({arm: (1_000, 0.3) for arm in arms})
    return Terms.declare(offline=logs, reward_range=(0, 1), seed=1, **promises)  # type: ignore[arg-type]


def seen(watch: Watch, means: dict[int, float], n: int, number: int = 0) -> Watch:
    """Rewards of each arm, as evenly as possible, ten at a time, and a look after each ten."""
    for i in range(0, n, 10):
        for column, mean in means.items():
            number += 10
            rewards = np.diff(np.floor(mean * np.arange(i, i + 11) + 0.5))
            watch = fold(watch, [column] * 10, rewards.tolist(), Mark(number, f"t{number}"))
        watch = add_alarms(watch, Mark(number, f"t{number}"))
    return watch


def test_a_kept_promise_raises_no_alarm() -> None:
    assert seen(Watch.start(terms("AB", bias_bound=0.05)), {0: 0.34, 1: 0.26}, 2_000).alarms == ()
    together = Watch.start(terms("ABC", relative_bound=0.02))
    assert seen(together, {0: 0.5, 1: 0.51, 2: 0.48}, 2_000).alarms == ()


@pytest.mark.parametrize(("mean", "side"), [(0.5, 1), (0.1, -1)])
def test_an_arm_beyond_its_bound_is_named_with_its_move(mean: float, side: int) -> None:
    watch = seen(Watch.start(terms("AB", bias_bound=0.05)), {0: 0.3, 1: mean}, 500)
    (alarm,) = watch.alarms
    assert (alarm.promise, alarm.columns) == ("bias_bound", (1,))
    (moved,) = alarm.arms
    assert side * moved.move.value > 0.05
    assert min(side * moved.move.low, side * moved.move.high) > 0.05
    assert alarm.seen.number < 1_000
    assert alarm.began == Mark(20, "t20")  # the arm's first rewards


def test_an_alarm_stays_as_it_was_first() -> None:
    watch = seen(Watch.start(terms("AB", bias_bound=0.05)), {0: 0.3, 1: 0.5}, 500)
    assert seen(watch, {0: 0.3, 1: 0.3}, 500, 1_000).alarms == watch.alarms
    assert add_alarms(watch, Mark(5_000)) is watch


def test_when_a_later_move_began_is_estimated() -> None:
    watch = seen(Watch.start(terms("AB", bias_bound=0.02)), {0: 0.3}, 500)
    (alarm,) = seen(watch, {0: 0.9}, 500, 500).alarms
    assert alarm.began is not None
    assert 490 <= alarm.began.number <= 520 < alarm.seen.number


def test_one_arm_of_three_that_left_the_others_is_named() -> None:
    watch = seen(Watch.start(terms("ABC", relative_bound=0.02)), {0: 0.5, 1: 0.2, 2: 0.5}, 800)
    (alarm,) = watch.alarms
    assert (alarm.promise, alarm.columns, alarm.began) == ("relative_bound", (1,), None)
    move = alarm.arms[0].move
    assert move.low < move.value < move.high < -0.02
    assert move.value == pytest.approx(-0.3, abs=0.05)


def test_of_two_arms_both_are_named() -> None:
    (alarm,) = seen(Watch.start(terms("AB", relative_bound=0.02)), {0: 0.5, 1: 0.2}, 800).alarms
    assert alarm.columns == (0, 1)
    assert alarm.arms[0].move.value == pytest.approx(-alarm.arms[1].move.value)


def test_the_rest_is_watched_after_an_alarm() -> None:
    four = Watch.start(terms("ABCD", relative_bound=0.02))
    watch = seen(four, {0: 0.5, 1: 0.1, 2: 0.5, 3: 0.5}, 500)
    assert [alarm.columns for alarm in watch.alarms] == [(1,)]
    watch = seen(watch, {0: 0.5, 1: 0.1, 2: 0.5, 3: 1.0}, 1_500, 2_000)
    assert [alarm.columns for alarm in watch.alarms] == [(1,), (3,)]


def test_an_arm_that_is_added_is_watched() -> None:
    before = terms("AB", bias_bound=0.05)
    event = ArmAdded("C", (1_000, 0.3), 0.05)
    watch = Watch.start(before).after(event, before.after(event))
    (alarm,) = seen(watch, {0: 0.3, 2: 0.6}, 500).alarms
    assert alarm.columns == (2,)


ENDS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6)), min_size=1, max_size=7)


@given(ENDS)
def test_misfits_are_all_that_some_largest_fitting_set_leaves_out(
    ends: list[tuple[int, int]],
) -> None:
    low = np.array([float(a) for a, _ in ends])
    high = low + [float(b) for _, b in ends]
    for size in range(len(ends), 0, -1):
        sets = [
            set(some)
            for some in itertools.combinations(range(len(ends)), size)
            if low[list(some)].max() <= high[list(some)].min()
        ]
        if sets:
            break
    named = set().union(*(set(range(len(ends))) - some for some in sets))
    assert set(misfits(low, high).tolist()) == named
