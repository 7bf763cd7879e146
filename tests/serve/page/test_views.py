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


def test_an_estimate_that_fails_says_why(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands where the estimate would, and is not tried again until the campaign has grown."""
    failed: list[tuple[str, str]] = []
    tries: list[int] = []

    def fail(moment: object) -> None:
        tries.append(1)
        raise ZeroDivisionError("no rewards of arm 'A'")

    monkeypatch.setattr(module, "saved_view", fail)
    monkeypatch.setattr(module, "FRESH", 0.0)
    views = Views(
        story.store,
        story.open,
        story.clock,
        failed=lambda name, error: failed.append((name, str(error))),
    )
    views.campaign("story")
    views._thread.submit(lambda: None).result()  # the estimate came before this
    for _ in range(2):
        saved = json.loads(views.campaign("story").body)["saved"]
    views.close()
    assert saved["error"] == "ZeroDivisionError: no rewards of arm 'A'"
    assert saved["text"] == f"The estimate failed: {saved['error']}"
    assert failed == [("story", "no rewards of arm 'A'")]
    assert tries == [1]


def test_a_campaign_whose_summary_fails_hides_no_other(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise FloatingPointError("overflow")

    monkeypatch.setattr("driftanchor.serve.page.overview.summary", fail)
    failed: list[str] = []
    views = Views(story.store, story.open, story.clock, failed=lambda name, _: failed.append(name))
    (item,) = json.loads(views.overview().body)["campaigns"]
    views.close()
    assert (item["alarmed"], item["error"]) == (True, "FloatingPointError: overflow")
    assert failed == ["story"]
