"""The log: one JSON line on stderr for each request and other event.

A line contains the route, not the URL, so decision ids, units and keys are never logged.
"""

from __future__ import annotations

import functools
import json
import logging
import queue
import sys
import threading
import time
import traceback
from typing import Any, NamedTuple, TextIO

from driftanchor.errors import DriftanchorError, excerpt

MOST_LINES = 10_000  # that wait to be written; what comes then is dropped and counted
MOST_KINDS = 256  # of requests whose texts are kept
GATHERING = 0.02  # seconds in which lines are gathered before they are written together


class _Request(NamedTuple):
    """A request that was answered."""

    at: float
    request_id: str
    method: str
    route: str
    status: int
    seconds: float


class Log:
    """Writes log lines in a background thread, so that a slow reader blocks no request.

    That thread also formats the lines, because formatting many at once is faster.

    Args:
        stream: The output stream; by default stderr.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lines: queue.SimpleQueue[str | _Request | None] = queue.SimpleQueue()
        self._dropped = 0
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def request(
        self, request_id: str, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Log a request."""
        self._add(_Request(time.time(), request_id, method, route, status, seconds))

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        """Log an event."""
        line = {"time": _now(), "level": level, "event": event, **fields}
        self._add(json.dumps(line, default=str) + "\n")

    def failure(self, request_id: str, error: BaseException) -> None:
        """Log why a request failed, with a stack trace if the error was unexpected."""
        self.event("failure", "error", request_id=request_id, **said_by(error))

    def close(self) -> None:
        """Flush the queue."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._lines.put(None)
            thread.join(timeout=5)

    def _add(self, line: str | _Request) -> None:
        if self._lines.qsize() >= MOST_LINES:
            self._dropped += 1
            return
        self._lines.put(line)
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=self._run, name="driftanchor-log", daemon=True
                    )
                    self._thread.start()

    def _run(self) -> None:
        while True:
            lines = [self._lines.get()]
            if lines[0] is not None:
                time.sleep(GATHERING)
            lines += [self._lines.get() for _ in range(self._lines.qsize())]
            self._write("".join([_text(line) for line in lines if line is not None]))
            if None in lines:
                return

    def _write(self, text: str) -> None:
        dropped, self._dropped = self._dropped, 0
        if dropped:
            text += json.dumps({"time": _now(), "event": "dropped", "lines": dropped}) + "\n"
        stream = self._stream or sys.stderr
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):  # the reader is gone; requests are unaffected
            return


class LogHandler(logging.Handler):
    """Forwards warnings and errors that libraries log to our log.

    Args:
        log: Our log.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record of Python's logging, with its exception."""
        error = record.exc_info[1] if record.exc_info else None
        more = {} if error is None else said_by(error)
        text = excerpt(record.getMessage().strip())
        self._log.event("library", record.levelname.lower(), logger=record.name, text=text, **more)


def said_by(error: BaseException) -> dict[str, Any]:
    """Return the type and message of an error, and its trace if it was unexpected."""
    found: dict[str, Any] = {"error": type(error).__name__, "message": excerpt(str(error))}
    if not isinstance(error, DriftanchorError):
        places = traceback.extract_tb(error.__traceback__)
        found["trace"] = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
    return found


def _text(line: str | _Request) -> str:
    """A line as it is written."""
    if isinstance(line, str):
        return line
    at, request_id, method, route, status, seconds = line
    level = "info" if status < 500 else "error"
    return (
        f'{{"time":"{_moment(at)}","level":"{level}","event":"request","request_id":"{request_id}",'
        f'{_kind(method, route)},"status":{status},"ms":{seconds * 1e3:.2f}}}\n'
    )


@functools.lru_cache(maxsize=MOST_KINDS)
def _kind(method: str, route: str) -> str:
    """What many lines have in common."""
    return f'"method":{json.dumps(method)},"route":{json.dumps(route)}'


def _now() -> str:
    return _moment(time.time())


def _moment(at: float) -> str:
    return f"{_whole(int(at))}.{int(at % 1 * 1000):03d}Z"


@functools.lru_cache(maxsize=2)
def _whole(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
