from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from driftanchor import errors
from driftanchor.live.campaigns.write_queue import Overloaded
from driftanchor.serve.problem import Problem, of_validation, problem_of
from driftanchor.serve.routing import failures_in
from driftanchor.serve.schemas import (
    AskBody,
    Body,
    ChangeBody,
    CreateBody,
    DefaultsBody,
    RewardBody,
    RewardItem,
)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.CampaignPaused("x"), 409, "campaign_paused"),
        (errors.DefaultPlayed("x"), 409, "default_played"),
        (errors.KeyReused("x"), 422, "idempotency_key_reused"),
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
    answer = problem_of(error).response()
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


def test_neither_an_unknown_campaign_nor_the_others_are_named() -> None:
    problem = problem_of(errors.NotFound("there is no campaign 'secret'; there are: a, b"))
    assert problem.detail == "there is no campaign of this name"


@pytest.mark.parametrize(
    ("model", "body", "detail", "pointer"),
    [
        (AskBody, {"secret": 1}, "unknown member; this request takes unit, exclude, n, peek", ""),
        (RewardBody, {}, "`value` is missing", "/value"),
        (RewardItem, {"value": 1.0}, "`decision_id` is missing", "/decision_id"),
        (
            ChangeBody,
            {"add": {"secret": {"secret": 1}}},
            "unknown member; this place takes n, mean, variance, bias_bound, relative_bound",
            "/add",
        ),
        (
            CreateBody,
            {"name": "c", "offline": {"n": {"n": 1, "secret": 1}}},
            "unknown member; this place takes n, mean, variance",
            "/offline",
        ),
        (CreateBody, {"name": "c", "offline": {"secret": {}}}, "`n` is missing", "/offline"),
        (
            DefaultsBody,
            {"defaults": [{"key": "k", "arm": "A", "secret": 1}]},
            "unknown member; this place takes key, arm, ago, unit",
            "/defaults",
        ),
        (DefaultsBody, {"defaults": [{"key": "secret"}]}, "`arm` is missing", "/defaults"),
    ],
)
def test_the_members_that_a_body_takes_are_named(
    model: type[Body], body: dict[str, Any], detail: str, pointer: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    problem = of_validation(failures_in(caught.value), model)
    assert (problem.status, problem.detail) == (422, detail)
    assert problem.more == {"pointer": pointer}


def test_an_unexpected_error_is_the_servers() -> None:
    assert problem_of(ZeroDivisionError("secret")).status == 500


def test_a_problem_may_say_more() -> None:
    problem = Problem(422, "x", "y", headers={"A": "b"}, pointer="/value")
    assert problem.response().headers["A"] == "b"
    assert problem.body()["pointer"] == "/value"
