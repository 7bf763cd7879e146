"""Routes of a campaign's records: the history by time interval, and all events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.past import STRETCH
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.documents import Responses, answers, problems
from driftanchor.serve.head_requests import HEAD_ONLY
from driftanchor.serve.json_answer import json_response, json_text
from driftanchor.serve.response_bodies import HistoryAnswer
from driftanchor.serve.served import Served

router = APIRouter(tags=["records"], route_class=KeyedRoute)
LINES = "application/x-ndjson"
AT_ONCE = 1_000  # events that are read in one go
STREAMED: Responses = {
    200: {
        "description": "One JSON object in a line for each event, in order.",
        "content": {LINES: {"schema": {"type": "string"}}},
    }
}
Since = Annotated[
    float | None,
    Query(description="The first moment wanted, in seconds since 1970.", allow_inf_nan=False),
]
After = Annotated[
    int,
    Query(description="The place of the last event that you have.", ge=0, le=2**62),
]


@router.get(
    "/v1/campaigns/{name}/history",
    dependencies=[needs("read", shared=True)],
    responses=answers({200: HistoryAnswer}, 404, 422),
)
async def history(request: Request, name: str, since: Since = None) -> Response:
    """Show the decisions and rewards of each arm in intervals of 15 minutes."""
    served: Served = request.app.state.served
    campaign = await served.opened(name)
    return json_response({"seconds": STRETCH, "history": await served.read(_past, campaign, since)})


@router.get(
    "/v1/campaigns/{name}/events",
    dependencies=[needs("read")],
    responses=STREAMED | problems(404, 422),
)
async def events(request: Request, name: str, after: After = 0) -> Response:
    """Every event in order, decisions with their propensities, for off-policy evaluation.

    Events never change, so a client that has the first ones can ask for those after them.
    """
    served: Served = request.app.state.served
    campaign = await served.opened(name)
    headers_alone = request.scope.get(HEAD_ONLY, False)
    first = [] if headers_alone else await served.read(_page, campaign, after)
    return StreamingResponse(_lines(served, campaign, first), media_type=LINES)


async def _lines(
    served: Served, campaign: Campaign, page: list[dict[str, Any]]
) -> AsyncIterator[str]:
    """The events, page by page: no transaction stays open while a client reads slowly."""
    while page:
        yield "".join(json_text(event) + "\n" for event in page)
        if len(page) < AT_ONCE:
            return
        page = await served.read(_page, campaign, page[-1]["seq"])


def _page(campaign: Campaign, after: int) -> list[dict[str, Any]]:
    return campaign.events(after, AT_ONCE)


def _past(campaign: Campaign, since: float | None) -> list[dict[str, Any]]:
    arms = campaign.terms.arms
    return [
        {
            "start": row.start,
            "arm": arms[row.column],
            "decisions": row.decisions,
            "rewards": row.rewards,
            "total": row.total,
        }
        for row in campaign.history(since)
    ]
