"""OFREP, the OpenFeature protocol: any of its SDKs can ask for an arm.

A campaign is a flag, an arm is a variant, and the targeting key is the unit. The metadata contains
the propensity and the decision's id, which is needed to report its reward.

- Evaluating one flag is an ordinary `Campaign.ask`: the decision counts immediately.
- Evaluating all flags only assigns arms, because a client does so at startup and shows few of
  them. A decision counts once its exposure or reward is reported, or its flag is evaluated alone.
  A unit without a decision gets one in every campaign that is not paused, so bulk evaluation is
  refused if the store has more than `MOST_FLAGS` campaigns.
- A paused campaign has no value: the application plays its own default.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fastapi import APIRouter, Request, Response

from driftanchor.errors import InvalidInput, NotFound, UnreadableState
from driftanchor.serve import flag_docs
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.etag import is_known, tag_of
from driftanchor.serve.flags import Evaluate, Found, Refused, evaluated, failure, unit_of
from driftanchor.serve.json_answer import json_response, json_text
from driftanchor.serve.served import Served

MOST_FLAGS = 100  # campaigns in a bulk evaluation

router = APIRouter(
    prefix="/ofrep/v1/evaluate/flags",
    tags=["OFREP"],
    dependencies=[needs("decide")],
    route_class=KeyedRoute,
)


@router.post("/{key}", **flag_docs.ONE)
async def evaluate_one(request: Request, key: str) -> Response:
    """Which arm of one campaign the unit gets; the decision counts from now on."""
    served: Served = request.app.state.served
    try:
        unit = await _unit(request)
        campaign = await served.opened(key)
        found = await served.bridge.do(campaign, Evaluate(unit))
    except Refused as error:
        return json_response(failure(key, error.code, error.details), 400)
    except (NotFound, InvalidInput):  # or a name that no campaign can have
        return json_response(
            failure(key, "FLAG_NOT_FOUND", "there is no campaign of this name"), 404
        )
    if found.decision is not None:
        served.answered(campaign.name, [found.decision])
    return json_response(evaluated(key, found), 200)


@router.post("", **flag_docs.ALL)
async def evaluate_all(request: Request) -> Response:
    """Assign the unit's arms in all campaigns; a decision counts only once it is shown."""
    served: Served = request.app.state.served
    try:
        unit = await _unit(request)
    except Refused as error:
        return json_response({"errorCode": error.code, "errorDetails": error.details}, 400)
    names = await served.read(served.names)
    if len(names) > MOST_FLAGS:
        details = (
            f"this server has more than {MOST_FLAGS} campaigns, and evaluating all of them would "
            "write a decision in each: evaluate flags one by one"
        )
        return json_response({"errorCode": "GENERAL", "errorDetails": details}, 400)
    flags = await asyncio.gather(*(_assigned(served, name, unit) for name in names))
    body = json_text({"flags": [x for x in flags if x is not None]})
    tag = tag_of(body.encode())
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if is_known(tag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, "application/json")


async def _assigned(served: Served, name: str, unit: str) -> dict[str, Any] | None:
    """Return the unit's assigned arm in a campaign; `None` if the campaign is gone."""
    try:
        campaign = await served.opened(name)
        if campaign.sticky is None:
            details = "every request is a new decision in this campaign: evaluate it alone"
            return failure(name, "GENERAL", details)
        found: Found = await served.bridge.do(campaign, Evaluate(unit, assign=True))
    except NotFound:
        return None
    except UnreadableState:  # a damaged campaign must not hide the others
        return failure(name, "GENERAL", "the campaign cannot be read")
    if found.decision is not None:
        served.answered(campaign.name, [found.decision])
    return evaluated(name, found)


async def _unit(request: Request) -> str:
    """Who is asked for.

    Raises:
        Refused: The body does not say.
    """
    content = await request.body()
    try:
        body = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        raise Refused("PARSE_ERROR", "the body is not JSON in UTF-8") from None
    return unit_of(body)
