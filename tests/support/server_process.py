"""A server in a process of its own, as `driftanchor serve` starts it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class ServerProcess:
    """A server.

    Args:
        words: What follows `driftanchor serve`.
        log: The file of what it writes to stderr.

    Attributes:
        headers: What every request has.
    """

    def __init__(self, *words: str, log: Path) -> None:
        self.log = log
        self.headers = {"Content-Type": "application/json"}
        with log.open("ab") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "driftanchor", "serve", "--json", *words],
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, log.read_text()
        self.said: dict[str, Any] = json.loads(line)
        self.url: str = self.said["url"]

    def connect(self) -> http.client.HTTPConnection:
        """A connection to it."""
        place = urlsplit(self.url)
        return http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = {}
    ) -> tuple[int, Any]:
        """One request on a connection of its own: the status and the JSON of the answer."""
        with contextlib.closing(self.connect()) as connection:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {**self.headers, **headers})
            answer = connection.getresponse()
            found = answer.read()
            is_json = "json" in (answer.getheader("content-type") or "")
            return answer.status, json.loads(found) if is_json else found.decode()

    def end(self, how: int = signal.SIGTERM) -> int:
        """Send a signal and wait: the exit code."""
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        code = self.process.wait(60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


@contextlib.contextmanager
def server_process(*words: str, log: Path) -> Iterator[ServerProcess]:
    """A server that ends with the block."""
    server = ServerProcess(*words, log=log)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL)
