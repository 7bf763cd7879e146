"""Strict JSON answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from fastapi import Response
from pydantic_core import to_json

from driftanchor.core import record
from driftanchor.serve.answer import Fields, WholeAnswer


def json_response(
    data: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """An answer of strict JSON."""
    return Response(json_text(data), status, headers, "application/json")


def finite_answer(data: Mapping[str, Any], status: int = 200, headers: Fields = ()) -> WholeAnswer:
    """An answer of strict JSON whose numbers are all finite, which is quicker to write."""
    return WholeAnswer(status, to_json(data), headers=headers)


def json_text(data: object) -> str:
    """Strict JSON: infinity becomes text, and NaN becomes null."""
    try:
        return json.dumps(data, allow_nan=False)
    except ValueError:
        return json.dumps(_strict(data), allow_nan=False)


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _strict(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(x) for x in value]
    return record.encode(value) if isinstance(value, float) and not math.isfinite(value) else value
