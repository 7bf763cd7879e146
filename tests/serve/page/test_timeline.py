from typing import Any

import numpy as np
import pytest
from page_story import START, Story, played

from driftanchor.serve.page import timeline as module
from driftanchor.serve.page.timeline import shown_columns, timeline


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_the_chart_adds_up_and_ends_with_what_is_believed_now(story: Story) -> None:
    cache: dict[Any, Any] = {}
    with story.campaign.at_one_moment() as reading:
        while not (chart := timeline(reading, "all", cache))["complete"]:
            assert len(cache) < 16
        assert timeline(reading, "all", cache) == chart
    assert len(chart["starts"]) == 16
    decided = np.array([arm["decisions"] for arm in chart["arms"]])
    assert decided.sum(axis=0).tolist() == [24] * 16
    shares = np.array([arm["share"] for arm in chart["arms"]])
    assert shares.sum(axis=0) == pytest.approx(np.ones(16))
    status = story.campaign.status()
    last = [arm["p_best"][-1] for arm in chart["arms"]]
    assert last == pytest.approx(status.outlook.p_best.tolist(), abs=1e-6)
    assert chart["arms"][3]["p_best"][0] is None  # D was not there
    assert chart["arms"][0]["believed"][0]["low"] >= 0.0


def test_every_change_is_a_marker(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        marks = timeline(reading, "all", {})["markers"]
    texts = [mark["text"] for mark in marks]
    assert "D was added" in texts
    assert "B was paused" in texts
    assert "the campaign was paused" in texts
    assert "the campaign was resumed" in texts
    assert "epoch 1: every unit is drawn anew" in texts
    assert any(text.startswith("alarm: C moved") for text in texts)


def test_old_times_are_left_out_and_long_spans_have_wider_intervals(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        later = timeline(reading._replace(now=story.clock() + 80_000.0), "day", {})
        whole = timeline(reading._replace(now=START + 900.0 * 900), "all", {})
        none = timeline(reading._replace(now=START + 10.0**7), "day", {})
    assert 0 < len(later["starts"]) < 16
    assert whole["stretch"] > 900.0
    assert sum(map(sum, (arm["decisions"] for arm in whole["arms"]))) == 16 * 24
    assert none["starts"] == []


def test_slow_outlooks_are_left_to_the_next_call(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUDGET", 0.0)
    cache: dict[Any, Any] = {}
    with story.campaign.at_one_moment() as reading:
        first = timeline(reading, "all", cache)
        assert not first["complete"]
        while not timeline(reading, "all", cache)["complete"]:
            pass
    assert len(cache) == 16


def test_the_arms_with_most_decisions_are_shown() -> None:
    assert shown_columns(np.array([5, 1, 9, 3]), 2).tolist() == [0, 2]
    assert shown_columns(np.array([5, 1]), 2).tolist() == [0, 1]
