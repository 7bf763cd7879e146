"""Problem: error responses as defined by RFC 9457.

A response says what is wrong and where. It never echoes submitted values or stack traces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args

from pydantic import BaseModel
from starlette.responses import Response

from driftanchor import errors
from driftanchor.live.campaigns.write_queue import Overloaded

MEDIA = "application/problem+json"
RETRY_AFTER = "1"  # seconds
_RECEIVED = re.compile(r"(,|;| \()\s*got .*", re.DOTALL)
_NO_CAMPAIGN = re.compile(r"no campaign '[^']*'")
_OTHER_NAMES = re.compile(r"; there are(: .*| none yet)", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


CODES: Sequence[tuple[type[Exception], int, str]] = (  # the first match wins
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
    """An error response.

    Args:
        status: The HTTP status.
        code: A word for programs, such as `"reward_conflict"`.
        detail: What is wrong and what to do, for people.
        headers: Headers of the response.
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
        """Return the members of the response."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }

    def response(self) -> Response:
        """Return the HTTP response."""
        text = json.dumps(self.body(), allow_nan=False)
        return Response(text, self.status, self.headers, MEDIA)


def problem_of(error: Exception) -> Problem:
    """Return the problem for an exception; unexpected ones become 500."""
    if isinstance(error, Problem):
        return error
    for kind, status, code in CODES:
        if isinstance(error, kind):
            argument = getattr(error, "argument", None)
            more = {} if argument is None else {"argument": argument}
            return Problem(status, code, _message(error, status), **more)
    if isinstance(error, errors.UnreadableState):
        return Problem(500, "store_damaged", "the store has damaged data for this request")
    return Problem(500, "internal", "the server failed; its log says more")


def _message(error: Exception, status: int) -> str:
    """Return the message of an error, without values."""
    if status == 503:
        return (
            "the store cannot be reached or written; the request was recorded completely or not at "
            "all: send it again"
        )
    if isinstance(error, errors.UnknownName):
        return f"unknown {error.args[0]}"
    known = _NO_CAMPAIGN.sub("no campaign of this name", _OTHER_NAMES.sub("", str(error)))
    return _QUOTED.sub("…", _RECEIVED.sub("", known))


def of_validation(failures: Sequence[Any], model: type[BaseModel]) -> Problem:
    """Return the problem for a body, query or header that Pydantic refused.

    Args:
        failures: The errors that Pydantic reports.
        model: The expected model.
    """
    first = failures[0]
    if first["type"] == "json_invalid":
        return Problem(400, "invalid_json", "the body is not JSON in UTF-8")
    place = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":  # the last name was submitted
        inside = place[:-1]
        return Problem(
            422, "unknown_member", f"unknown member; {_members(model, inside)}", pointer=_at(inside)
        )
    text = f"`{place[-1]}` is missing" if first["type"] == "missing" and place else first["msg"]
    return Problem(422, "invalid", str(text), pointer=_at(place))


def _at(place: Sequence[str]) -> str:
    """Return a JSON pointer with the first name only; names below may be submitted labels."""
    return "".join(f"/{name}" for name in place[:1])


def _members(model: type[BaseModel], place: Sequence[str]) -> str:
    """Say which members a place in a body takes."""
    for name in place:
        field = model.model_fields.get(name)
        model = (field and _model_in(field.annotation)) or model
    return f"{'this place' if place else 'this request'} takes {', '.join(model.model_fields)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model in a type such as `dict[str, Logged] | None`, if any."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
