"""Routes to report and correct rewards, one at a time or many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from driftanchor.errors import (
    DriftanchorError,
    InvalidInput,
    OtherReward,
    OutsideLogs,
    StoreUnavailable,
)
from driftanchor.live.campaigns.change_requests import valid_reason
from driftanchor.live.campaigns.decision import Receipt
from driftanchor.live.campaigns.requests import Correct, Tell
from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import Problem, of_validation, problem_of
from driftanchor.serve.responses import json_response
from driftanchor.serve.routing import Call, Route, failures_in
from driftanchor.serve.schemas import (
    CorrectionBody,
    ReceiptAnswer,
    RewardBody,
    RewardItem,
    RewardsAnswer,
    RewardsBody,
    check_size,
)


async def tell(call: Call) -> Response:
    """The reward of a decision. It is on disk when the answer comes, and may be sent again.

    201 if it is new, 200 if it was sent before, 409 if the decision has another reward.
    """
    receipt = await _tell(call.state, call.path["decision_id"], call.body)
    return json_response(receipt.to_json(), 200 if receipt.status == "replayed" else 201)


async def correct(call: Call) -> Response:
    """Correct a reported reward, for example after a refund. Safe to retry.

    Answers 409 if the recorded reward is not `before`, or if no reported reward counts.
    """
    decision_id, body = call.path["decision_id"], call.body
    reason = None if body.reason is None else valid_reason(body.reason)
    correction = Correct(decision_id, body.value, body.before, reason, body.allow_outside)
    conflict = "the recorded reward is not `before`: read the decision again"
    receipt = await _write(call.state, decision_id, correction, conflict)
    return json_response(receipt.to_json())


async def tell_many(call: Call) -> Response:
    """Many rewards; valid ones count even if others are refused."""
    items = call.body.rewards
    check_size(items, "rewards")
    results = await asyncio.gather(*(_tell_item(call.state, item) for item in items))
    return json_response({"results": results})


async def _tell_item(state: AppState, item: Any) -> dict[str, Any]:
    """Record one reward of a batch; return its receipt, or why it was refused."""
    try:
        body = RewardItem.model_validate(item)
        return (await _tell(state, body.decision_id, body)).to_json()
    except ValidationError as error:
        problem = _invalid_reward(failures_in(error), RewardItem)
    except StoreUnavailable:  # fail the whole batch, so that the client retries it
        raise
    except (Problem, DriftanchorError) as error:
        problem = problem_of(error)
    return {"status": "refused", "code": problem.code, "detail": problem.detail, **problem.more}


async def _tell(state: AppState, decision_id: str, body: RewardBody) -> Receipt:
    conflict = "the decision already has a different reward, and can have only one"
    request = Tell(decision_id, body.value, body.allow_outside)
    receipt = await _write(state, decision_id, request, conflict)
    state.metrics.rewarded((await state.owner(decision_id)).name, receipt)
    return receipt


async def _write(
    state: AppState, decision_id: str, request: Tell | Correct, conflict: str
) -> Receipt:
    """Record or correct a reward.

    Raises:
        Problem: The reward is invalid, or conflicts with the recorded one.
    """
    campaign = await state.owner(decision_id)
    try:
        receipt: Receipt = await state.write(campaign, request)
    except OtherReward as error:
        row = await state.read(campaign.decision, decision_id)
        raise Problem(409, "reward_conflict", conflict, recorded_at=row.settled_at) from error
    except OutsideLogs as error:
        text = problem_of(error).detail.replace("reward", "the value", 1)
        raise Problem(422, "reward_outside_logs", text, pointer="/value") from error
    except InvalidInput as error:
        if error.argument != "reward":
            raise
        text = "the value is not a valid reward for this campaign"
        raise Problem(422, "reward_out_of_range", text, pointer="/value") from error
    return receipt


def _invalid_reward(failures: Sequence[Any], model: type[BaseModel]) -> Problem:
    """Return the problem for an invalid body; a bad value has codes of its own."""
    first = failures[0]
    if first["loc"] == ("value",) and first["type"] != "missing":
        if first["type"] == "finite_number":
            return Problem(422, "reward_not_finite", "the value must be finite", pointer="/value")
        return Problem(422, "reward_not_number", "the value must be a number", pointer="/value")
    return of_validation(failures, model)


TAGS = ("rewards",)
ROUTES = (
    Route(
        "PUT",
        "/v1/decisions/{decision_id}/reward",
        tell,
        role="reward",
        body=RewardBody,
        answers={200: ReceiptAnswer, 201: ReceiptAnswer},
        errors=(404, 409, 415, 422),
        tags=TAGS,
        refuse=_invalid_reward,
    ),
    Route(
        "PATCH",
        "/v1/decisions/{decision_id}/reward",
        correct,
        role="reward",
        body=CorrectionBody,
        answers={200: ReceiptAnswer},
        errors=(404, 409, 415, 422),
        tags=TAGS,
    ),
    Route(
        "POST",
        "/v1/rewards",
        tell_many,
        role="reward",
        body=RewardsBody,
        answers={200: RewardsAnswer},
        errors=(415, 422),
        tags=TAGS,
    ),
)
