"""An alarm as a record, and the events that follow from it."""

from dataclasses import replace

import pytest

from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import UnreadableState
from driftanchor.live.state_events import Distrusted
from driftanchor.live.watch.alarms import Alarm, Mark, Moved, alarm_text

ALARM = Alarm(
    "relative_bound",
    (Moved(1, 0.05, Estimate(0.1, 0.06, 0.2), 40), Moved(3, 0.0, Estimate(-0.1, -0.2, -0.06), 9)),
    Mark(77, "Tuesday"),
    Mark(5),
)


def test_it_comes_back() -> None:
    assert Alarm.from_json(ALARM.to_json()) == ALARM


def test_all_named_arms_are_distrusted() -> None:
    assert ALARM.distrust() == (Distrusted(1), Distrusted(3))


@pytest.mark.parametrize(
    "change", [{"promise": "x"}, {"arms": [{}]}, {"seen": None}, {"arms": [{"column": -1}]}]
)
def test_damage_is_noticed(change: dict[str, object]) -> None:
    with pytest.raises(UnreadableState, match="damaged"):
        Alarm.from_json({**ALARM.to_json(), **change})


LABELS = ["A", "B", "C"]
LEVEL = Alarm(
    "bias_bound",
    (Moved(2, 0.05, Estimate(0.12, 0.08, 0.16), 320),),
    Mark(5_210, "Tuesday 14:00"),
    Mark(1_004, "Monday 9:00"),
)


def test_an_arm_beyond_its_bias_bound() -> None:
    assert alarm_text(LEVEL, LABELS) == (
        "The logs of 'C' no longer fit: its live mean is 0.12 (0.08 to 0.16) above its logged "
        "mean, and at most 0.05 was promised. This became clear at reward 5,210 (Tuesday 14:00), "
        "after 320 live rewards of the arm; the move seems to have begun at reward 1,004 (Monday "
        "9:00). Decisions still use the logs as far as was promised, so they may favour the wrong "
        "arm until enough live rewards have come. Check what changed since the logs: the arm "
        "itself, who sees it, the season, or how rewards are counted. If there is a cause, "
        "distrust the logs of 'C', or start a new campaign with a larger bias bound."
    )


def test_logs_that_no_longer_count() -> None:
    text = alarm_text(LEVEL, LABELS, distrusts=True)
    assert "From now on the logs of 'C' do not count" in text
    assert "Decisions still use" not in text


def test_an_arm_that_left_the_others() -> None:
    moved = Moved(0, 0.02, Estimate(-0.1, -0.14, -0.05), 90)
    text = alarm_text(replace(LEVEL, promise="relative_bound", arms=(moved,), began=None), LABELS)
    assert text.startswith(
        "'A' no longer moves with the other arms: compared with the logs it is 0.1 (0.05 to 0.14) "
        "below where the others are, and at most 0.02 was promised. This became clear at reward "
        "5,210 (Tuesday 14:00), after 90 live rewards of the arm. Decisions"
    )


def test_arms_that_moved_apart() -> None:
    arms = (
        Moved(0, 0.02, Estimate(0.1, -0.01, 0.2), 90),
        Moved(1, 0.02, Estimate(-0.1, -0.2, 0.01), 10),
    )
    text = alarm_text(Alarm("relative_bound", arms, Mark(7)), LABELS)
    assert text.startswith(
        "'A' and 'B' have moved apart further than was promised: compared with the logs 'A' is 0.1 "
        "above the others, and 0.02 was promised; 'B' is 0.1 below the others, and 0.02 was "
        "promised. At least one of them broke the promise; the rewards do not show which. This "
        "became clear at reward 7, after 100 live rewards of the arms."
    )
