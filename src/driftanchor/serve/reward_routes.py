"""Routes to report and correct rewards, one at a time or many at once."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from driftanchor.errors import (
    DriftanchorError,
    InvalidInput,
    OtherReward,
    OutsideLogs,
    StoreUnavailable,
)
from driftanchor.live.campaigns.decision import Receipt
from driftanchor.live.campaigns.new_terms import valid_reason
from driftanchor.live.campaigns.telling import Correct, Tell
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.answer import Fields, WholeAnswer
from driftanchor.serve.body import Body, at_most, found_in, parsed, read, takes
from driftanchor.serve.direct import Shortcut
from driftanchor.serve.documents import answers
from driftanchor.serve.json_answer import finite_answer, json_response
from driftanchor.serve.owners import do_for
from driftanchor.serve.problem import Problem, of_validation, problem_of
from driftanchor.serve.request_bodies import (
    MOST_REWARDS,
    CorrectionBody,
    RewardBody,
    RewardItem,
    RewardsBody,
)
from driftanchor.serve.response_bodies import ReceiptAnswer, RewardsAnswer
from driftanchor.serve.served import Served

router = APIRouter(tags=["rewards"], route_class=KeyedRoute)


@router.put(
    "/v1/decisions/{decision_id}/reward",
    dependencies=[needs("reward")],
    openapi_extra=takes(RewardBody),
    responses=answers({200: ReceiptAnswer, 201: ReceiptAnswer}, 404, 409, 415, 422),
    status_code=201,
)
async def tell(request: Request, decision_id: str) -> Response:
    """The reward of a decision. It is on disk when the answer comes, and may be sent again.

    201 if it is new, 200 if it was sent before, 409 if the decision has another reward.
    """
    served: Served = request.app.state.served
    headers, content = request.headers.raw, await request.body()
    return (await rewarded(served, headers, content, decision_id)).response()


async def rewarded(
    served: Served, headers: Fields, content: bytes, decision_id: str
) -> WholeAnswer:
    """Record the reward of a decision and answer with its receipt."""
    body = parsed(headers, content, RewardBody, _of_reward)
    receipt = await _told(served, decision_id, body)
    return finite_answer(receipt.to_json(), 200 if receipt.status == "replayed" else 201)


@router.patch(
    "/v1/decisions/{decision_id}/reward",
    dependencies=[needs("reward")],
    openapi_extra=takes(CorrectionBody),
    responses=answers({200: ReceiptAnswer}, 404, 409, 415, 422),
)
async def correct(request: Request, decision_id: str) -> Response:
    """Correct a reported reward, for example after a refund. Safe to retry.

    Answers 409 if the recorded reward is not `before`, or if no reported reward counts.
    """
    served: Served = request.app.state.served
    body = await read(request, CorrectionBody)
    why = None if body.reason is None else valid_reason(body.reason)
    correction = Correct(decision_id, body.value, body.before, why, body.allow_outside)
    try:
        receipt: Receipt = await do_for(served, decision_id, correction)
    except OtherReward as error:
        text = "the recorded reward is not `before`: read the decision again"
        raise await _conflict(served, decision_id, text) from error
    except InvalidInput as error:
        raise _refused_value(error) from error
    return json_response(receipt.to_json())


@router.post(
    "/v1/rewards",
    dependencies=[needs("reward")],
    openapi_extra=takes(RewardsBody),
    responses=answers({200: RewardsAnswer}, 415, 422),
)
async def tell_many(request: Request) -> Response:
    """Many rewards; those that are right count, whatever is wrong with others."""
    served: Served = request.app.state.served
    items = (await read(request, RewardsBody)).rewards
    at_most(items, MOST_REWARDS, "rewards")
    results = await asyncio.gather(*(_one_of_many(served, item) for item in items))
    return json_response({"results": results})


async def _one_of_many(served: Served, item: Any) -> dict[str, Any]:
    """Record one reward; return its receipt, or why it was refused."""
    try:
        found = RewardItem.model_validate(item)
        return (await _told(served, found.decision_id, found)).to_json()
    except ValidationError as error:
        problem = _of_reward(found_in(error), RewardItem)
    except StoreUnavailable:  # fail the whole request, so that the client retries it
        raise
    except (Problem, DriftanchorError) as error:
        problem = problem_of(error)
    return {"status": "refused", "code": problem.code, "detail": problem.detail, **problem.more}


async def _told(served: Served, decision_id: str, body: RewardBody) -> Receipt:
    tell = Tell(decision_id, body.value, body.allow_outside)
    try:
        receipt: Receipt = await do_for(served, decision_id, tell)
    except OtherReward as error:
        text = "the decision already has a different reward, and can have only one"
        raise await _conflict(served, decision_id, text) from error
    except InvalidInput as error:
        raise _refused_value(error) from error
    served.metrics.rewarded(await served.owners.of(decision_id), receipt)
    return receipt


def _refused_value(error: InvalidInput) -> Exception:
    """Return a problem for an invalid reward value; other errors are returned unchanged."""
    if isinstance(error, OutsideLogs):
        said = problem_of(error).detail.replace("reward", "the value", 1)
        return Problem(422, "reward_outside_logs", said, pointer="/value")
    if error.argument != "reward":
        return error
    text = "the value is not a valid reward for this campaign"
    return Problem(422, "reward_out_of_range", text, pointer="/value")


async def _conflict(served: Served, decision_id: str, text: str) -> Problem:
    """Return the problem for a conflicting reward, with the time of the first one."""
    campaign = await served.opened(await served.owners.of(decision_id))
    row = await served.read(campaign.decision, decision_id)
    return Problem(409, "reward_conflict", text, recorded_at=row.settled_at)


def _of_reward(found: Any, model: type[Body]) -> Problem:
    """What is wrong with a body of a reward; what is wrong with its value has codes of its own."""
    first = found[0]
    if first["loc"] == ("value",) and first["type"] != "missing":
        if first["type"] == "finite_number":
            return Problem(422, "reward_not_finite", "the value must be finite", pointer="/value")
        return Problem(422, "reward_not_number", "the value must be a number", pointer="/value")
    return of_validation(found, model)


SHORTCUTS = (Shortcut("PUT", "/v1/decisions/{decision_id}/reward", "reward", rewarded),)
