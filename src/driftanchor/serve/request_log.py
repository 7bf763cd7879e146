"""The log: one JSON line on stderr for each request and other event.

A line contains the route, not the URL, so decision ids, units and keys are never logged.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import sys
import threading
import time
import traceback
from logging.handlers import QueueHandler, QueueListener
from typing import Any, TextIO

from driftanchor.errors import DriftanchorError, excerpt

MAX_BURST = 1_000  # lines that are written together
GATHER = 0.02  # seconds in which lines gather before they are written together
MAX_WAIT = 5.0  # seconds to wait at the end for a slow reader
MAX_LINES = 10_000  # waiting to be written; further ones are dropped and counted


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON: our events, and records of libraries."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields: dict[str, Any] | None = getattr(record, "fields", None)
        if fields is None:
            error = record.exc_info[1] if record.exc_info else None
            fields = {
                "event": "library",
                "logger": record.name,
                "text": excerpt(record.getMessage().strip()),
                **({} if error is None else said_by(error)),
            }
        whole, part = divmod(record.created, 1)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
        line = {"time": f"{moment}.{int(part * 1000):03d}Z", "level": record.levelname.lower()}
        return json.dumps(line | fields, default=str)


class BoundedQueueHandler(QueueHandler):
    """Queues records as they are for the writing thread; drops and counts them if it is full.

    Attributes:
        dropped: How many records were dropped since the last one that was queued.
    """

    dropped = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Leave formatting to the thread that writes."""
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        """Queue a record, after a note about dropped ones."""
        try:
            if self.dropped:
                self.queue.put_nowait(_record("dropped", "warning", {"lines": self.dropped}))
                self.dropped = 0
            self.queue.put_nowait(record)
        except queue.Full:
            self.dropped += 1


class Log:
    """Writes log lines in a background thread, so that a slow reader blocks no request.

    Args:
        stream: The output stream; by default stderr.

    Attributes:
        handler: Takes records of Python's logging.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        lines = self._lines = queue.Queue[Any](MAX_LINES)
        self._writer = _Writer(stream or sys.stderr, lines)
        self._writer.setFormatter(JsonFormatter())
        self.handler = BoundedQueueHandler(lines)
        self.handler.setLevel(logging.WARNING)
        self._listener = _Listener(lines, self._writer)
        self._is_running, self._lock = False, threading.Lock()

    def request(
        self, request_id: str, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Log a request."""
        fields = {
            "request_id": request_id,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1e3, 2),
        }
        self._add("request", "info" if status < 500 else "error", fields)

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        """Log an event."""
        self._add(event, level, fields)

    def failure(self, request_id: str, error: BaseException) -> None:
        """Log why a request failed, with a stack trace if the error was unexpected."""
        self.event("failure", "error", request_id=request_id, **said_by(error))

    def close(self) -> None:
        """Write all lines and end the thread; the next event starts it again."""
        until = time.monotonic() + MAX_WAIT
        while self._lines.full() and time.monotonic() < until:
            time.sleep(0.01)
        with self._lock, contextlib.suppress(queue.Full):  # full: nobody reads the lines
            if self._is_running:
                self._is_running = False
                self._listener.stop()
                self._writer.flush()

    def _add(self, event: str, level: str, fields: dict[str, Any]) -> None:
        if not self._is_running:
            with self._lock:
                if not self._is_running:
                    self._listener.start()
                    self._is_running = True
        self.handler.emit(_record(event, level, fields))


class _Listener(QueueListener):
    """Takes records in bursts, so that the thread seldom competes with the requests."""

    def dequeue(self, block: bool) -> logging.LogRecord:
        """Return the next record; let some gather first if there is none."""
        lines: Any = self.queue
        if block and lines.empty():
            time.sleep(GATHER)
        record: logging.LogRecord = lines.get(block)
        return record


class _Writer(logging.Handler):
    """Writes the lines of a burst at once.

    Args:
        stream: The output stream.
        lines: The queue, which is empty at the end of a burst.
    """

    def __init__(self, stream: TextIO, lines: queue.Queue[Any]) -> None:
        super().__init__()
        self._stream, self._lines = stream, lines
        self._burst: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, now or with the next ones."""
        self._burst.append(self.format(record))
        if self._lines.empty() or len(self._burst) >= MAX_BURST:
            self.flush()

    def flush(self) -> None:
        """Write the burst. A closed stream loses it, but the requests go on."""
        if self._burst:
            text, self._burst = "\n".join(self._burst) + "\n", []
            with contextlib.suppress(OSError, ValueError):
                self._stream.write(text)
                self._stream.flush()


def _record(event: str, level: str, fields: dict[str, Any]) -> logging.LogRecord:
    values = {"levelname": level, "fields": {"event": event, **fields}}
    return logging.makeLogRecord(values)


def said_by(error: BaseException) -> dict[str, Any]:
    """Return the type and message of an error, and its trace if it was unexpected."""
    fields: dict[str, Any] = {"error": type(error).__name__, "message": excerpt(str(error))}
    if not isinstance(error, DriftanchorError):
        places = traceback.extract_tb(error.__traceback__)
        fields["trace"] = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
    return fields
