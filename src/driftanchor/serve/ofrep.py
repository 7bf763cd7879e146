"""OFREP, the OpenFeature protocol: any of its SDKs can ask for an arm.

A campaign is a flag, an arm is a variant, and the targeting key is the unit. The metadata contains
the propensity and the decision's id, which is needed to report its reward.

- Evaluating one flag is an ordinary `Campaign.ask`: the decision counts immediately.
- Evaluating all flags only assigns arms, because a client does so at startup and shows few of
  them. A decision counts once its exposure or reward is reported, or its flag is evaluated alone.
  A unit without a decision gets one in every campaign that is not paused, so bulk evaluation is
  refused if the store has more than `MAX_FLAGS` campaigns.
- A paused campaign has no value: the application plays its own default.
- Errors are `application/json` with an `errorCode` of OpenFeature.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from driftanchor.errors import InvalidInput, NotFound, UnreadableState
from driftanchor.live.campaigns.batch import Batch, Needs
from driftanchor.live.campaigns.decision import Decision
from driftanchor.live.campaigns.requests import MAX_TEXT, Ask, is_text
from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import Problem
from driftanchor.serve.responses import is_known, json_response, json_text, tag_of
from driftanchor.serve.routing import Call, Content, Route
from driftanchor.serve.schemas import Answer, Query

PREFIX = "/ofrep/v1/evaluate/flags"
MAX_FLAGS = 100  # campaigns in a bulk evaluation
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")  # exact in any JSON parser
DISABLED = "disabled"  # the variant of a paused campaign
Code = Literal[
    "PARSE_ERROR", "TARGETING_KEY_MISSING", "INVALID_CONTEXT", "FLAG_NOT_FOUND", "GENERAL"
]


def _printable(unit: str) -> str:
    if not is_text(unit):
        raise ValueError("must be printable text")
    return unit


Unit = Annotated[
    str,
    Field(min_length=1, max_length=MAX_TEXT, examples=["user-1"]),
    BeforeValidator(lambda unit: "" if unit is None else unit),
    AfterValidator(_printable),
]


class FlagContext(BaseModel):
    """The unit that asks; other members are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")
    targetingKey: Unit = Field(description="The unit: printable text.")  # noqa: N815


class FlagRequest(BaseModel):
    """An evaluation request."""

    model_config = ConfigDict(strict=True, extra="ignore")
    context: FlagContext


class FlagMetadata(Answer):
    """The decision behind a value; empty while the campaign is paused."""

    decision_id: str | None = Field(None, description="For its reward and exposure.")
    propensity: float | None = Field(None, description="The probability of the arm.")
    epoch: int | None = None


class FlagAnswer(Answer):
    """The value of a flag."""

    key: str = Field(description="The campaign.")
    value: bool | str | float | None = Field(
        None, description="The arm; missing while the campaign is paused."
    )
    reason: Literal["SPLIT", "DISABLED"]
    variant: str = Field(description="The label of the arm.")
    metadata: FlagMetadata


class FlagError(Answer):
    """An error of OpenFeature."""

    key: str | None = Field(None, description="The campaign, if one flag was asked for.")
    errorCode: Code  # noqa: N815
    errorDetails: str  # noqa: N815


class FlagsAnswer(Answer):
    """The values of all flags."""

    flags: list[FlagAnswer | FlagError]


class FlagsHeaders(Query):
    """Headers of a bulk evaluation."""

    if_none_match: str | None = Field(None, description="The ETag of the last answer.")


@dataclass(frozen=True)
class Assignment:
    """The arm of a unit in a campaign.

    Attributes:
        decision: The decision; `None` if the campaign is paused.
        arms: All arms of the campaign; they determine the type of the value.
    """

    decision: Decision | None
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Evaluate:
    """A request for the arm of a unit.

    Attributes:
        unit: The unit.
        assign: Whether the decision counts only after it is shown.
    """

    unit: str
    assign: bool = False

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        return Needs(units=(self.unit,))

    def __call__(self, batch: Batch) -> Assignment:
        """Return the unit's assignment, without a decision if the campaign is paused."""
        arms = tuple(batch.current.terms.arms)
        if batch.current.counters.paused:
            return Assignment(None, arms)
        return Assignment(Ask(self.unit, assign=self.assign)(batch)[0], arms)


async def evaluate_flag(call: Call) -> Response:
    """Which arm of one campaign the unit gets; the decision counts from now on."""
    key = call.path["key"]
    try:
        campaign = await call.state.opened(key)
    except (NotFound, InvalidInput):  # or a name that no campaign can have
        raise Problem(404, "FLAG_NOT_FOUND", "there is no campaign of this name") from None
    request = Evaluate(call.body.context.targetingKey)
    return json_response(_evaluated(call.state, key, await call.state.write(campaign, request)))


