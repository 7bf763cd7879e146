import pytest
from page_story import Story, played

from driftanchor.live.watch.watch import Watch
from driftanchor.serve.page.arm_rows import believed_move
from driftanchor.serve.page.shift_view import shift_tests


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_an_alarm_is_where_the_interval_is_beyond_a_line(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        record = reading.reader.watch()
        assert record is not None
        watch, current = Watch.from_json(record["watch"]), reading.current
        tests = shift_tests(watch, current, believed_move(current), story.clock())
    rows = {row["label"]: row for row in tests["arms"]}
    assert rows["C"]["alarm"]
    assert rows["C"]["low"] > rows["C"]["alarm_above"]
    for row in rows.values():
        if row["rewards"] and not row["alarm"]:
            assert row["alarm_below"] <= row["high"]
            assert row["low"] <= row["alarm_above"]
    assert not rows["D"]["watched"]  # it has no logs
    assert rows["D"]["why_not"]
    assert tests["common_move"] is not None
    assert tests["alarms"][0]["short"].startswith("the logs of C no longer fit")
    assert "'C'" in tests["alarms"][0]["text"]


def test_before_the_first_reward_there_are_no_relative_lines(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        tests = shift_tests(Watch.start(reading.first), reading.current, None, 0.0)
    assert tests["common_move"] is None
    assert [row["alarm_above"] for row in tests["arms"]] == [0.2, 0.2, 0.2]  # V
    assert [row["move"] for row in tests["arms"]] == [None] * 3
