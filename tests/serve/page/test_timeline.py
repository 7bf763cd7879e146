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
    kept: dict[Any, Any] = {}
    with story.campaign.at_one_moment() as reading:
        while not (found := timeline(reading, "all", story.clock(), kept))["complete"]:
            assert len(kept) < 16
        assert timeline(reading, "all", story.clock(), kept) == found
    assert len(found["starts"]) == 16
    decided = np.array([arm["decisions"] for arm in found["arms"]])
    assert decided.sum(axis=0).tolist() == [24] * 16
    shares = np.array([arm["share"] for arm in found["arms"]])
    assert shares.sum(axis=0) == pytest.approx(np.ones(16))
    status = story.campaign.status()
    last = [arm["p_best"][-1] for arm in found["arms"]]
    assert last == pytest.approx(status.outlook.p_best.tolist(), abs=1e-6)
    assert found["arms"][3]["p_best"][0] is None  # D was not there
    assert found["arms"][0]["believed"][0]["low"] >= 0.0


def test_every_change_is_a_marker(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        marks = timeline(reading, "all", story.clock(), {})["markers"]
    said = [mark["text"] for mark in marks]
    assert "D was added" in said
    assert "B was paused" in said
    assert "the campaign was paused" in said
    assert "the campaign was resumed" in said
    assert "epoch 1: every unit is drawn anew" in said
    assert any(text.startswith("alarm: C moved") for text in said)


def test_an_old_time_is_left_out_and_long_ones_have_longer_stretches(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        later = timeline(reading, "day", story.clock() + 80_000.0, {})
        whole = timeline(reading, "all", START + 900.0 * 900, {})
        none = timeline(reading, "day", START + 10.0**7, {})
    assert 0 < len(later["starts"]) < 16
    assert whole["stretch"] > 900.0
    assert sum(map(sum, (arm["decisions"] for arm in whole["arms"]))) == 16 * 24
    assert none["starts"] == []


def test_beliefs_that_take_too_long_come_later(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUDGET", 0.0)
    kept: dict[Any, Any] = {}
    with story.campaign.at_one_moment() as reading:
        first = timeline(reading, "all", story.clock(), kept)
        assert not first["complete"]
        while not timeline(reading, "all", story.clock(), kept)["complete"]:
            pass
    assert len(kept) == 16


def test_the_arms_that_are_played_most_are_shown() -> None:
    assert shown_columns(np.array([5, 1, 9, 3]), 2).tolist() == [0, 2]
    assert shown_columns(np.array([5, 1]), 2).tolist() == [0, 1]
