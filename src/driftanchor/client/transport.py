"""Transport: HTTP requests to one server, with kept connections, retries and a deadline."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from driftanchor.errors import (
    CampaignPaused,
    Conflict,
    DefaultPlayed,
    DriftanchorError,
    InvalidInput,
    KeyReused,
    NotFound,
    OtherReward,
    StoreUnavailable,
    excerpt,
    shown,
)

T = TypeVar("T")
MAX_IDLE = 32  # open connections kept for reuse
MAX_BODY = 16 * 2**20  # bytes of a response
MAX_WAITING = 64  # calls of `run_within` that may be unfinished
FIRST_WAIT, MAX_WAIT = 0.05, 5.0  # seconds between two tries
RETRIED = (429, 502, 503, 504)
CLOSED = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)
LOST = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)  # the server was reached
ERRORS: dict[str, type[DriftanchorError]] = {  # by the problem's code
    "campaign_paused": CampaignPaused,
    "conflict": Conflict,
    "default_played": DefaultPlayed,
    "idempotency_key_reused": KeyReused,
    "not_found": NotFound,
    "overloaded": StoreUnavailable,
    "reward_conflict": OtherReward,
    "store_unavailable": StoreUnavailable,
}


@dataclass(frozen=True)
class Response:
    """A response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Requests to one server; thread-safe.

    Requests that get no response, or status 429, 502, 503 or 504, are repeated unchanged. The waits
    double from 50 ms to 5 s, with jitter.

    Args:
        url: The server's address. Its path is put before the path of each request.
        key: The server's key, if it needs one.
        timeout: Seconds before a call fails.
        clock: Returns monotonic seconds.
        sleep: Waits for some seconds.
        jitter: Returns a random number between 0 and 1.

    Example:
        >>> Transport("https://bandit.example.com/decide/").url
        'https://bandit.example.com/decide'
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        timeout: float = 10.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        parts = _split(url)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._prefix = parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{parts.netloc}{self._prefix}"
        self._headers = {"Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {usable_key(key)}"
        self._timeout = timeout
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._free = threading.Semaphore(MAX_WAITING)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        timeout: float | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Send a request until it is answered, and return the parsed JSON.

        Args:
            method: The HTTP method.
            path: The path, such as `"/v1/campaigns"`.
            body: The JSON to send, if any.
            timeout: Seconds for all tries together, if not those of this object.
            idempotency_key: The key that all tries share.

        Raises:
            StoreUnavailable: The server did not answer in time, or its store is unavailable.
            DriftanchorError: The server refused; the error is the one that `Campaign` would raise.
        """
        headers, content = dict(self._headers), None
        if body is not None:
            content = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            if not (idempotency_key.isascii() and idempotency_key.isprintable()):
                raise InvalidInput(
                    f"is sent as a header and takes printable ASCII only, got "
                    f"{shown(idempotency_key)}",
                    argument="key",
                )
            headers["Idempotency-Key"] = idempotency_key
        timeout = self._timeout if timeout is None else timeout
        end, backoff = self._clock() + timeout, FIRST_WAIT
        while True:
            left = end - self._clock()
            retry_after, error = 0.0, StoreUnavailable(self._unanswered(timeout))
            if left > 0:
                try:
                    response = self.exchange(method, path, content, headers, left)
                except (OSError, http.client.HTTPException) as failure:
                    error = StoreUnavailable(self._unanswered(timeout, failure))
                else:
                    if response.status not in RETRIED:
                        return _parsed(response)
                    error = StoreUnavailable(str(response_error(response.status, response.body)))
                    retry_after = _seconds(response.headers.get("retry-after", ""))
            wait = max(retry_after, backoff * (0.5 + 0.5 * self._jitter()))
            if self._clock() + wait >= end:
                raise error
            self._sleep(wait)
            backoff = min(MAX_WAIT, 2.0 * backoff)

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> Response:
        """Send one request and read the response.

        `seconds` limits connecting and each read. If the server closed the idle connection, the
        request is sent again on a new one, so only send requests that can be repeated.
        """
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is not None:
            try:
                return self._send(idle, method, path, body, headers, seconds)
            except CLOSED:
                pass
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        fresh = kind(self._host, self._port, timeout=seconds)
        return self._send(fresh, method, path, body, headers, seconds)

    def run_within(self, seconds: float, work: Callable[[], T]) -> T:
        """Run `work` in a thread, and return its result if it comes in time.

        Socket timeouts bound neither a name lookup nor a server that sends byte by byte. After a
        timeout the thread goes on.

        Raises:
            TimeoutError: There was no result in time, or too many calls are still unfinished.
        """
        if not self._free.acquire(blocking=False):
            raise TimeoutError(f"{MAX_WAITING} requests before this one still wait")
        results: list[T] = []
        errors: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)
            self._free.release()
            done.set()

        threading.Thread(target=run, daemon=True).start()
        if not done.wait(seconds):
            raise TimeoutError(f"no answer within {seconds:g} s")
        if errors:
            raise errors[0]
        return results[0]

    def __del__(self) -> None:
        """Close the idle connections of a client that was not closed."""
        with contextlib.suppress(Exception):
            self.close()

    def close(self) -> None:
        """Close the idle connections; the next request opens a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        seconds: float,
    ) -> Response:
        try:
            if connection.sock is not None:
                connection.sock.settimeout(seconds)
            connection.request(method, self._prefix + path, body, headers)
            raw = connection.getresponse()
            content = raw.read(MAX_BODY + 1)
            if len(content) > MAX_BODY:
                raise http.client.HTTPException(f"the answer has more than {MAX_BODY:,} bytes")
            response = Response(raw.status, {k.lower(): v for k, v in raw.getheaders()}, content)
        except BaseException:  # part of the response may be unread
            connection.close()
            raise
        with self._lock:
            keep = not raw.will_close and len(self._idle) < MAX_IDLE
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()
        return response

    def _unanswered(self, seconds: float, failure: Exception | None = None) -> str:
        server = f"the server at {self.url}"
        if failure is None or isinstance(failure, TimeoutError):
            return f"{server} did not answer within {seconds:g} s"
        reason = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
        if isinstance(failure, LOST) or not isinstance(failure, OSError):
            return f"{server} did not answer within {seconds:g} s ({reason})"
        return f"{server} cannot be reached: {reason}"


