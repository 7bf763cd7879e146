"""The route for clients to report defaults they played while the server was unreachable."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.use_default import UseDefault
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.body import at_most, read, takes
from driftanchor.serve.documents import answers
from driftanchor.serve.json_answer import json_response
from driftanchor.serve.problem import problem_of
from driftanchor.serve.request_bodies import MOST_REWARDS, DefaultItem, DefaultsBody
from driftanchor.serve.response_bodies import DefaultsAnswer
from driftanchor.serve.served import Served

router = APIRouter(tags=["decisions"], dependencies=[needs("decide")], route_class=KeyedRoute)


@router.post(
    "/v1/campaigns/{name}/defaults",
    openapi_extra=takes(DefaultsBody),
    responses=answers({200: DefaultsAnswer}, 404, 415, 422),
)
async def report(request: Request, name: str) -> Response:
    """Say that arms were played that the campaign did not choose; their rewards do not count."""
    served: Served = request.app.state.served
    items = (await read(request, DefaultsBody)).defaults
    at_most(items, MOST_REWARDS, "defaults")
    campaign = await served.opened(name)
    noted = await asyncio.gather(*(_noted(served, campaign, item) for item in items))
    return json_response({"results": noted})


async def _noted(served: Served, campaign: Campaign, item: DefaultItem) -> dict[str, Any]:
    """Record one default and return its result, independently of the others."""
    try:
        done = UseDefault.checked(item.key, item.arm, item.ago, item.unit)
        status: str = await served.bridge.do(campaign, done)
    except InvalidInput as error:
        problem = problem_of(error)
        return {"status": "refused", "code": problem.code, "detail": problem.detail}
    if status == "recorded":
        served.metrics.defaulted(campaign.name)
    return {"status": status}
