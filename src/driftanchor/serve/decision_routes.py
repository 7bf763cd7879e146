"""Routes to make decisions, mark them as shown, explain them, and report defaults."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.decision import Decision, Receipt
from driftanchor.live.campaigns.requests import Ask, Expose, UseDefault
from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import problem_of
from driftanchor.serve.responses import json_response
from driftanchor.serve.routing import Call, Route
from driftanchor.serve.schemas import (
    AskBody,
    AskHeaders,
    DecisionAnswer,
    DecisionsAnswer,
    DefaultItem,
    DefaultsAnswer,
    DefaultsBody,
    ExplanationAnswer,
    ReceiptAnswer,
    check_size,
)


async def decide(call: Call) -> Response:
    """Which arm to play. The decision is on disk when the answer comes.

    201 if a decision is new, 200 if it was made before, for the same unit or the same key. Two
    Idempotency-Key headers in one request are refused with 400.
    """
    state, body, key = call.state, call.body, call.headers.idempotency_key
    ask = Ask.checked(body.unit, body.exclude, body.n, body.peek, key)
    campaign = await state.opened(call.path["name"])
    decisions: list[Decision] = await state.write(campaign, ask)
    if not body.peek:
        state.decided(campaign.name, decisions)
    replayed = decisions[0].replayed
    headers = {"Idempotent-Replayed": "true"} if replayed and key is not None else None
    answer: dict[str, Any] = decisions[0].to_json()
    if body.n is not None:
        answer = {"decisions": [decision.to_json() for decision in decisions]}
    return json_response(answer, 200 if replayed or body.peek else 201, headers)


async def expose(call: Call) -> Response:
    """Report that a decision was shown."""
    decision_id = call.path["decision_id"]
    campaign = await call.state.owner(decision_id)
    receipt: Receipt = await call.state.write(campaign, Expose(decision_id))
    return json_response(receipt.to_json(), 201 if receipt.status == "recorded" else 200)


async def explain(call: Call) -> Response:
    """Why a decision chose its arm."""
    decision_id = call.path["decision_id"]
    campaign = await call.state.owner(decision_id)
    return json_response((await call.state.read(campaign.explain, decision_id)).to_json())


async def report_defaults(call: Call) -> Response:
    """Report default arms that clients played; their rewards do not count."""
    items = call.body.defaults
    check_size(items, "defaults")
    campaign = await call.state.opened(call.path["name"])
    results = await asyncio.gather(*(_default(call.state, campaign, item) for item in items))
    return json_response({"results": results})


async def _default(state: AppState, campaign: Campaign, item: DefaultItem) -> dict[str, Any]:
    """Record one default arm that a client played; an invalid item does not stop the others."""
    try:
        request = UseDefault.checked(item.key, item.arm, item.ago, item.unit)
        status: str = await state.write(campaign, request)
    except InvalidInput as error:
        problem = problem_of(error)
        return {"status": "refused", "code": problem.code, "detail": problem.detail}
    if status == "recorded":
        state.metrics.defaulted(campaign.name)
    return {"status": status}


MADE = DecisionAnswer | DecisionsAnswer
TAGS = ("decisions",)
ROUTES = (
    Route(
        "POST",
        "/v1/campaigns/{name}/decisions",
        decide,
        role="decide",
        body=AskBody,
        headers=AskHeaders,
        answers={200: MADE, 201: MADE},
        errors=(404, 409, 415, 422),
        tags=TAGS,
    ),
    Route(
        "POST",
        "/v1/decisions/{decision_id}/exposure",
        expose,
        role="reward",
        answers={200: ReceiptAnswer, 201: ReceiptAnswer},
        errors=(404, 409, 422),
        tags=TAGS,
    ),
    Route(
        "GET",
        "/v1/decisions/{decision_id}",
        explain,
        role="read",
        answers={200: ExplanationAnswer},
        errors=(404, 422),
        tags=TAGS,
    ),
    Route(
        "POST",
        "/v1/campaigns/{name}/defaults",
        report_defaults,
        role="decide",
        body=DefaultsBody,
        answers={200: DefaultsAnswer},
        errors=(404, 415, 422),
        tags=TAGS,
    ),
)
