"""Problems: turns a server's error responses into the errors that `Campaign` raises."""

from __future__ import annotations

import json
from typing import Any

from driftanchor.errors import (
    CampaignPaused,
    Conflict,
    DefaultPlayed,
    DriftanchorError,
    InvalidInput,
    KeyReused,
    NotFound,
    OtherReward,
    StoreUnavailable,
    excerpt,
)

AGAIN = (429, 502, 503, 504)  # the same request may work in a moment
CONFLICTS = {
    "campaign_paused": CampaignPaused,
    "default_played": DefaultPlayed,
    "idempotency_key_reused": KeyReused,
    "reward_conflict": OtherReward,
}


def error_of_answer(status: int, body: bytes) -> DriftanchorError:
    """The error for an answer that is no success.

    Args:
        status: The code of the answer.
        body: Its content: a problem as RFC 9457 describes it, or whatever a proxy wrote.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    return error_of(status, found if isinstance(found, dict) else {})


def error_of(status: int, problem: dict[str, Any]) -> DriftanchorError:
    """Return the exception for a problem response.

    Example:
        >>> error_of(404, {"code": "not_found", "detail": "there is no such campaign"})
        NotFound('there is no such campaign')
    """
    detail, code = problem.get("detail"), problem.get("code")
    if not isinstance(detail, str) or not isinstance(code, str):  # from a proxy or other server
        return StoreUnavailable(
            f"the answer {status} is not from driftanchor: check that the address is right "
            "and the server is running"
        )
    said = excerpt(detail)
    if code == "key_missing":
        return InvalidInput("the server needs a key: da.Client(url, key=…)")
    if status in (401, 403):
        return InvalidInput(f"is not accepted by the server: {said}", argument="key")
    if status == 404:
        return NotFound(said)
    if status == 409 or code in CONFLICTS:
        return CONFLICTS.get(code, Conflict)(said)
    if status in AGAIN:
        return StoreUnavailable(said)
    if 400 <= status < 500:
        return InvalidInput(said)
    return DriftanchorError(f"the server cannot answer ({status}): {said}")
