"""Answers: what a server sent, as the objects that `Campaign` gives."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from driftanchor.client.problems import error_of
from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.decision import Decision, Receipt

T = TypeVar("T", Decision, Receipt)
STATUS = {  # that a single request would have, by the code of the problem
    "not_found": 404,
    "reward_conflict": 409,
    "conflict": 409,
    "overloaded": 503,
    "store_unavailable": 503,
}


def decision_of(data: Any) -> Decision:
    """A decision."""
    return _made(Decision, data)


def receipt_of(data: Any) -> Receipt:
    """A receipt.

    Example:
        >>> sent = {"decision_id": "9f1c", "status": "recorded", "arm": "A", "reward": 1.0}
        >>> receipt_of({**sent, "kind": "driftanchor/receipt", "version": 1})
        Receipt(decision_id='9f1c', status='recorded', arm='A', reward=1.0)
    """
    return _made(Receipt, data)


def outcome_of(data: Any) -> Receipt | Exception:
    """What became of one of many rewards: its receipt, or the error that `tell` would raise."""
    if isinstance(data, dict) and data.get("status") == "refused":
        return error_of(STATUS.get(str(data.get("code")), 422), data)
    return receipt_of(data)


def list_in(data: Any, name: str) -> list[Any]:
    """A list that is a member of an answer."""
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise foreign(name)
    return found


def foreign(what: str) -> StoreUnavailable:
    """The error for an answer that is not what this version knows."""
    return StoreUnavailable(
        f"the server's answer has no usable {what}: look whether the address is that of "
        "driftanchor, and its version that of the client"
    )


def _made(kind: type[T], data: Any) -> T:
    """An object from the members it has; members that a newer server adds do not matter."""
    names = [field.name for field in fields(kind)]
    try:
        return kind(**{name: data[name] for name in names if name in data})
    except (TypeError, KeyError):
        raise foreign(kind.__name__.lower()) from None
