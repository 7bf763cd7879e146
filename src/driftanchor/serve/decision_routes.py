"""Routes to make decisions (`POST …/decisions`), and to show or explain one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from driftanchor.live.campaigns.asking import LONGEST, Ask
from driftanchor.live.campaigns.decision import Decision, Receipt
from driftanchor.live.campaigns.telling import Expose
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.answer import Fields, WholeAnswer
from driftanchor.serve.body import parsed, takes
from driftanchor.serve.direct import Shortcut
from driftanchor.serve.documents import answers
from driftanchor.serve.json_answer import finite_answer, json_response
from driftanchor.serve.owners import do_for
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_bodies import AskBody
from driftanchor.serve.response_bodies import (
    DecisionAnswer,
    DecisionsAnswer,
    ExplanationAnswer,
    ReceiptAnswer,
)
from driftanchor.serve.served import Served

router = APIRouter(tags=["decisions"], route_class=KeyedRoute)
MADE = DecisionAnswer | DecisionsAnswer
REPLAYED = ((b"idempotent-replayed", b"true"),)
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="An idempotency key: for 24 hours the same key returns the same decisions, "
        "and is refused with 422 for another body.",
        min_length=1,
        max_length=LONGEST,
    ),
]


@router.post(
    "/v1/campaigns/{name}/decisions",
    dependencies=[needs("decide")],
    openapi_extra=takes(AskBody),
    responses=answers({200: MADE, 201: MADE}, 404, 409, 415, 422),
    status_code=201,
)
async def decide(request: Request, name: str, idempotency_key: IdempotencyKey = None) -> Response:
    """Which arm to play. The decision is on disk when the answer comes.

    201 if a decision is new, 200 if it was made before, for the same unit or the same key. Two
    headers Idempotency-Key in one request are refused with 400.
    """
    served: Served = request.app.state.served
    return (await decided(served, request.headers.raw, await request.body(), name)).response()


async def decided(served: Served, headers: Fields, content: bytes, name: str) -> WholeAnswer:
    """The answer to a request for decisions."""
    idempotency_key = key_of(headers)
    body = parsed(headers, content, AskBody)
    ask = Ask.checked(body.unit, body.exclude, body.n, body.peek, idempotency_key)
    made: list[Decision] = await served.bridge.do(await served.opened(name), ask)
    if not body.peek:
        served.answered(name, made)
    replayed = made[0].replayed
    more = REPLAYED if replayed and idempotency_key is not None else ()
    data = made[0].to_json()
    if body.n is not None:
        data = {"decisions": [decision.to_json() for decision in made]}
    return finite_answer(data, 200 if replayed or body.peek else 201, more)


@router.post(
    "/v1/decisions/{decision_id}/exposure",
    dependencies=[needs("reward")],
    responses=answers({200: ReceiptAnswer, 201: ReceiptAnswer}, 404, 409, 422),
    status_code=201,
)
async def expose(request: Request, decision_id: str) -> Response:
    """Report that a decision was shown."""
    receipt: Receipt = await do_for(request.app.state.served, decision_id, Expose(decision_id))
    return json_response(receipt.to_json(), 201 if receipt.status == "recorded" else 200)


@router.get(
    "/v1/decisions/{decision_id}",
    dependencies=[needs("read")],
    responses=answers({200: ExplanationAnswer}, 404, 422),
)
async def explain(request: Request, decision_id: str) -> Response:
    """Why a decision chose its arm."""
    served: Served = request.app.state.served
    campaign = await served.opened(await served.owners.of(decision_id))
    return json_response((await served.read(campaign.explain, decision_id)).to_json())


def key_of(headers: Fields) -> str | None:
    """The `Idempotency-Key` of a request, if it has one.

    Raises:
        Problem: It has several. Taking one of them could repeat a decision or lose one.
    """
    found = [value for name, value in headers if name == b"idempotency-key"]
    if len(found) > 1:
        raise Problem(
            400,
            "idempotency_key_repeated",
            "the header Idempotency-Key was sent more than once: send it once",
        )
    return found[0].decode("latin-1") if found else None


SHORTCUTS = (Shortcut("POST", "/v1/campaigns/{name}/decisions", "decide", decided),)
