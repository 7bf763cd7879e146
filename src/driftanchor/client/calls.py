"""Calls: requests of JSON that are repeated until they are answered or the time is over."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable
from typing import Any, Protocol

from driftanchor.client.http_connections import Reply
from driftanchor.client.problems import AGAIN, error_of_answer
from driftanchor.errors import InvalidInput, StoreUnavailable

LOST = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)  # it was reached
FIRST_WAIT, LONGEST_WAIT = 0.05, 5.0  # seconds between two tries


class Exchanges(Protocol):
    """What sends a request; `HttpConnections` does."""

    url: str

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
    ) -> Reply:
        """One request and its answer."""


class Calls:
    """Requests to a server.

    A request that was not answered, or answered with 429, 502, 503 or 504, is sent again, with the
    same idempotency key. The waits between tries grow by two, up to five seconds, and each is
    shortened at random, so that clients that failed together do not come back together.

    Args:
        exchanges: Sends them.
        key: The key for the server, if it needs one.
        clock: Tells seconds that never go back.
        sleep: Waits for some seconds.
        chance: A random number between 0 and 1.
    """

    def __init__(
        self,
        exchanges: Exchanges,
        key: str | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.exchanges = exchanges
        self._headers = {"Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {usable_key(key)}"
        self._clock, self._sleep, self._chance = clock, sleep, chance

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        seconds: float,
        request_key: str | None = None,
        promised: float | None = None,
    ) -> Any:
        """What the server answers, from JSON.

        Args:
            method: Such as `"POST"`.
            path: Such as `"/v1/campaigns"`.
            body: What to send, if something is to be sent.
            seconds: How long to try.
            request_key: The idempotency key.
            promised: The seconds that a message names, if the caller knows another number.

        Raises:
            StoreUnavailable: The server did not answer in time, or its store is unavailable.
            DriftanchorError: The server refused it; as `Campaign` would raise it.
        """
        headers = dict(self._headers)
        content = None
        if body is not None:
            content = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        if request_key is not None:
            headers["Idempotency-Key"] = request_key
        end, named = self._clock() + seconds, seconds if promised is None else promised
        tries = 0
        while True:
            left = end - self._clock()
            after, error = 0.0, StoreUnavailable(self._unanswered(named))
            if left > 0:
                try:
                    answer = self.exchanges.exchange(method, path, content, headers, left)
                except (OSError, http.client.HTTPException) as failure:
                    error = StoreUnavailable(self._unanswered(named, failure))
                else:
                    if answer.status not in AGAIN:
                        return _content(answer)
                    error = StoreUnavailable(str(error_of_answer(answer.status, answer.body)))
                    after = _after(answer.headers.get("retry-after", ""))
            grown = min(LONGEST_WAIT, FIRST_WAIT * 2.0**tries)
            wait = max(after, grown * (0.5 + 0.5 * self._chance()))
            if self._clock() + wait >= end:
                raise error
            self._sleep(wait)
            tries += 1

    def _unanswered(self, seconds: float, failure: Exception | None = None) -> str:
        """Why there is no answer: nobody is there, or nobody answered in time."""
        server = f"the server at {self.exchanges.url}"
        if failure is None or isinstance(failure, TimeoutError):
            return f"{server} did not answer within {seconds:g} s"
        reason = getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
        if isinstance(failure, LOST) or not isinstance(failure, OSError):
            return f"{server} did not answer within {seconds:g} s ({reason})"
        return f"{server} cannot be reached: {reason}"


def _content(answer: Reply) -> Any:
    if not 200 <= answer.status < 300:
        raise error_of_answer(answer.status, answer.body)
    try:
        return json.loads(answer.body)
    except ValueError:
        raise StoreUnavailable(
            "the server's answer is no JSON: look whether the address is that of driftanchor"
        ) from None


def _after(text: str) -> float:
    """The seconds that a server asks to wait; 0 if it says nothing that is a number."""
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


def usable_key(key: object) -> str:
    """A key that can be sent, without the end of its line; the message does not show it."""
    text = key.rstrip("\r\n") if isinstance(key, str) else ""
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise InvalidInput(
            "must be a key that `driftanchor keys create` printed: letters, digits and signs, "
            "without spaces",
            argument="key",
        )
    return text
