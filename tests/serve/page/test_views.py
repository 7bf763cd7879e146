import json
import time
from collections.abc import Iterator

import pytest
from page_story import Story, played

from driftanchor.errors import InvalidInput
from driftanchor.serve.page import views as module
from driftanchor.serve.page.views import Views


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


@pytest.fixture
def views(story: Story) -> Iterator[Views]:
    found = Views(story.store, story.open, story.clock, {"demo": True})
    yield found
    found.close()


def test_a_view_is_computed_once_for_all_who_look(
    views: Views, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRESH", 0.0)
    first = views.campaign("story")
    while json.loads((first := views.campaign("story")).body)["saved"] is None:
        time.sleep(0.01)  # the estimate is made in a thread of its own
    monkeypatch.setattr(module, "campaign_view", None)  # it would be called again
    assert views.campaign("story") == first


def test_every_view_says_whether_it_is_a_demo(views: Views) -> None:
    for answer in (views.overview(), views.campaign("story"), views.history("story", "all")):
        assert json.loads(answer.body)["demo"] is True


def test_the_tag_changes_with_the_view() -> None:
    assert module.sent_view({"a": 1}).tag == module.sent_view({"a": 1}).tag
    assert module.sent_view({"a": 1}).tag != module.sent_view({"a": 2}).tag


def test_an_unknown_span_is_refused(views: Views) -> None:
    with pytest.raises(InvalidInput, match="span"):
        views.history("story", "century")