async def evaluate_flags(call: Call) -> Response:
    """Assign the unit's arms in all campaigns; a decision counts only once it is shown."""
    unit = call.body.context.targetingKey
    names = await call.state.read(call.state.names)
    if len(names) > MAX_FLAGS:
        details = (
            f"this server has more than {MAX_FLAGS} campaigns, and evaluating all of them would "
            "write a decision in each: evaluate flags one by one"
        )
        raise Problem(400, "GENERAL", details)
    flags = await asyncio.gather(*(_assigned(call.state, name, unit) for name in names))
    body = json_text({"flags": [flag for flag in flags if flag is not None]})
    tag = tag_of(body.encode())
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if is_known(tag, call.headers.if_none_match):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, "application/json")


async def _assigned(state: AppState, name: str, unit: str) -> dict[str, Any] | None:
    """Return the unit's assigned arm in a campaign; `None` if the campaign is gone."""
    try:
        campaign = await state.opened(name)
        if campaign.sticky is None:
            details = "every request is a new decision in this campaign: evaluate it alone"
            return _failure(name, "GENERAL", details)
        return _evaluated(state, name, await state.write(campaign, Evaluate(unit, assign=True)))
    except NotFound:
        return None
    except UnreadableState:  # a damaged campaign must not hide the others
        return _failure(name, "GENERAL", "the campaign cannot be read")


def _evaluated(state: AppState, name: str, assignment: Assignment) -> dict[str, Any]:
    """Return the value of a flag, and count its decision."""
    decision = assignment.decision
    if decision is None:
        return {"key": name, "reason": "DISABLED", "variant": DISABLED, "metadata": {}}
    state.decided(name, [decision])
    return {
        "key": name,
        "value": value_of(decision.arm, assignment.arms),
        "reason": "SPLIT",
        "variant": decision.arm,
        "metadata": {
            "decision_id": str(decision.id),
            "propensity": decision.propensity,
            "epoch": decision.epoch,
        },
    }


def value_of(arm: str, arms: Iterable[str]) -> bool | int | float | str:
    """Return an arm as the value of a flag; all arms of a campaign have the same type.

    If all labels are `true` or `false` it is a boolean. If all are whole numbers it is an integer,
    and if all are numbers, a float. Otherwise it is the label.

    Example:
        >>> value_of("1", ["1", "2.5"]), value_of("1", ["1", "2"]), value_of("1", ["1", "two"])
        (1.0, 1, '1')
        >>> value_of("true", ["true", "false"])
        True
    """
    labels = list(arms)
    if all(label in ("true", "false") for label in labels):
        return arm == "true"
    numbers = [NUMBER.fullmatch(label) for label in labels]
    if not all(numbers):
        return arm
    return int(arm) if all(x is not None and x[2] is None for x in numbers) else float(arm)


def _failure(key: str, code: str, details: str) -> dict[str, Any]:
    return {"key": key, "errorCode": code, "errorDetails": details}


def error(problem: Problem, path: str) -> Response:
    """Return a problem in the form of the protocol.

    Args:
        problem: The problem.
        path: The path of the request, which may name a flag.
    """
    code = problem.code if problem.code in get_args(Code) else "GENERAL"
    if problem.code in ("invalid_json", "not_json", "body_too_large"):
        code = "PARSE_ERROR"
    elif problem.status == 404:
        code = "FLAG_NOT_FOUND"
    _, _, key = path.removeprefix(PREFIX).partition("/")
    body = {"errorCode": code, "errorDetails": problem.detail}
    status = 400 if problem.status == 415 else problem.status  # the protocol has no 415
    return json_response(body | ({"key": key} if key else {}), status, problem.headers)


def _refuse(failures: Sequence[Any], model: type[BaseModel]) -> Problem:
    """Return the problem for an invalid body."""
    first = failures[0]
    if first["type"] == "json_invalid":
        return Problem(400, "invalid_json", "the body is not JSON in UTF-8")
    if first["type"] in ("missing", "string_too_short"):
        text = "say in context.targetingKey which unit asks"
        return Problem(400, "TARGETING_KEY_MISSING", text)
    text = "the body and its context must be objects"
    if first["loc"] == ("context", "targetingKey"):
        text = f"context.targetingKey must be printable text of 1 to {MAX_TEXT} characters"
    return Problem(400, "INVALID_CONTEXT", text)


TAG = {"ETag": "Changes when the answer changes."}
ERRORS = {
    status: Content("", model=FlagError) for status in (400, 401, 403, 405, 408, 413, 429, 500, 503)
}
COMMON: dict[str, Any] = {
    "role": "decide",
    "body": FlagRequest,
    "tags": ("OFREP",),
    "refuse": _refuse,
}
ROUTES = (
    Route(
        "POST",
        PREFIX + "/{key}",
        evaluate_flag,
        answers={**ERRORS, 200: FlagAnswer, 404: Content("", model=FlagError)},
        **COMMON,
    ),
    Route(
        "POST",
        PREFIX,
        evaluate_flags,
        headers=FlagsHeaders,
        answers={
            **ERRORS,
            200: Content("", model=FlagsAnswer, headers=TAG),
            304: Content("", media=None, headers=TAG),
        },
        **COMMON,
    ),
)
