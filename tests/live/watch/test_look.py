"""Alarms: who is named, when the move began, what stays, and how far."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import OfflineData
from driftanchor.live.state_events import ArmAdded
from driftanchor.live.terms import Terms
from driftanchor.live.watch.alarm import Mark
from driftanchor.live.watch.look import look, misfits
from driftanchor.live.watch.watch import Watch, fold


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
        watch = look(watch, Mark(number, f"t{number}"))
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
    assert look(watch, Mark(5_000)) is watch


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
