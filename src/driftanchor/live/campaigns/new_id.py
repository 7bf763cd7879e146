"""Ids of decisions: 32 digits that nobody can guess."""

from __future__ import annotations

import os

BYTES = 16  # of an id
MANY = 64  # ids that are drawn together: each call of the system lets other threads go first

_drawn: list[str] = []


def new_id() -> str:
    """An id that was never used before, and reveals nothing about other ids."""
    try:
        return _drawn.pop()
    except IndexError:
        digits = os.urandom(BYTES * MANY).hex()
        size = 2 * BYTES
        first, *others = (digits[i : i + size] for i in range(0, size * MANY, size))
        _drawn.extend(others)
        return first


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)  # they are for the parent
