"""What the OpenAPI document says of the routes of OFREP."""

from __future__ import annotations

from typing import Any

from driftanchor.live.campaigns.asking import LONGEST
from driftanchor.serve.documents import problems

_REQUEST = {
    "type": "object",
    "required": ["context"],
    "properties": {
        "context": {
            "type": "object",
            "description": "Who is asked for; members other than targetingKey are not read.",
            "required": ["targetingKey"],
            "properties": {
                "targetingKey": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": LONGEST,
                    "description": "The unit: printable text.",
                    "examples": ["user-1"],
                }
            },
        }
    },
}
_SUCCESS = {
    "type": "object",
    "required": ["key", "reason", "variant", "metadata"],
    "properties": {
        "key": {"type": "string", "description": "The campaign."},
        "value": {
            "type": ["boolean", "string", "number"],
            "description": "The arm; missing while the campaign is paused.",
        },
        "reason": {"enum": ["SPLIT", "DISABLED"]},
        "variant": {"type": "string", "description": "The label of the arm."},
        "metadata": {
            "type": "object",
            "properties": {
                "decision_id": {"type": "string", "description": "For its reward and exposure."},
                "propensity": {"type": "number", "description": "How likely the arm was."},
                "epoch": {"type": "integer"},
            },
        },
    },
}
_CODES = ["PARSE_ERROR", "TARGETING_KEY_MISSING", "INVALID_CONTEXT", "GENERAL", "FLAG_NOT_FOUND"]


def _failure(*required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [*required, "errorCode", "errorDetails"],
        "properties": {
            "key": {"type": "string"},
            "errorCode": {"enum": _CODES},
            "errorDetails": {"type": "string"},
        },
    }


def _answer(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _refusal(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """An answer of the protocol, or a problem if the body was refused before it was looked at."""
    answer = _answer(description, schema)
    answer["content"] |= problems()[400]["content"]
    return answer


_FLAGS = {
    "type": "object",
    "required": ["flags"],
    "properties": {"flags": {"type": "array", "items": {"anyOf": [_SUCCESS, _failure("key")]}}},
}
_TAG = {"ETag": {"schema": {"type": "string"}, "description": "What the answer is known by."}}
_BODY = {"requestBody": {"content": {"application/json": {"schema": _REQUEST}}, "required": True}}
ONE: dict[str, Any] = {
    "openapi_extra": _BODY,
    "responses": problems()
    | {
        200: _answer("What the unit gets.", _SUCCESS),
        400: _refusal("The request does not say who is asked for.", _failure("key")),
        404: _answer("There is no such campaign.", _failure("key")),
    },
}
ALL: dict[str, Any] = {
    "openapi_extra": {
        **_BODY,
        "parameters": [
            {
                "name": "If-None-Match",
                "in": "header",
                "required": False,
                "schema": {"type": "string"},
                "description": "The ETag of an answer that the client has.",
            }
        ],
    },
    "responses": problems()
    | {
        200: {**_answer("What the unit gets in each campaign.", _FLAGS), "headers": _TAG},
        304: {"description": "The client has this answer already.", "headers": _TAG},
        400: _refusal("The request does not say who is asked for.", _failure()),
    },
}
