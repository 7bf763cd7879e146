"""JSON responses and ETags."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from driftanchor.core import record

_encode = json.JSONEncoder(allow_nan=False).encode


def json_response(
    data: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response of strict JSON."""
    return Response(json_text(data), status, headers, "application/json")


def json_text(data: object) -> str:
    """Return strict JSON: infinity becomes text, and NaN becomes null."""
    try:
        return _encode(data)
    except ValueError:
        return _encode(_finite(data))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(x) for x in value]
    return record.encode(value) if isinstance(value, float) and not math.isfinite(value) else value


def tag_of(body: bytes) -> str:
    """Return the ETag of a body.

    Example:
        >>> tag_of(b"a")
        '"1ba3c523e770f3313cc91ab1"'
    """
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def is_known(tag: str, header: str | None) -> bool:
    """Return whether an `If-None-Match` header contains a tag.

    Example:
        >>> [is_known('"a"', x) for x in ('"b", W/"a"', "*", '"b"', None)]
        [True, True, False, False]
    """
    known = [x.strip().removeprefix("W/") for x in (header or "").split(",")]
    return tag in known or "*" in known
