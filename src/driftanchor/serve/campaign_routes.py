"""Routes to list, show, create and change campaigns, and to read their history and events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response, StreamingResponse

from driftanchor.core import check
from driftanchor.core.offline import OfflineData
from driftanchor.errors import Conflict, DriftanchorError, InvalidInput, StoreUnavailable
from driftanchor.live.campaigns.batch import HISTORY_SECONDS, NOTHING, Batch, Needs, Request
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.change_requests import (
    AddArm,
    ChangeTerms,
    Distrust,
    NextEpoch,
    SetArm,
    SetPaused,
)
from driftanchor.policies import POLICIES, make
from driftanchor.policies.base import Policy
from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import Problem
from driftanchor.serve.responses import json_response, json_text, tag_of
from driftanchor.serve.routing import Call, Content, Route
from driftanchor.serve.schemas import (
    CampaignAnswer,
    CampaignsAnswer,
    ChangeBody,
    ChangeHeaders,
    CreateBody,
    EventsQuery,
    HistoryAnswer,
    HistoryQuery,
)

LINES = "application/x-ndjson"
PAGE = 1_000  # events that are read at once
DECLARED = (
    "bias_bound", "relative_bound", "bias_bound_source", "reward", "reward_window",
    "default_reward", "late", "sticky", "exposure", "floor", "control", "on_alarm", "matters",
    "allow_outside", "seed",
)  # fmt: skip


async def list_campaigns(call: Call) -> Response:
    """All campaigns."""
    return json_response({"campaigns": await call.state.read(_list, call.state)})


def _list(state: AppState) -> list[dict[str, Any]]:
    return [_summary(state, name) for name in state.names()]


def _summary(state: AppState, name: str) -> dict[str, Any]:
    """Return the counts of a campaign. A damaged one must not hide the others."""
    try:
        return state.campaign(name).counts()
    except StoreUnavailable:
        raise
    except DriftanchorError:
        return {"name": name, "error": "cannot be read"}


async def create(call: Call) -> Response:
    """Create a campaign. If the same campaign exists, the answer is 200."""
    campaign, is_new = await call.state.read(_create, call.state, call.body)
    return await _show(call.state, campaign, 201 if is_new else 200)


def _create(state: AppState, body: CreateBody) -> tuple[Campaign, bool]:
    """Return the campaign, and whether it is new.

    Raises:
        Conflict: A different campaign has this name.
    """
    terms: dict[str, Any] = {name: getattr(body, name) for name in DECLARED}
    if (body.offline is None) == (body.arms is None):
        raise InvalidInput("give offline or arms, and not both", argument="arms")
    if body.offline is not None:
        summary = {label: logged.summary() for label, logged in body.offline.items()}
        terms["offline"] = OfflineData.from_summary(summary)
    else:
        terms["arms"] = body.arms
    if body.reward_range is not None:
        terms["reward_range"] = tuple(body.reward_range)
    terms |= {"policy": _policy(body), "store": state.store, "clock": state.clock}
    try:
        return Campaign.create(body.name, **terms), True
    except Conflict:
        Campaign.create(body.name, if_exists="load", **terms)
        return state.campaign(body.name), False


def _policy(body: CreateBody) -> Policy | None:
    """Return the named policy. Custom policies are code, which cannot be sent."""
    if body.policy is None:
        if body.parameters:
            raise InvalidInput("is for a policy, and none is named", argument="parameters")
        return None
    check.choice(body.policy, "policy", list(POLICIES))
    return make(body.policy, **body.parameters)


async def show(call: Call) -> Response:
    """Show a campaign. Its ETag changes with its configuration, not with each decision."""
    return await _show(call.state, await call.state.opened(call.path["name"]))


async def change(call: Call) -> Response:
    """Pause or resume a campaign, change its arms, its settings or bounds, or start a new epoch.

    Changes are atomic. Settings and bounds need a `reason`, and apply to new decisions.
    """
    campaign = await call.state.opened(call.path["name"])
    await call.state.write(campaign, Change.of(call.body, call.headers.if_match))
    return await _show(call.state, campaign)


@dataclass(frozen=True)
class Change:
    """All changes of a request, applied atomically.

    Attributes:
        steps: The steps, in order.
        expected: The version the client expects; `None` for any.
    """

    steps: tuple[Request, ...]
    expected: str | None = None
    needs: Needs = NOTHING

    @classmethod
    def of(cls, body: ChangeBody, expected: str | None = None) -> Change:
        """Build the change from a request body."""
        steps: list[Request] = [
            AddArm(label, arm.summary(), arm.bias_bound, arm.relative_bound)
            for label, arm in body.add.items()
        ]
        # Restore arms before pausing others: at least one arm must stay playable.
        order = sorted(body.arms.items(), key=lambda item: item[1] != "active")
        steps += [SetArm(label, state) for label, state in order]
        steps += [Distrust(label) for label in body.distrust]
        terms = body.new_terms()
        if terms or body.reason is not None:
            steps.append(ChangeTerms.checked(body.reason, **terms))
        if body.new_epoch:
            steps.append(NextEpoch())
        if body.paused is not None:
            steps.append(SetPaused(body.paused))
        return cls(tuple(steps), expected)

    def __call__(self, batch: Batch) -> None:
        """Apply the change."""
        if self.expected not in (None, "*", version(batch.current)):
            raise Problem(
                412,
                "changed_meanwhile",
                "the campaign has changed since you read it: read it, then send the change again",
            )
        for step in self.steps:
            step(batch)


def version(current: CampaignState) -> str:
    """Return the ETag of a campaign; it changes with its configuration, not with decisions."""
    states = [current.row(column).state for column in range(len(current.terms.arms))]
    counters = current.counters
    parts = [counters.paused, counters.epoch, states, sorted(current.distrusted)]
    parts += [entry.seq for entry in current.changes]
    return tag_of(json.dumps(parts).encode())


async def _show(state: AppState, campaign: Campaign, status: int = 200) -> Response:
    """Answer with a campaign and its ETag, read in one snapshot."""
    data, tag = await state.read(_read, campaign)
    return json_response(data, status, {"ETag": tag})


def _read(campaign: Campaign) -> tuple[dict[str, Any], str]:
    with campaign.at_one_moment() as reading:
        return reading.status().to_json(), version(reading.current)


async def history(call: Call) -> Response:
    """Show the decisions and rewards of each arm in intervals of 15 minutes."""
    campaign = await call.state.opened(call.path["name"])
    rows = await call.state.read(_history, campaign, call.query.since)
    return json_response({"seconds": HISTORY_SECONDS, "history": rows})


def _history(campaign: Campaign, since: float | None) -> list[dict[str, Any]]:
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


async def events(call: Call) -> Response:
    """Every event in order, decisions with their propensities, for off-policy evaluation.

    Events never change, so a client that has the first ones can ask for those after them.
    """
    campaign = await call.state.opened(call.path["name"])
    page = []
    if not call.is_head:
        page = await call.state.read(campaign.events, call.query.after, PAGE)
    return StreamingResponse(_lines(call.state, campaign, page), media_type=LINES)


async def _lines(
    state: AppState, campaign: Campaign, page: list[dict[str, Any]]
) -> AsyncIterator[str]:
    """Yield events, page by page: no transaction stays open while a client reads slowly."""
    while page:
        yield "".join(json_text(event) + "\n" for event in page)
        if len(page) < PAGE:
            return
        page = await state.read(campaign.events, page[-1]["seq"], PAGE)


TAGS, RECORDS = ("campaigns",), ("records",)
ROUTES = (
    Route(
        "GET",
        "/v1/campaigns",
        list_campaigns,
        role="read",
        answers={200: CampaignsAnswer},
        tags=TAGS,
    ),
    Route(
        "POST",
        "/v1/campaigns",
        create,
        role="admin",
        body=CreateBody,
        answers={200: CampaignAnswer, 201: CampaignAnswer},
        errors=(409, 415, 422),
        tags=TAGS,
    ),
    Route(
        "GET",
        "/v1/campaigns/{name}",
        show,
        role="read",
        shared=True,
        answers={200: CampaignAnswer},
        errors=(404, 422),
        tags=TAGS,
    ),
    Route(
        "PATCH",
        "/v1/campaigns/{name}",
        change,
        role="admin",
        body=ChangeBody,
        headers=ChangeHeaders,
        answers={200: CampaignAnswer},
        errors=(404, 409, 412, 415, 422),
        tags=TAGS,
    ),
    Route(
        "GET",
        "/v1/campaigns/{name}/history",
        history,
        role="read",
        shared=True,
        query=HistoryQuery,
        answers={200: HistoryAnswer},
        errors=(404, 422),
        tags=RECORDS,
    ),
    Route(
        "GET",
        "/v1/campaigns/{name}/events",
        events,
        role="read",
        query=EventsQuery,
        answers={200: Content("One JSON object per line for each event, in order.", LINES, str)},
        errors=(404, 422),
        tags=RECORDS,
    ),
)
