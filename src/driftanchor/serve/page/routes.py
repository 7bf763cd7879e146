"""The routes of the page: its files need no key, and its views as JSON need the role `read`.

Each view has a JSON address: `/` has `/page/overview.json`, `/campaigns/x` has
`/page/campaigns/x/view.json`, and `/campaigns/x/decisions/y` has
`/page/campaigns/x/decisions/y/view.json`.

A share link contains a short-lived key that can read one campaign. The page puts the key after the
`#` of the link. Browsers do not send that part, so no log contains it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from driftanchor.live.campaigns.creating import find_campaign
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.store import Store
from driftanchor.serve.app_state import AppState
from driftanchor.serve.page.decision_view import decision_view, find_decisions
from driftanchor.serve.page.glossary import WORDS
from driftanchor.serve.page.page_files import HEADERS, File, static
from driftanchor.serve.page.views import SentView, Views, sent_view
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_log import said_by
from driftanchor.serve.responses import is_known, json_response
from driftanchor.serve.routing import Call, Route
from driftanchor.serve.schemas import Body, Query
from driftanchor.version import __version__

MAX_HOURS = 24 * 31  # of a share link


class SpanQuery(Query):
    """How much of the history to show."""

    span: Annotated[str, Field(pattern="^(day|week|month|all)$")] = "all"


class FindQuery(Query):
    """Which decisions to find."""

    q: Annotated[str, Field(min_length=1, max_length=256)]
    through: Annotated[int, Field(ge=0, le=2**62)] | None = None


class ShareBody(Body):
    """The campaign of a share link, and the hours until it expires."""

    campaign: str
    hours: Annotated[float, Field(gt=0, le=MAX_HOURS)] = 24.0


async def page(call: Call) -> Response:
    """Return the page; the browser chooses the view by the address."""
    return _send(call, static()["index.html"])


async def file(call: Call) -> Response:
    """Return a file of the page."""
    name = call.path["name"]
    if name not in static():
        raise Problem(404, "not_found", "the page has no such file")
    return _send(call, static()[name])


async def about(call: Call) -> Response:
    """Return what the page needs before anyone has entered a key."""
    data = {"version": __version__, "demo": call.state.demo, "words": WORDS}
    return _send_json(call, sent_view(data))


async def overview(call: Call) -> Response:
    """Return all campaigns."""
    return await _compute(call, _views(call.state).overview)


async def campaign(call: Call) -> Response:
    """Return the current state of a campaign; share links see no single decisions."""
    name, views = call.path["name"], _views(call.state)
    return await _compute(call, lambda: views.campaign(name, shared=call.shared))


async def history(call: Call) -> Response:
    """Return a campaign over time."""
    name, views = call.path["name"], _views(call.state)
    return await _compute(call, lambda: views.history(name, call.query.span))


async def errors(call: Call) -> Response:
    """Return requests that this process recently refused; none for share links."""
    recent = [] if call.shared else call.state.errors.of(call.path["name"])
    return _send_json(call, sent_view({"errors": recent}))


async def search(call: Call) -> Response:
    """Find decisions by id, number or unit."""
    state, name, query = call.state, call.path["name"], call.query

    def view() -> SentView:
        return sent_view(find_decisions(state.campaign(name), query.q, query.through))

    return await _compute(call, view)


async def decision(call: Call) -> Response:
    """Explain one decision."""
    state, path = call.state, call.path

    def view() -> SentView:
        data = decision_view(state.campaign(path["name"]), path["decision_id"])
        return sent_view({**data, "demo": state.demo})

    return await _compute(call, view)


async def share(call: Call) -> Response:
    """Create the key of a share link."""
    state = call.state
    return json_response(await state.read(shared_key, state.store, call.body, state.clock()), 201)


def shared_key(store: Store, link: ShareBody, now: float) -> dict[str, Any]:
    """Create the key of a share link, and store its hash.

    Args:
        store: The store with the keys.
        link: The campaign of the link, and its lifetime.
        now: The time.

    Raises:
        NotFound: There is no such campaign.
        Problem: The store has no keys; a first key would end keyless access on this machine.
    """
    if not store.keys():
        raise Problem(
            409,
            "no_keys",
            "this server has no keys, and its first one would lock you out: create yours with "
            "'driftanchor keys create --role admin', and enter it here",
        )
    name = find_campaign(store, link.campaign).name
    until = now + 3_600.0 * link.hours
    key, row = make_key(["read"], now=now, expires_at=until, note="share link", campaign=name)
    store.add_key(row)
    return {"key": key, "expires": row.expires_at, "id": row.id}


def _views(state: AppState) -> Views:
    """Return the cached views of this process, created on first use."""
    if state.views is None:

        def failed(name: str, error: Exception) -> None:
            state.log.event("estimate_failed", "error", campaign=name, **said_by(error))

        extra = {"demo": state.demo}
        state.views = Views(state.store, state.campaign, extra, failed)
    views: Views = state.views
    return views


async def _compute(call: Call, view: Callable[[], SentView]) -> Response:
    return _send_json(call, await call.state.read(view))


def _send_json(call: Call, view: SentView) -> Response:
    return _send(call, File(view.body, "application/json", view.tag))


def _send(call: Call, file: File) -> Response:
    """Return a file, or 304 if the browser has it."""
    headers = {**HEADERS, "ETag": file.tag}
    if is_known(file.tag, call.request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.media)


def _get(path: str, handler: Any, **options: Any) -> Route:
    return Route("GET", path, handler, documented=False, **options)


def _read(path: str, handler: Any, **options: Any) -> Route:
    return _get(path, handler, role="read", **options)


ROUTES = (
    _get("/", page),
    _get("/start", page),
    _get("/campaigns/{name}", page),
    _get("/campaigns/{name}/decisions/{decision_id}", page),
    _get("/page/static/{name}", file),
    _get("/page/about.json", about),
    _read("/page/overview.json", overview),
    _read("/page/campaigns/{name}/view.json", campaign, shared=True),
    _read("/page/campaigns/{name}/history.json", history, query=SpanQuery, shared=True),
    _read("/page/campaigns/{name}/errors.json", errors, shared=True),
    _read("/page/campaigns/{name}/find.json", search, query=FindQuery),
    _read("/page/campaigns/{name}/decisions/{decision_id}/view.json", decision),
    Route("POST", "/page/share", share, role="admin", body=ShareBody, documented=False),
)
