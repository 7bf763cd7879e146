"""What alarms say: who, how far, since when, and what to do."""

from dataclasses import replace

from driftanchor.core.stats.intervals import Estimate
from driftanchor.live.watch.alarm import Alarm, Mark, Moved
from driftanchor.live.watch.alarm_prose import alarm_text

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
