from __future__ import annotations

import json

import pytest

from driftanchor import errors
from driftanchor.serve.bridge import Overloaded
from driftanchor.serve.problem import Problem, problem_of, response_to


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.CampaignPaused("x"), 409, "campaign_paused"),
        (errors.DefaultPlayed("x"), 409, "default_played"),
        (errors.KeyReused("x"), 409, "idempotency_key_reused"),
        (errors.OtherReward("x"), 409, "reward_conflict"),
        (errors.Conflict("x"), 409, "conflict"),
        (errors.NotFound("x"), 404, "not_found"),
        (errors.UnknownName("arm", "secret", ["A"]), 422, "invalid"),
        (errors.StoreUnavailable("secret"), 503, "store_unavailable"),
        (errors.StoreMismatch("secret"), 503, "store_unavailable"),
        (Overloaded("x"), 503, "overloaded"),
        (errors.UnreadableState("secret"), 500, "store_damaged"),
    ],
)
def test_errors_have_a_status_and_a_code(error: Exception, status: int, code: str) -> None:
    answer = response_to(error)
    body = json.loads(bytes(answer.body))
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    assert answer.media_type == "application/problem+json"
    assert ("retry-after" in answer.headers) == (status == 503)
    assert b"secret" not in bytes(answer.body)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("must be at most 1, got 'secret'", "floor must be at most 1"),
        ("must be text (got 'secret')", "floor must be text"),
        ("'secret' is given twice: give it once", "floor … is given twice: give it once"),
    ],
)
def test_values_are_left_out(text: str, said: str) -> None:
    problem = problem_of(errors.InvalidInput(text, argument="floor"))
    assert (problem.detail, problem.more) == (said, {"argument": "floor"})


def test_what_nobody_expected_is_raised_on() -> None:
    with pytest.raises(ZeroDivisionError):
        response_to(ZeroDivisionError())
    assert problem_of(ZeroDivisionError("secret")).status == 500


def test_a_problem_may_say_more() -> None:
    problem = Problem(422, "x", "y", headers={"A": "b"}, pointer="/value")
    assert problem.response().headers["A"] == "b"
    assert problem.body()["pointer"] == "/value"
