"""Routes to list, show, create and change campaigns."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response

from driftanchor.errors import DriftanchorError, StoreUnavailable
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.body import read, takes
from driftanchor.serve.changing import Change, version
from driftanchor.serve.creation import create
from driftanchor.serve.documents import answers
from driftanchor.serve.json_answer import json_response
from driftanchor.serve.request_bodies import ChangeBody, CreateBody
from driftanchor.serve.response_bodies import CampaignAnswer, CampaignsAnswer
from driftanchor.serve.served import Served

router = APIRouter(tags=["campaigns"], route_class=KeyedRoute)
IfMatch = Annotated[
    str | None,
    Header(
        description="The ETag that you saw: the change is refused if the campaign was changed "
        "since.",
        max_length=64,
    ),
]


@router.get(
    "/v1/campaigns", dependencies=[needs("read")], responses=answers({200: CampaignsAnswer})
)
async def list_all(request: Request) -> Response:
    """All campaigns."""
    served: Served = request.app.state.served
    return json_response({"campaigns": await served.read(_listed, served)})


@router.post(
    "/v1/campaigns",
    dependencies=[needs("admin")],
    openapi_extra=takes(CreateBody),
    responses=answers({200: CampaignAnswer, 201: CampaignAnswer}, 409, 415, 422),
    status_code=201,
)
async def create_one(request: Request) -> Response:
    """Create a campaign. One that is the same may be there already: then the answer is 200."""
    served: Served = request.app.state.served
    body = await read(request, CreateBody)
    campaign, is_new = await served.read(create, served, body)
    return await _shown(served, campaign, 201 if is_new else 200)


@router.get(
    "/v1/campaigns/{name}",
    dependencies=[needs("read", shared=True)],
    responses=answers({200: CampaignAnswer}, 404, 422),
)
async def show(request: Request, name: str) -> Response:
    """Show a campaign. Its ETag changes with its configuration, not with each decision."""
    served: Served = request.app.state.served
    return await _shown(served, await served.opened(name))


@router.patch(
    "/v1/campaigns/{name}",
    dependencies=[needs("admin")],
    openapi_extra=takes(ChangeBody),
    responses=answers({200: CampaignAnswer}, 404, 409, 412, 415, 422),
)
async def change(request: Request, name: str, if_match: IfMatch = None) -> Response:
    """Pause or resume a campaign, change its arms, its settings or bounds, or start a new epoch.

    Changes are atomic. Settings and bounds need a `reason`, and apply to new decisions.
    """
    served: Served = request.app.state.served
    body = await read(request, ChangeBody)
    campaign = await served.opened(name)
    await served.bridge.do(campaign, Change.of(body, if_match))
    return await _shown(served, campaign)


async def _shown(served: Served, campaign: Campaign, status: int = 200) -> Response:
    """Answer with a campaign and its ETag, read in one snapshot."""
    found, tag = await served.read(_read, campaign)
    return json_response(found, status, {"ETag": tag})


def _read(campaign: Campaign) -> tuple[dict[str, Any], str]:
    with campaign.at_one_moment() as reading:
        return reading.status().to_json(), version(reading.current)


def _listed(served: Served) -> list[dict[str, Any]]:
    return [_line(served, name) for name in served.names()]


def _line(served: Served, name: str) -> dict[str, Any]:
    """What a list says of one campaign; one that cannot be read is no reason to hide the others."""
    try:
        return served.campaign(name).counts()
    except StoreUnavailable:
        raise
    except DriftanchorError:
        return {"name": name, "error": "cannot be read"}
