import dataclasses

import pytest
from page_story import Story, played

from driftanchor.errors import InvalidInput, NotFound
from driftanchor.serve.page import decision_view as module
from driftanchor.serve.page.decision_view import decision_view, find_decisions


@pytest.fixture(scope="module")
def story() -> Story:
    return played()


def test_every_decision_is_replayed_and_says_what_decided(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        rows = list(reading.reader.all_decisions())[::12]
    ways = set()
    for row in rows:
        view = decision_view(story.campaign, row.id)
        label = view["decision"]["arm"]
        assert view["sentence"].startswith(label)
        arms = view["explanation"]["arms"]
        ways.add(view["decided"])
        if view["decided"] == "floor":
            assert "guaranteed to it" in view["sentence"]
            continue
        part = arms[label]["decided_by"]
        assert view["parts"][part] in view["sentence"]
        three = sorted(arms[label]["parts"].values(), key=float)
        if view["decided"] == "index" and len(three) == 3:
            assert arms[label]["index"] == three[1]  # the median
            assert "the middle one of its three numbers" in view["sentence"]
    assert {"floor", "index"} <= ways


def test_an_unknown_decision_is_not_found(story: Story) -> None:
    with pytest.raises(NotFound):
        decision_view(story.campaign, "nobody")


def test_decisions_are_found_by_id_number_and_unit(story: Story) -> None:
    unit = find_decisions(story.campaign, "u3")
    assert [row["number"] for row in unit["found"]] == [73]
    number = find_decisions(story.campaign, " #73 ")
    assert number["found"] == unit["found"]
    assert find_decisions(story.campaign, unit["found"][0]["id"])["found"] == unit["found"]
    assert find_decisions(story.campaign, "#0")["found"] == []
    assert find_decisions(story.campaign, "#385")["found"] == []
    assert unit["through"] is None  # all decisions were scanned


def test_a_search_for_a_unit_goes_on_in_the_next_call(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SCANNED", 100)
    first = find_decisions(story.campaign, "u3")
    assert (first["found"], first["through"]) == ([], 284)
    through = first["through"]
    while not (found := find_decisions(story.campaign, "u3", through))["found"]:
        through = found["through"]
    assert found["found"][0]["unit"] == "u3"


@pytest.mark.parametrize("text", ["", "   ", "x" * 257, "a\nb"])
def test_an_unusable_query_is_refused(story: Story, text: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 256"):
        find_decisions(story.campaign, text)


def test_a_rule_without_numbers_is_quoted(story: Story) -> None:
    with story.campaign.at_one_moment() as reading:
        row = next(reading.reader.all_decisions())
    explanation = story.campaign.explain(row.id)
    rule = "'A' was chosen by its own rule"
    bare = dataclasses.replace(explanation, arms={}, reason=rule, floor=False)
    said = module.decided_text(bare, row)
    assert said.startswith("'A' was chosen by its own rule. It had a chance of ")
