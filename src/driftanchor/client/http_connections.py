"""Connections to one server: kept open, and shared by threads."""

from __future__ import annotations

import http.client
import threading
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass

from driftanchor.errors import InvalidInput, shown

MOST_IDLE = 32  # connections that are kept open while nobody uses them
LARGEST = 16 * 2**20  # bytes of an answer: ours are smaller, and another server may send anything
GONE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


@dataclass(frozen=True)
class Reply:
    """What a server answered.

    Attributes:
        status: The code, such as 200.
        headers: The headers; their names are in lower case.
        body: The content.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpConnections:
    """Connections to the server at an address.

    Args:
        url: Its address, such as `"http://127.0.0.1:8484"`. A path is put before each path asked.

    Example:
        >>> HttpConnections("https://bandit.example.com/decide/").prefix
        '/decide'
    """

    def __init__(self, url: str) -> None:
        parts = _parts(url)
        self.secure = parts.scheme == "https"
        self.host, self.port = parts.hostname or "", parts.port
        self.prefix = parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{parts.netloc}{self.prefix}"
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> Reply:
        """One request and its answer.

        A connection that the server closed while nobody used it is replaced, so a request may
        arrive twice: only send what can be repeated.

        Args:
            method: Such as `"POST"`.
            path: Such as `"/livez"`.
            body: The content, if there is one.
            headers: The headers.
            seconds: How long to wait for the connection, and for each piece of the answer.

        Raises:
            OSError: The server cannot be reached, or is too slow.
            http.client.HTTPException: It answers with something that is not HTTP.
        """
        kept = self._take()
        if kept is not None:
            try:
                return self._on(kept, method, path, body, headers, seconds)
            except GONE:
                pass
        return self._on(self._new(seconds), method, path, body, headers, seconds)

    def close(self) -> None:
        """Close the connections that nobody uses; the next request opens a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _on(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        seconds: float,
    ) -> Reply:
        try:
            if connection.sock is not None:
                connection.sock.settimeout(seconds)
            connection.request(method, self.prefix + path, body, headers)
            found = connection.getresponse()
            content = found.read(LARGEST + 1)
            if len(content) > LARGEST:
                raise http.client.HTTPException(f"the answer has more than {LARGEST:,} bytes")
            answer = Reply(found.status, {k.lower(): v for k, v in found.getheaders()}, content)
        except BaseException:  # half an answer may be left in it
            connection.close()
            raise
        if found.will_close or not self._keep(connection):
            connection.close()
        return answer

    def _take(self) -> http.client.HTTPConnection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _keep(self, connection: http.client.HTTPConnection) -> bool:
        with self._lock:
            if len(self._idle) >= MOST_IDLE:
                return False
            self._idle.append(connection)
            return True

    def _new(self, seconds: float) -> http.client.HTTPConnection:
        if self.secure:
            return http.client.HTTPSConnection(self.host, self.port, timeout=seconds)
        return http.client.HTTPConnection(self.host, self.port, timeout=seconds)


def _parts(url: object) -> urllib.parse.SplitResult:
    """The parts of an address that can be asked."""
    try:
        parts = urllib.parse.urlsplit(url) if isinstance(url, str) else None
        usable = (
            parts is not None
            and parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
            and not (parts.query or parts.fragment or parts.username)
            and parts.geturl().isprintable()
            and " " not in parts.geturl()
        )
    except ValueError:
        usable = False
    if not usable or parts is None:
        secret = isinstance(url, str) and "@" in url  # there may be a password in it
        raise InvalidInput(
            "must be the address of a server, such as 'http://127.0.0.1:8484', got "
            f"{'one with a user' if secret else shown(url)}",
            argument="url",
        )
    return parts
