import pytest
from page_story import Story, played

from driftanchor.live.campaigns.status import Status
from driftanchor.serve.page.arm_rows import arm_rows, believed_move


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_each_arm_has_its_intervals_and_they_stay_in_the_range(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        status = Status.of("story", reading.current)
        rows = arm_rows(status, reading.current, [2, 2, 0, 3], believed_move(reading.current))
    assert [row["label"] for row in rows] == ["A", "B", "C", "D"]
    for row in rows:
        for kind in ("online", "hybrid", "rule", "offline"):
            interval = row[kind]
            if interval is not None:
                assert 0.0 <= interval["low"] <= interval["mean"] <= interval["high"] <= 1.0
    a, b, c, d = rows
    assert a["hybrid"]["high"] - a["hybrid"]["low"] < a["online"]["high"] - a["online"]["low"]
    assert b["state"] == "paused"
    assert "it is paused" in b["why"]
    assert c["online"]["mean"] == c["live"]["mean"]
    assert d["offline"] is None  # it has no logs
    assert (a["share_lately"], c["share_lately"], d["share_lately"]) == (0.25, 0.5, 0.25)
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)


def test_the_logs_are_moved_by_the_common_move(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        move = believed_move(reading.current)
        rows = arm_rows(Status.of("story", reading.current), reading.current, [], move)
    assert move is not None
    assert rows[0]["offline"]["mean"] in (0.3, 0.3 + move.mean)
