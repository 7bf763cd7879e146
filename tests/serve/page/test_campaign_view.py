import json

import pytest
from page_story import Story, played

from driftanchor.serve.page.campaign_view import campaign_view


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
