"""A campaign as a flag: its value, its type, and who is asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from driftanchor.live.campaigns.decision import Decision
from driftanchor.serve.flags import Found, Refused, evaluated, unit_of, value_of


@pytest.mark.parametrize(
    ("arms", "values"),
    [
        (["A", "B"], ["A", "B"]),
        (["true", "false"], [True, False]),
        (["true", "other"], ["true", "other"]),
        (["1", "20"], [1, 20]),
        (["1", "2.50", "-3"], [1.0, 2.5, -3.0]),
        (["007", "1"], ["007", "1"]),
        (["1e5", "nan"], ["1e5", "nan"]),
        (["9" * 20, "1"], ["9" * 20, "1"]),
    ],
)
def test_all_arms_have_values_of_one_type(arms: list[str], values: list[Any]) -> None:
    found = [value_of(arm, arms) for arm in arms]
    assert found == values
    assert len({type(x) for x in found}) == 1
    assert [type(x) for x in found] == [type(x) for x in values]


def test_a_whole_float_has_its_point() -> None:
    decision = Decision("9f", "1", 0.5, False, "price", 1, "u")
    text = json.dumps(evaluated("price", Found(decision, ("1", "2.5"))))
    assert '"value": 1.0' in text


def test_metadata_are_scalars_and_a_paused_campaign_has_no_value() -> None:
    decision = Decision("9f", "A", 0.5, True, "c", 1, "u", 2)
    found = evaluated("c", Found(decision, ("A", "B")))
    assert found["metadata"] == {"decision_id": "9f", "propensity": 0.5, "epoch": 2}
    assert (found["variant"], found["reason"]) == ("A", "SPLIT")
    paused = evaluated("c", Found(None, ("A", "B")))
    assert paused == {"key": "c", "reason": "DISABLED", "variant": "disabled", "metadata": {}}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "TARGETING_KEY_MISSING"),
        ({"context": {}}, "TARGETING_KEY_MISSING"),
        ({"context": {"targetingKey": ""}}, "TARGETING_KEY_MISSING"),
        ({"context": {"targetingKey": None}}, "TARGETING_KEY_MISSING"),
        ({"context": {"targetingKey": 7}}, "INVALID_CONTEXT"),
        ({"context": {"targetingKey": "a\u0000"}}, "INVALID_CONTEXT"),
        ({"context": {"targetingKey": "\ud800"}}, "INVALID_CONTEXT"),
        ({"context": {"targetingKey": "x" * 257}}, "INVALID_CONTEXT"),
        ({"context": []}, "INVALID_CONTEXT"),
        ([], "INVALID_CONTEXT"),
        (None, "INVALID_CONTEXT"),
    ],
)
def test_who_is_asked_for_must_be_said(body: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        unit_of(body)
    assert caught.value.code == code
    assert caught.value.details


def test_other_members_of_the_context_do_not_matter() -> None:
    assert unit_of({"context": {"targetingKey": "user-1", "age": 7}, "more": 1}) == "user-1"
