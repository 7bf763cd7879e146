from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, create
from page_story import Story, played

from driftanchor import Campaign
from driftanchor.errors import UnreadableState
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve.page.overview import Overview


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


class Opening:
    """Opens campaigns, and counts how often."""

    def __init__(self, store: Store) -> None:
        self.store, self.opened = store, list[str]()

    def __call__(self, name: str) -> Campaign:
        self.opened.append(name)
        if name == "broken":
            raise UnreadableState("the store is damaged")
        return Campaign.load(name, store=self.store, clock=Clock())


def names(found: dict[str, Any]) -> list[str]:
    return [item["name"] for item in found["campaigns"]]


def test_only_campaigns_that_went_on_are_looked_at_again(store: Store) -> None:
    first, _ = create(store, "a"), create(store, "b")
    opening = Opening(store)
    overview = Overview(store, opening, Clock(), budget=60.0)
    assert names(overview.read()) == ["a", "b"]
    first.ask()
    found = overview.read()
    assert opening.opened == ["a", "b", "a"]
    assert found["campaigns"][0]["decisions"] == 1
    assert found["unread"] == 0


def test_alarms_come_first_and_a_broken_campaign_hides_no_other(store: Store) -> None:
    for name in ("a", "broken"):
        create(store, name)
    found = Overview(store, Opening(store), Clock(), budget=60.0).read()
    assert names(found) == ["broken", "a"]
    assert found["alarmed"] == 1
    assert found["campaigns"][0]["sentence"] == "the store is damaged"


def test_a_request_has_its_time_and_all_get_their_turn(store: Store) -> None:
    for name in "abc":
        create(store, name)
    overview = Overview(store, Opening(store), Clock(), budget=0.0)
    found = [overview.read() for _ in range(3)]
    assert [answer["unread"] for answer in found] == [2, 1, 0]
    assert names(found[-1]) == ["a", "b", "c"]


def test_the_sparkline_has_the_shares_of_the_last_stretches(story: Story) -> None:
    found = Overview(story.store, story.open, story.clock).read()
    (item,) = found["campaigns"]
    assert item["alarmed"]
    assert item["spark"]["labels"] == ["A", "B", "C", "D"]
    assert [sum(x) for x in zip(*item["spark"]["shares"], strict=True)] == pytest.approx(
        [1.0] * 16, abs=0.001
    )
