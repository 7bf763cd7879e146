"""The routes of campaigns: which there are, and what is known of one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from driftanchor.errors import DriftanchorError, StoreUnavailable
from driftanchor.serve.decision_routes import json_response
from driftanchor.serve.served import Served

router = APIRouter()


@router.get("/v1/campaigns")
async def list_all(request: Request) -> Response:
    """All campaigns."""
    served: Served = request.app.state.served
    return json_response({"campaigns": await served.read(_listed, served)})


@router.get("/v1/campaigns/{name}")
async def show(request: Request, name: str) -> Response:
    """What is known of a campaign."""
    served: Served = request.app.state.served
    campaign = await served.opened(name)
    return json_response((await served.read(campaign.status)).to_json())


def _listed(served: Served) -> list[dict[str, Any]]:
    return [_line(served, name) for name in served.names()]


def _line(served: Served, name: str) -> dict[str, Any]:
    """What a list says of one campaign; one that cannot be read is no reason to hide the others."""
    try:
        status = served.campaign(name).status()
    except StoreUnavailable:
        raise
    except DriftanchorError:
        return {"name": name, "error": "cannot be read"}
    return {
        "name": name,
        "policy": status.policy,
        "arms": len(status.arms),
        "decisions": status.decisions,
        "rewards": status.rewards,
        "pending": status.pending,
        "paused": status.paused,
    }
