import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, create
from page_story import Story, played

from driftanchor import Campaign
from driftanchor.errors import InvalidInput, UnreadableState
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve.page import views as module
from driftanchor.serve.page.views import Views


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


@pytest.fixture
def views(story: Story) -> Iterator[Views]:
    views = Views(story.store, story.open, {"demo": True})
    yield views
    views.close()


def test_a_view_is_computed_once(
    views: Views, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_AGE", 0.0)
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


def test_a_failed_estimate_says_why(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands where the estimate would, and is not tried again until the campaign has grown."""
    failed: list[tuple[str, str]] = []
    tries: list[int] = []

    def fail(reading: object) -> None:
        tries.append(1)
        raise ZeroDivisionError("no rewards of arm 'A'")

    monkeypatch.setattr(module, "estimate_savings", fail)
    monkeypatch.setattr(module, "MIN_AGE", 0.0)
    views = Views(
        story.store, story.open, failed=lambda name, error: failed.append((name, str(error)))
    )
    views.campaign("story")
    views._estimator.submit(lambda: None).result()  # the estimate came before this
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
    def fail(reading: object) -> None:
        raise FloatingPointError("overflow")

    monkeypatch.setattr(module, "summary", fail)
    failed: list[str] = []
    views = Views(story.store, story.open, failed=lambda name, _: failed.append(name))
    (item,) = json.loads(views.overview().body)["campaigns"]
    views.close()
    assert (item["alarmed"], item["error"]) == (True, "FloatingPointError: overflow")
    assert failed == ["story"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


class Opening:
    """Opens campaigns, and records their names."""

    def __init__(self, store: Store) -> None:
        self.store, self.opened = store, list[str]()

    def __call__(self, name: str) -> Campaign:
        self.opened.append(name)
        if name == "broken":
            raise UnreadableState("the store is damaged")
        return Campaign.load(name, store=self.store, clock=Clock())


def read(views: Views) -> dict[str, Any]:
    overview: dict[str, Any] = json.loads(views.overview().body)
    return overview


def names(overview: dict[str, Any]) -> list[str]:
    return [item["name"] for item in overview["campaigns"]]


def test_only_campaigns_with_new_events_are_read_again(store: Store) -> None:
    first, _ = create(store, "a"), create(store, "b")
    opening = Opening(store)
    views = Views(store, opening, budget=60.0)
    assert names(read(views)) == ["a", "b"]
    first.ask()
    overview = read(views)
    assert opening.opened == ["a", "b", "a"]
    assert overview["campaigns"][0]["decisions"] == 1
    assert overview["unread"] == 0


def test_alarms_come_first_and_a_broken_campaign_hides_no_other(store: Store) -> None:
    for name in ("a", "broken"):
        create(store, name)
    overview = read(Views(store, Opening(store), budget=60.0))
    assert names(overview) == ["broken", "a"]
    assert overview["alarmed"] == 1
    assert overview["campaigns"][0]["sentence"] == "the store is damaged"


def test_a_request_has_a_budget_and_no_campaign_starves(store: Store) -> None:
    for name in "abc":
        create(store, name)
    views = Views(store, Opening(store), budget=0.0)
    overview = [read(views) for _ in range(3)]
    assert [answer["unread"] for answer in overview] == [2, 1, 0]
    assert names(overview[-1]) == ["a", "b", "c"]


def test_the_sparkline_has_the_shares_of_the_last_intervals(views: Views) -> None:
    (item,) = read(views)["campaigns"]
    assert item["alarmed"]
    assert item["spark"]["labels"] == ["A", "B", "C", "D"]
    assert [sum(x) for x in zip(*item["spark"]["shares"], strict=True)] == pytest.approx(
        [1.0] * 16, abs=0.001
    )
