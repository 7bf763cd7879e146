"""Deadlines for the answers of PostgreSQL.

A server that hangs answers nothing, so its own timeouts do not fire, and its kernel still
acknowledges packets, so those of TCP do not either. psycopg would wait for ever. Here a thread
watches the exchanges under way and shuts down the socket of one that takes too long. The thread
that waits for the answer then gets an error at once.
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
        self._waiting: dict[object, tuple[float, Any]] = {}  # deadlines and connections
        self._wakes = math.inf  # when the thread looks again
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def limit(self, driver: Any, seconds: float) -> Iterator[None]:
        """Give the block so many seconds to get its answers from a connection of psycopg.

        Raises:
            NoAnswer: They took longer, and the connection is of no more use.
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
                    with contextlib.suppress(RuntimeError):  # the process is about to end
                        thread.start()
                        self._thread = thread
                self._changed.notify()

    def _remove(self, exchange: object) -> bool:
        """Forget an exchange; whether it was still waiting."""
        with self._changed:  # so that no socket is shut down after this
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
    """End a connection under the thread that waits for it; that thread closes it."""
    try:
        with socket.fromfd(driver.fileno(), socket.AF_INET, socket.SOCK_STREAM) as same:
            same.shutdown(socket.SHUT_RDWR)
    except Exception:  # it is closed already; psycopg raises an error of its own then
        return


watchdog = Watchdog()
