"""Problem: error responses as defined by RFC 9457.

A response says what is wrong and where. It never echoes submitted values or stack traces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from driftanchor import errors
from driftanchor.serve.bridge import Overloaded

MEDIA = "application/problem+json"
RETRY_AFTER = "1"  # seconds
_RECEIVED = re.compile(r"(,|;| \()\s*got .*", re.DOTALL)
_NO_CAMPAIGN = re.compile(r"no campaign '[^']*'")
_OTHER_NAMES = re.compile(r"; there are(: .*| none yet)", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
CODES: Sequence[tuple[type[Exception], int, str]] = (  # the first that fits
    (errors.CampaignPaused, 409, "campaign_paused"),
    (errors.DefaultPlayed, 409, "default_played"),
    (errors.KeyReused, 422, "idempotency_key_reused"),
    (errors.OtherReward, 409, "reward_conflict"),
    (errors.Conflict, 409, "conflict"),
    (errors.NotFound, 404, "not_found"),
    (errors.InvalidInput, 422, "invalid"),
    (Overloaded, 503, "overloaded"),
    (errors.StoreUnavailable, 503, "store_unavailable"),
)


class Problem(Exception):
    """An answer that is an error.

    Args:
        status: The status of the answer.
        code: One word for programs, such as `"reward_conflict"`.
        detail: What is wrong and what to do, for people.
        headers: Headers of the answer.
        more: Further members, such as `pointer`, the place in the body.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.headers, self.more = dict(headers or {}), more
        if status == 503:
            self.headers.setdefault("Retry-After", RETRY_AFTER)

    def body(self) -> dict[str, Any]:
        """The members of the answer."""
        title = HTTPStatus(self.status).phrase
        return {
            "type": "about:blank",
            "title": title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }

    def response(self) -> Response:
        """The answer."""
        text = json.dumps(self.body(), allow_nan=False)
        return Response(text, self.status, self.headers, MEDIA)


def problem_of(error: Exception) -> Problem:
    """The answer to an error of ours; any other is a fault of the server."""
    if isinstance(error, Problem):
        return error
    for kind, status, code in CODES:
        if isinstance(error, kind):
            argument = getattr(error, "argument", None)
            more = {} if argument is None else {"argument": argument}
            return Problem(status, code, _said(error, status), **more)
    if isinstance(error, errors.UnreadableState):
        return Problem(500, "store_damaged", "what the store has of this cannot be read")
    return Problem(500, "internal", "the server failed; its log says more")


def _said(error: Exception, status: int) -> str:
    """Return the message of an error, without values."""
    if status == 503:
        return (
            "the store cannot be reached or written; the request was recorded completely or not at "
            "all: send it again"
        )
    if isinstance(error, errors.UnknownName):
        kind = str(error.args[0])
        return f"unknown {kind}"
    known = _NO_CAMPAIGN.sub("no campaign of this name", _OTHER_NAMES.sub("", str(error)))
    return _QUOTED.sub("…", _RECEIVED.sub("", known))


def of_validation(found: Sequence[Any], model: type[BaseModel] | None = None) -> Problem:
    """The answer to a body, query or header that is not as documented.

    Args:
        found: What Pydantic found.
        model: What a body must be.
    """
    first = found[0]
    if first["type"] == "json_invalid":
        return Problem(400, "invalid_json", "the body is not JSON in UTF-8")
    place = [str(part) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    if first["type"] == "extra_forbidden":  # the name of the member is what was sent
        inside = place[:-1]
        text = "unknown member" + ("" if model is None else f"; {_takes(model, inside)}")
        return Problem(422, "unknown_member", text, pointer=_at(inside))
    text = f"`{place[-1]}` is missing" if first["type"] == "missing" and place else first["msg"]
    return Problem(422, "invalid", str(text), pointer=_at(place))


def _at(place: Sequence[str]) -> str:
    """The place in a body; only the first name is ours, what is below may be labels."""
    return "".join(f"/{name}" for name in place[:1])


def _takes(model: type[BaseModel], place: Sequence[str]) -> str:
    """Which members a place in a body takes; labels and numbers on the way there are no members."""
    for name in place:
        field = model.model_fields.get(name)
        model = (field and _model_in(field.annotation)) or model
    return f"{'this place' if place else 'this request'} takes {', '.join(model.model_fields)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in a type such as `dict[str, Logged] | None`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def of_http(error: HTTPException) -> Problem:
    """The answer to what the framework refuses, such as an unknown path."""
    code = HTTPStatus(error.status_code).name.lower()
    details = {404: "there is nothing at this address", 405: "this method is not for this address"}
    detail = details.get(error.status_code, HTTPStatus(error.status_code).phrase)
    headers = dict(error.headers or {})
    allowed = headers.get("Allow", "").split(", ")
    if "GET" in allowed:  # `serve.head_requests` answers it
        headers["Allow"] = ", ".join(sorted({*allowed, "HEAD"}))
    return Problem(error.status_code, code, detail, headers=headers)


def response_to(error: Exception) -> Response:
    """The answer to an error.

    Raises:
        Exception: The error itself, if nobody expected it.
    """
    if isinstance(error, RequestValidationError | ValidationError):
        return of_validation(error.errors()).response()
    if isinstance(error, HTTPException):
        return of_http(error).response()
    if isinstance(error, Problem | errors.DriftanchorError):
        return problem_of(error).response()
    raise error


def install(app: FastAPI) -> None:
    """Make an app answer all errors with problems."""

    async def answer(request: Request, error: Exception) -> Response:
        response = response_to(error)
        if response.status_code >= 500:
            request.app.state.served.log.failure(request.scope.get("request_id", ""), error)
        return response

    async def failed(_: Request, error: Exception) -> Response:
        return problem_of(error).response()

    kinds = (Problem, errors.DriftanchorError, RequestValidationError, ValidationError)
    for kind in (*kinds, HTTPException):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(Exception, failed)
