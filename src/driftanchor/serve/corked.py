"""Corked: what is written in one turn of the event loop goes out in one piece.

An answer comes as its head and its body, and each would be a call of the system.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Corked:
    """A transport that gathers what is written until the event loop goes on.

    Args:
        transport: Where it goes.
        loop: The event loop.
    """

    __slots__ = ("_loop", "_transport", "_waiting")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._waiting: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write something, soon."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)

    def write_now(self, data: bytes) -> None:
        """Write something that is whole, after what waits."""
        self._waiting.append(data)
        self._flush()

    def close(self) -> None:
        """Write what waits, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting and not self._transport.is_closing():
            self._transport.write(waiting[0] if len(waiting) == 1 else b"".join(waiting))
