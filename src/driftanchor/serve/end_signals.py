"""The signals that end a server."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def end_signals(handler: Callable[..., Any]) -> Iterator[None]:
    """Let `handler` take Ctrl-C and the wish to end; only the main thread may ask for it."""
    before = {number: signal.signal(number, handler) for number in NUMBERS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
