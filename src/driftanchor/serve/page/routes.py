"""Routes of the page: its public files, and its views as JSON, which need the role `read`.

Each view has a JSON address: `/` has `/page/overview.json`, `/campaigns/x` has
`/page/campaigns/x/view.json`, and `/campaigns/x/decisions/y` has
`/page/campaigns/x/decisions/y/view.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from driftanchor.serve.access import SHARED, needs
from driftanchor.serve.body import read
from driftanchor.serve.etag import is_known
from driftanchor.serve.json_answer import json_response
from driftanchor.serve.page import recent_errors
from driftanchor.serve.page.decision_view import decision_view, find
from driftanchor.serve.page.glossary import WORDS
from driftanchor.serve.page.page_files import HEADERS, File, static
from driftanchor.serve.page.share import ShareBody, shared_key
from driftanchor.serve.page.views import SentView, Views, sent_view
from driftanchor.serve.problem import Problem
from driftanchor.serve.request_log import said_by
from driftanchor.serve.served import Served
from driftanchor.version import __version__

router = APIRouter(include_in_schema=False)
READ, READ_SHARED = needs("read"), needs("read", shared=True)
Span = Annotated[str, Query(pattern="^(day|week|month|all)$")]
Text = Annotated[str, Query(min_length=1, max_length=256)]
Through = Annotated[int | None, Query(ge=0, le=2**62)]


@router.get("/")
@router.get("/start")
@router.get("/campaigns/{name}")
@router.get("/campaigns/{name}/decisions/{decision_id}")
async def page(request: Request) -> Response:
    """The page; which view it shows depends on the address, and is up to the browser."""
    return _sent(request, static()["index.html"])


@router.get("/page/static/{name}")
async def file(request: Request, name: str) -> Response:
    """A file of the page."""
    found = static().get(name)
    if found is None:
        raise Problem(404, "not_found", "the page has no such file")
    return _sent(request, found)


@router.get("/page/about.json")
async def about(request: Request) -> Response:
    """What the page must know before anyone has shown a key."""
    known = {"version": __version__, "demo": _demo(request), "words": WORDS}
    return _json(request, sent_view(known))


@router.get("/page/overview.json", dependencies=[READ])
async def overview(request: Request) -> Response:
    """All campaigns."""
    return await _view(request, _views(request).overview)


@router.get("/page/campaigns/{name}/view.json", dependencies=[READ_SHARED])
async def campaign(request: Request, name: str) -> Response:
    """Show the current state of a campaign; share links see no single decisions."""
    is_shared = request.scope[SHARED]
    return await _view(request, lambda: _views(request).campaign(name, shared=is_shared))


@router.get("/page/campaigns/{name}/history.json", dependencies=[READ_SHARED])
async def history(request: Request, name: str, span: Span = "all") -> Response:
    """Show a campaign over time."""
    return await _view(request, lambda: _views(request).history(name, span))


@router.get("/page/campaigns/{name}/errors.json", dependencies=[READ_SHARED])
async def errors(request: Request, name: str) -> Response:
    """List requests that this process recently refused; empty for share links."""
    kept = recent_errors.new() if request.scope[SHARED] else request.app.state.page_errors
    return _json(request, sent_view({"errors": recent_errors.of(kept, name)}))


@router.get("/page/campaigns/{name}/find.json", dependencies=[READ])
async def search(request: Request, name: str, q: Text, through: Through = None) -> Response:
    """Decisions by id, number or unit."""
    served: Served = request.app.state.served
    return await _view(request, lambda: sent_view(find(served.campaign(name), q, through)))


@router.get("/page/campaigns/{name}/decisions/{decision_id}/view.json", dependencies=[READ])
async def decision(request: Request, name: str, decision_id: str) -> Response:
    """One decision, explained."""
    served: Served = request.app.state.served

    def view() -> SentView:
        found = decision_view(served.campaign(name), decision_id)
        return sent_view({**found, "demo": _demo(request)})

    return await _view(request, view)


@router.post("/page/share", dependencies=[needs("admin")])
async def share(request: Request) -> Response:
    """Create an expiring key for a share link; the key can read one campaign."""
    served: Served = request.app.state.served
    body = await read(request, ShareBody)
    found = await served.read(shared_key, served.store, body, served.clock())
    return json_response(found, 201)


def _demo(request: Request) -> bool:
    served: Served = request.app.state.served
    return served.demo


def _views(request: Request) -> Views:
    """Return the views of this app, created on first use."""
    state, served = request.app.state, request.app.state.served
    if not hasattr(state, "page_views"):
        extra: dict[str, Any] = {"demo": _demo(request)}
        state.page_views = Views(served.store, served.campaign, extra, failed=_logged(served))
    views: Views = state.page_views
    return views


def _logged(served: Served) -> Callable[[str, Exception], None]:
    """Return a callback that logs a failed estimate."""

    def log(name: str, error: Exception) -> None:
        served.log.event("estimate_failed", "error", campaign=name, **said_by(error))

    return log


async def _view(request: Request, view: Callable[[], SentView]) -> Response:
    served: Served = request.app.state.served
    return _json(request, await served.read(view))


def _json(request: Request, found: SentView) -> Response:
    return _sent(request, File(found.body, "application/json", found.tag))


def _sent(request: Request, found: File) -> Response:
    """A file, or the word that the browser has it already."""
    headers = {**HEADERS, "ETag": found.tag}
    if is_known(found.tag, request.headers.get("if-none-match")):
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers, media_type=found.media)