def response_error(status: int, body: bytes) -> DriftanchorError:
    """Return the exception for an error response.

    Args:
        status: The status.
        body: A problem in the form of RFC 9457, or something else from a proxy.
    """
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        problem = None
    return problem_error(status, problem if isinstance(problem, dict) else {})


def problem_error(status: int, problem: dict[str, Any]) -> DriftanchorError:
    """Return the exception for a problem object.

    Example:
        >>> problem_error(404, {"code": "not_found", "detail": "there is no such campaign"})
        NotFound('there is no such campaign')
    """
    detail, code = problem.get("detail"), problem.get("code")
    if not isinstance(detail, str) or not isinstance(code, str):
        return StoreUnavailable(
            f"the answer {status} is not from driftanchor: check that the address is right "
            "and the server is running"
        )
    detail = excerpt(detail)
    if code == "key_missing":
        return InvalidInput("the server needs a key: da.Client(url, key=…)")
    if status in (401, 403):
        return InvalidInput(f"is not accepted by the server: {detail}", argument="key")
    if code in ERRORS:
        return ERRORS[code](detail)
    if status == 404:
        return NotFound(detail)
    if status == 409:
        return Conflict(detail)
    if status in RETRIED:
        return StoreUnavailable(detail)
    if 400 <= status < 500:
        return InvalidInput(detail)
    return DriftanchorError(f"the server cannot answer ({status}): {detail}")


def _parsed(response: Response) -> Any:
    if not 200 <= response.status < 300:
        raise response_error(response.status, response.body)
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        raise StoreUnavailable(
            "the server's answer is no JSON: check that the address is that of driftanchor"
        ) from None


def _seconds(text: str) -> float:
    """Parse a Retry-After header; anything but a number counts as 0."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


def _split(url: object) -> urllib.parse.SplitResult:
    """Parse and validate the server's address."""
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
        secret = isinstance(url, str) and "@" in url  # never repeat a password
        raise InvalidInput(
            "must be the address of a server, such as 'http://127.0.0.1:8484', got "
            f"{'one with a user' if secret else shown(url)}",
            argument="url",
        )
    return parts


def usable_key(key: object) -> str:
    """Validate a key without repeating it in the message; strip its newline."""
    text = key.rstrip("\r\n") if isinstance(key, str) else ""
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidInput(
            "must be a key that `driftanchor keys create` printed: letters, digits and signs, "
            "without spaces",
            argument="key",
        )
    return text
