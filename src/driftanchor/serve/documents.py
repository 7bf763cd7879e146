"""What the OpenAPI document says of answers."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from driftanchor.serve.access import SCHEME
from driftanchor.serve.problem import MEDIA
from driftanchor.serve.response_bodies import ProblemAnswer

Responses = dict[int | str, dict[str, Any]]
ALWAYS = (400, 401, 403, 405, 408, 413, 429, 500, 503)  # what any route may answer
PROBLEM = {"$ref": "#/components/schemas/Problem"}
HEADERS = {  # of some answers
    401: {"WWW-Authenticate": "How to authenticate."},
    405: {"Allow": "The methods of this address."},
    429: {"Retry-After": "Seconds to wait."},
    503: {"Retry-After": "Seconds to wait."},
}


def problems(*statuses: int) -> Responses:
    """What is said of answers that are errors."""
    return {status: _problem(status) for status in sorted({*ALWAYS, *statuses})}


def answers(found: dict[int, Any], *statuses: int) -> Responses:
    """What is said of the answers of a route.

    Args:
        found: The answers that are no errors, each with its model.
        statuses: The errors that may occur beside those of every route.
    """
    right: Responses = {
        status: {"model": model, "description": HTTPStatus(status).phrase}
        for status, model in found.items()
    }
    return right | problems(*statuses)


def _problem(status: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA: {"schema": PROBLEM}},
    }
    if status in HEADERS:
        said["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in HEADERS[status].items()
        }
    return said


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an app."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes)
        parts = made.setdefault("components", {}).setdefault("schemas", {})
        _drop_defaults(made)
        for unused in ("HTTPValidationError", "ValidationError"):
            parts.pop(unused, None)
        parts["Problem"] = ProblemAnswer.model_json_schema()
        made["components"]["securitySchemes"] = {SCHEME: {"type": "http", "scheme": "bearer"}}
        app.openapi_schema = made
    return app.openapi_schema


def _drop_defaults(made: dict[str, Any]) -> None:
    """Leave out answers that FastAPI adds to every route with a parameter: ours never occur so."""
    for methods in made["paths"].values():
        for route in methods.values():
            found = route["responses"].get("422", {}).get("content", {}).get("application/json", {})
            if found.get("schema", {}).get("$ref", "").endswith("HTTPValidationError"):
                del route["responses"]["422"]
