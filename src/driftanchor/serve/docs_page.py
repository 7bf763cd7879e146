"""A page of the OpenAPI document: it needs no script, and nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from driftanchor.render.document import document
from driftanchor.render.markup import Html, join, tag


def page(found: dict[str, Any]) -> str:
    """The page: each route with what it takes and answers, then the schemas."""
    title = f"{found['info']['title']} {found['info']['version']}"
    routes = [
        _route(method, path, route)
        for path, methods in found["paths"].items()
        for method, route in methods.items()
    ]
    parts = [
        join(tag("h3", name, id=name), _schema(schema))
        for name, schema in found["components"]["schemas"].items()
    ]
    programs = tag("p", "For programs: ", tag("a", "openapi.json", href="openapi.json"))
    return document(title, tag("h1", title), programs, *routes, tag("h2", "Schemas"), *parts)


def _route(method: str, path: str, route: dict[str, Any]) -> Html:
    rows: list[tuple[str, str]] = [
        (f"{parameter['in']} {parameter['name']}", parameter.get("description", ""))
        for parameter in route.get("parameters", ())
    ]
    rows += [
        (status, join(answer["description"], *_named(answer)))
        for status, answer in route["responses"].items()
    ]
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    sent = [tag("p", "Body"), _schema(body["schema"])] if body else []
    text = route.get("description") or route.get("summary", "")
    return join(
        tag("h2", tag("code", f"{method.upper()} {path}")), tag("p", text), _table(rows), *sent
    )


def _named(answer: dict[str, Any]) -> list[str]:
    """The media types of an answer, each with the name of its schema."""
    found: list[str] = []
    for media, content in answer.get("content", {}).items():
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        found += [f", {media} ", tag("a", name, href=f"#{name}")]
    return found


def _table(rows: Iterable[tuple[str, str]]) -> Html:
    return tag("table", *(tag("tr", tag("th", name), tag("td", text)) for name, text in rows))


def _schema(schema: dict[str, Any]) -> Html:
    return tag("details", tag("summary", "schema"), tag("pre", json.dumps(schema, indent=1)))
