"""Strict JSON, and ETags."""

from __future__ import annotations

import math

import pytest

from driftanchor.serve.responses import is_known, json_response, json_text, tag_of


def test_json_is_strict() -> None:
    assert json_text({"a": [1.5, "x"]}) == '{"a": [1.5, "x"]}'
    found = json_text({"a": [math.nan, (math.inf, -math.inf)], "b": {"c": 1}})
    assert found == '{"a": [null, ["inf", "-inf"]], "b": {"c": 1}}'


def test_an_answer_has_its_status_and_headers() -> None:
    answer = json_response({}, 201, {"A": "b"})
    assert (answer.status_code, answer.headers["A"], answer.body) == (201, "b", b"{}")
    assert answer.headers["content-type"] == "application/json"


def test_a_tag_changes_with_the_answer() -> None:
    assert tag_of(b"a") == tag_of(b"a") != tag_of(b"b")
    assert tag_of(b"").startswith('"')


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (None, False),
        ("", False),
        ('"x"', True),
        ('W/"x"', True),
        ('"y" , "x"', True),
        ("*", True),
        ('"y"', False),
        ("x", False),
    ],
)
def test_which_tags_a_client_has(header: str | None, known: bool) -> None:
    assert is_known('"x"', header) == known
