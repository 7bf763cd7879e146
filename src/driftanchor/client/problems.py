"""Problems: what a server refused, as the errors that `Campaign` raises."""

from __future__ import annotations

import json
from typing import Any

from driftanchor.errors import (
    CampaignPaused,
    Conflict,
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
    "idempotency_key_reused": KeyReused,
    "reward_conflict": OtherReward,
}


def problem_of(status: int, body: bytes) -> DriftanchorError:
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
    """The error for a problem.

    Example:
        >>> error_of(404, {"detail": "there is no campaign 'checkout'"})
        NotFound("there is no campaign 'checkout'")
    """
    detail = problem.get("detail")
    said = excerpt(detail) if isinstance(detail, str) and detail else f"the server says {status}"
    code = problem.get("code")
    if status in (401, 403):
        return InvalidInput(f"is not accepted by the server: {said}", argument="key")
    if status == 404:
        return NotFound(said)
    if status == 409:
        return CONFLICTS.get(code if isinstance(code, str) else "", Conflict)(said)
    if status in AGAIN:
        return StoreUnavailable(said)
    if 400 <= status < 500:
        return InvalidInput(said)
    return DriftanchorError(f"the server cannot answer ({status}): {said}")
