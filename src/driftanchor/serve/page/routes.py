"""Routes of the page: its public files, and its views as JSON, which need the role `read`.

Each view has a JSON address: `/` has `/page/overview.json`, `/campaigns/x` has
`/page/campaigns/x/view.json`, and `/campaigns/x/decisions/y` has
`/page/campaigns/x/decisions/y/view.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from driftanchor.serve.app_state import AppState
from driftanchor.serve.page import recent_errors
from driftanchor.serve.page.decision_view import decision_view, find
from driftanchor.serve.page.glossary import WORDS
from driftanchor.serve.page.page_files import HEADERS, File, static
from driftanchor.serve.page.share import ShareBody, shared_key
from driftanchor.serve.page.views import SentView, Views, sent_view
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_log import said_by
from driftanchor.serve.responses import is_known, json_response
from driftanchor.serve.routing import Call, Route
from driftanchor.serve.schemas import Query
from driftanchor.version import __version__


class SpanQuery(Query):
    """How much of the history to show."""

    span: Annotated[str, Field(pattern="^(day|week|month|all)$")] = "all"


class FindQuery(Query):
    """Which decisions to find."""

    q: Annotated[str, Field(min_length=1, max_length=256)]
    through: Annotated[int, Field(ge=0, le=2**62)] | None = None


async def page(call: Call) -> Response:
    """The page; which view it shows depends on the address, and is up to the browser."""
    return _sent(call, static()["index.html"])


async def file(call: Call) -> Response:
    """A file of the page."""
    found = static().get(call.path["name"])
    if found is None:
        raise Problem(404, "not_found", "the page has no such file")
    return _sent(call, found)


async def about(call: Call) -> Response:
    """What the page must know before anyone has shown a key."""
    known = {"version": __version__, "demo": call.state.demo, "words": WORDS}
    return _json(call, sent_view(known))


async def overview(call: Call) -> Response:
    """All campaigns."""
    return await _view(call, _views(call.state).overview)


async def campaign(call: Call) -> Response:
    """Show the current state of a campaign; share links see no single decisions."""
    name, views = call.path["name"], _views(call.state)
    return await _view(call, lambda: views.campaign(name, shared=call.shared))


async def history(call: Call) -> Response:
    """Show a campaign over time."""
    name, views = call.path["name"], _views(call.state)
    return await _view(call, lambda: views.history(name, call.query.span))


async def errors(call: Call) -> Response:
    """List requests that this process recently refused; empty for share links."""
    kept = recent_errors.new() if call.shared else call.state.errors
    return _json(call, sent_view({"errors": recent_errors.of(kept, call.path["name"])}))


async def search(call: Call) -> Response:
    """Decisions by id, number or unit."""
    state, query = call.state, call.query

    def view() -> SentView:
        return sent_view(find(state.campaign(call.path["name"]), query.q, query.through))

    return await _view(call, view)


async def decision(call: Call) -> Response:
    """One decision, explained."""
    state, path = call.state, call.path

    def view() -> SentView:
        found = decision_view(state.campaign(path["name"]), path["decision_id"])
        return sent_view({**found, "demo": state.demo})

    return await _view(call, view)


async def share(call: Call) -> Response:
    """Create an expiring key for a share link; the key can read one campaign."""
    state = call.state
    found = await state.read(shared_key, state.store, call.body, state.clock())
    return json_response(found, 201)


def _views(state: AppState) -> Views:
    """Return the views of this app, created on first use."""
    if state.views is None:
        extra: dict[str, Any] = {"demo": state.demo}
        state.views = Views(state.store, state.campaign, extra, failed=_logged(state))
    views: Views = state.views
    return views


def _logged(state: AppState) -> Callable[[str, Exception], None]:
    """Return a callback that logs a failed estimate."""

    def log(name: str, error: Exception) -> None:
        state.log.event("estimate_failed", "error", campaign=name, **said_by(error))

    return log


async def _view(call: Call, view: Callable[[], SentView]) -> Response:
    return _json(call, await call.state.read(view))


def _json(call: Call, found: SentView) -> Response:
    return _sent(call, File(found.body, "application/json", found.tag))


def _sent(call: Call, found: File) -> Response:
    """A file, or the word that the browser has it already."""
    headers = {**HEADERS, "ETag": found.tag}
    if is_known(found.tag, call.request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers, media_type=found.media)


def _get(path: str, handler: Any, **options: Any) -> Route:
    return Route("GET", path, handler, documented=False, **options)


READ: dict[str, Any] = {"role": "read"}
READ_SHARED: dict[str, Any] = {"role": "read", "shared": True}
ROUTES = (
    _get("/", page),
    _get("/start", page),
    _get("/campaigns/{name}", page),
    _get("/campaigns/{name}/decisions/{decision_id}", page),
    _get("/page/static/{name}", file),
    _get("/page/about.json", about),
    _get("/page/overview.json", overview, **READ),
    _get("/page/campaigns/{name}/view.json", campaign, **READ_SHARED),
    _get("/page/campaigns/{name}/history.json", history, query=SpanQuery, **READ_SHARED),
    _get("/page/campaigns/{name}/errors.json", errors, **READ_SHARED),
    _get("/page/campaigns/{name}/find.json", search, query=FindQuery, **READ),
    _get("/page/campaigns/{name}/decisions/{decision_id}/view.json", decision, **READ),
    Route("POST", "/page/share", share, role="admin", body=ShareBody, documented=False),
)
