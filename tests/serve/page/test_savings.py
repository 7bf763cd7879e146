import pytest
from page_story import START, Story, played

from driftanchor.live.campaigns.saved import Saved
from driftanchor.serve.page.savings import estimate_savings
from driftanchor.serve.page.sentences import saved_text


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_after_an_alarm_the_time_before_it_is_estimated(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        savings = estimate_savings(reading)
    assert savings is not None
    assert savings.until is not None
    assert START <= savings.until < story.clock()
    assert savings.saved is not None
    assert 0 < savings.saved.decisions < 16 * 24
    assert savings.decisions == 16 * 24
    shown = savings.to_json(story.clock())
    assert shown["low"] <= shown["mean"] <= shown["high"]
    assert shown["text"].startswith("Before the arms moved, until ")


def test_the_words_do_not_claim_what_is_not_clear() -> None:
    clear = Saved(40.0, 20.0, 60.0, 50.0, 10.0, 1000)
    assert saved_text(clear).startswith("The logs saved about 40.0 rewards (20.0 to 60.0)")
    assert "not clear yet" in saved_text(Saved(4.0, -20.0, 60.0, 50.0, 46.0, 1000))
    cost = saved_text(Saved(-40.0, -60.0, -20.0, 10.0, 50.0, 1000))
    assert cost.startswith("The logs cost about 40.0 rewards (20.0 to 60.0)")
    assert cost.endswith("This is an estimate: nobody knows what would have happened.")
