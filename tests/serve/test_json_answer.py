import math

from driftanchor.serve.json_answer import json_response, json_text


def test_json_is_strict() -> None:
    assert json_text({"a": [1.5, "x"]}) == '{"a": [1.5, "x"]}'
    found = json_text({"a": [math.nan, (math.inf, -math.inf)], "b": {"c": 1}})
    assert found == '{"a": [null, ["inf", "-inf"]], "b": {"c": 1}}'


def test_an_answer_has_its_status_and_headers() -> None:
    answer = json_response({}, 201, {"A": "b"})
    assert (answer.status_code, answer.headers["A"], answer.body) == (201, "b", b"{}")
    assert answer.headers["content-type"] == "application/json"
