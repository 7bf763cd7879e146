import json
from pathlib import Path

import pytest
from campaign_parts import Clock, create
from page_story import Story, played

from driftanchor.serve.page import overview
from driftanchor.serve.page.campaign_view import campaign_view
from driftanchor.serve.page.timeline import timeline


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_everything_that_the_page_shows_is_there(story: Story) -> None:
    with story.campaign.at_one_moment() as moment:
        view = campaign_view(moment, story.clock(), None)
    assert json.loads(json.dumps(view, allow_nan=False)) == view
    assert view["alarmed"]
    assert view["leader"] == "C"
    assert view["decisions"] == 16 * 24
    assert view["rewards"] + view["pending"] == view["decisions"]
    assert view["outcomes"] == {
        "of": 384,
        "assigned": 0,
        "open": 4,
        "rewarded": 380,
        "defaulted": 0,
        "expired": 0,
    }
    assert [row["number"] for row in view["recent"]] == list(range(384, 372, -1))
    assert view["saved"] is None
    assert not view["traffic"]["off"]
    assert sum(arm["expected"] for arm in view["arms"]) > 383.9


def test_problems_and_changes_are_shown(tmp_path: Path) -> None:
    clock = Clock()
    campaign = create(
        f"sqlite:///{tmp_path / 'store.db'}", clock=clock, reward_window=60, default_reward=0
    )
    late = [str(x.id) for x in campaign.ask(n=20)]
    clock.now += 61
    campaign.tell_many([(x, 1.0) for x in late])
    with campaign.at_one_moment() as moment:
        view = campaign_view(moment, clock(), None)
        shown = overview.summary(moment, clock())
    assert view["alarmed"]
    assert "20 of the last 20 reported rewards came after" in view["problems"][0]
    assert "rewards do not arrive as they should" in view["sentence"]
    assert shown["alarmed"]
    campaign.change("orders take longer", reward_window=600)
    with campaign.at_one_moment() as moment:
        view = campaign_view(moment, clock(), None)
        marks = timeline(moment, "all", clock(), {})["markers"]
    assert (view["problems"], view["alarmed"]) == ([], False)
    assert view["changes"] == [
        "changed on 1970-01-01 00:17 UTC: reward_window from 1 minute to 10 minutes; because: "
        "orders take longer"
    ]
    assert [x["text"] for x in marks] == [
        "reward_window from 1 minute to 10 minutes, because: orders take longer"
    ]
