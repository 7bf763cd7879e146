"""The OpenAPI document of a table of routes, and a page made from it."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter

from driftanchor.render.document import document as html_document
from driftanchor.render.markup import Html, join, tag
from driftanchor.serve.problem import MEDIA
from driftanchor.serve.routing import Content, Route
from driftanchor.serve.schemas import ProblemAnswer, Query
from driftanchor.version import __version__

ALWAYS = (400, 401, 403, 405, 408, 413, 429, 500, 503)  # errors that any route can have
HEADERS = {  # of errors
    401: {"WWW-Authenticate": "How to authenticate."},
    405: {"Allow": "The methods of this address."},
    429: {"Retry-After": "Seconds to wait."},
    503: {"Retry-After": "Seconds to wait."},
}
KEY = "A key from 'driftanchor keys create'. The header X-API-Key works too."


@functools.cache
def document(table: Sequence[Route]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of a table of routes."""
    routes = [route for route in table if route.documented]
    types = {id(x): x for route in routes for x in (*_types(route), ProblemAnswer)}
    schemas, parts = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(kind)) for key, kind in types.items()],
        ref_template="#/components/schemas/{model}",
    )
    refs = {key: schema for (key, _), schema in schemas.items()}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Driftanchor", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": parts["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": KEY}},
        },
    }


def _types(route: Route) -> list[Any]:
    """Return the types of the bodies and answers of a route."""
    answers = [x.model if isinstance(x, Content) else x for x in route.answers.values()]
    return [x for x in (route.body, *answers) if x is not None]


def _operation(route: Route, refs: Mapping[int, Any]) -> dict[str, Any]:
    summary, _, more = inspect.cleandoc(route.handler.__doc__ or "").partition("\n\n")
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "tags": list(route.tags),
        "summary": " ".join(summary.split()),
    }
    if more:
        operation["description"] = more
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    parameters += [*_parameters("query", route.query), *_parameters("header", route.headers)]
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        content = {"application/json": {"schema": refs[id(route.body)]}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.role is not None:
        operation["security"] = [{"key": []}]
    problem = Content("", MEDIA, ProblemAnswer)
    answers = {status: problem for status in sorted({*ALWAYS, *route.errors})} | dict(route.answers)
    operation["responses"] = {
        str(status): _answer(status, answer, refs) for status, answer in sorted(answers.items())
    }
    return operation


def _parameters(place: str, model: type[Query] | None) -> list[dict[str, Any]]:
    """Return the parameters of a model of query parameters or headers."""
    if model is None:
        return []
    properties = model.model_json_schema()["properties"]
    return [
        {
            "name": name if place == "query" else name.replace("_", "-").title(),
            "in": place,
            "required": model.model_fields[name].is_required(),
            "description": schema.pop("description", ""),
            "schema": schema,
        }
        for name, schema in properties.items()
    ]


def _answer(status: int, answer: Any, refs: Mapping[int, Any]) -> dict[str, Any]:
    """Return the entry of one answer: a model, or a `Content`."""
    content = answer if isinstance(answer, Content) else Content("", model=answer)
    entry: dict[str, Any] = {"description": content.description or HTTPStatus(status).phrase}
    headers = {**HEADERS.get(status, {}), **content.headers}
    if headers:
        entry["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in headers.items()
        }
    if content.media is not None:
        schema = {} if content.model is None else {"schema": refs[id(content.model)]}
        entry["content"] = {content.media: schema}
    return entry


def page(api: Mapping[str, Any]) -> str:
    """Return an HTML page of the document, without scripts."""
    title = f"{api['info']['title']} {api['info']['version']}"
    routes = [
        _route_section(method, path, operation)
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    ]
    parts = [
        join(tag("h3", name, id=name), _schema(schema))
        for name, schema in api["components"]["schemas"].items()
    ]
    programs = tag("p", "For programs: ", tag("a", "openapi.json", href="openapi.json"))
    return html_document(title, tag("h1", title), programs, *routes, tag("h2", "Schemas"), *parts)


def _route_section(method: str, path: str, operation: dict[str, Any]) -> Html:
    rows: list[tuple[str, str]] = [
        (f"{parameter['in']} {parameter['name']}", parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    rows += [
        (status, join(answer["description"], *_models(answer)))
        for status, answer in operation["responses"].items()
    ]
    sent = operation.get("requestBody")
    if sent is not None:
        rows.insert(0, ("body", join(*_models(sent))))
    return join(
        tag("h2", tag("code", f"{method.upper()} {path}")),
        tag("p", operation["summary"]),
        *([tag("p", operation["description"])] if "description" in operation else []),
        _table(rows),
    )


def _models(part: dict[str, Any]) -> list[str]:
    """Return the media types of a body or an answer, with links to their schemas."""
    parts: list[str] = []
    for media, content in part.get("content", {}).items():
        parts.append(f" {media} ")
        for name in re.findall(r'#/components/schemas/(\w+)"', json.dumps(content)):
            parts += [tag("a", name, href=f"#{name}"), " "]
    return parts


def _table(rows: Iterable[tuple[str, str]]) -> Html:
    return tag("table", *(tag("tr", tag("th", name), tag("td", text)) for name, text in rows))


def _schema(schema: dict[str, Any]) -> Html:
    return tag("details", tag("summary", "schema"), tag("pre", json.dumps(schema, indent=1)))
