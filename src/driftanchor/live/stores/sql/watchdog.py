"""Timeouts for PostgreSQL round trips.

In a server that hangs, its own timeouts do not fire, and its kernel still acknowledges packets, so
TCP timeouts do not fire either. psycopg would wait forever. So a thread watches pending round trips
and shuts down the socket of any that takes too long. The waiting thread then gets an error at once.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any


class NoAnswer(Exception):
    """The database did not answer before the deadline."""


class Watchdog:
    """Shuts down connections that wait too long for an answer."""

    def __init__(self) -> None:
        self._start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[object, tuple[float, Any]] = {}  # deadlines, connections
        self._wakes = math.inf  # when the thread wakes up next
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def limit(self, driver: Any, seconds: float) -> Iterator[None]:
        """Limit the time that the block may wait for answers on a psycopg connection.

        Raises:
            NoAnswer: The time limit passed, and the connection is unusable.
        """
        exchange = object()
        try:
            self._add(exchange, time.monotonic() + seconds, driver)
            yield
        except Exception as error:
            if self._remove(exchange):
                raise
            raise NoAnswer(f"no answer within {seconds:g} seconds") from error
        finally:
            self._remove(exchange)

    def _add(self, exchange: object, deadline: float, driver: Any) -> None:
        with self._changed:
            self._waiting[exchange] = (deadline, driver)
            if deadline < self._wakes:
                if self._thread is None:
                    thread = threading.Thread(target=self._run, name="driftanchor-deadline")
                    thread.daemon = True
                    with contextlib.suppress(RuntimeError):  # the process is exiting
                        thread.start()
                        self._thread = thread
                self._changed.notify()

    def _remove(self, exchange: object) -> bool:
        """Remove a round trip; return whether it was still pending."""
        with self._changed:  # under the lock, so that no socket is shut down later
            return self._waiting.pop(exchange, None) is not None

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                late = [x for x, (deadline, _) in self._waiting.items() if deadline <= now]
                for exchange in late:
                    _shut_down(self._waiting.pop(exchange)[1])
                deadlines = [deadline for deadline, _ in self._waiting.values()]
                self._wakes = min(deadlines, default=math.inf)
                self._changed.wait(None if math.isinf(self._wakes) else self._wakes - now)


def _shut_down(driver: Any) -> None:
    """Shut down the socket of a connection; the thread that waits on it closes it."""
    try:
        with socket.fromfd(driver.fileno(), socket.AF_INET, socket.SOCK_STREAM) as same:
            same.shutdown(socket.SHUT_RDWR)
    except Exception:  # already closed; psycopg raises its own error
        return


watchdog = Watchdog()
