"""Reading bodies of requests, strictly: a text is no number, and NaN is none either."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError

from driftanchor.serve.problem import Problem, of_validation

JSON = re.compile(rb"application/(json|[\w.+-]+\+json)\s*(;.*)?", re.IGNORECASE)

Found = Sequence[Any]


class Body(BaseModel):
    """What a client sends: no unknown members, and every value of its own type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


B = TypeVar("B", bound=Body)


Judge = Callable[[Found, type[Body]], Problem]


async def read(request: Request, model: type[B], judge: Judge = of_validation) -> B:
    """The body of a request; see `parsed`."""
    return parsed(request.headers.raw, await request.body(), model, judge)


def parsed(
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes,
    model: type[B],
    judge: Judge = of_validation,
) -> B:
    """What a body says.

    Args:
        headers: The headers that came with it.
        body: The body.
        model: What it must be.
        judge: The answer to a body that is otherwise.

    Raises:
        Problem: It is not JSON, or not as documented.
    """
    kind = next((value for name, value in headers if name == b"content-type"), b"")
    if kind != b"application/json" and JSON.fullmatch(kind) is None:
        raise Problem(415, "not_json", "send the body as application/json")
    try:
        found: B = model.__pydantic_validator__.validate_json(body)
    except ValidationError as error:
        raise judge(found_in(error), model) from None
    return found


def at_most(items: Sequence[Any], most: int, what: str) -> None:
    """Refuse a batch that has more than `most` items.

    Raises:
        Problem: It has more.
    """
    if len(items) > most:
        raise Problem(413, "batch_too_large", f"send at most {most:,} {what} at once")


def found_in(error: ValidationError) -> Found:
    """What is wrong with a body, without the values that were sent."""
    return error.errors(include_url=False, include_input=False, include_context=False)


def takes(model: type[Body]) -> dict[str, Any]:
    """What the OpenAPI document says of a route that reads such a body."""
    schema = model.model_json_schema()
    content = {"application/json": {"schema": _inlined(schema, schema.pop("$defs", {}))}}
    return {"requestBody": {"required": True, "content": content}}


def _inlined(schema: Any, parts: dict[str, Any]) -> Any:
    """A schema with its parts in place: references would have to stand elsewhere."""
    if isinstance(schema, list):
        return [_inlined(x, parts) for x in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {key: _inlined(x, parts) for key, x in schema.items()}
