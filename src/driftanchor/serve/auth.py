"""Access control: checks the key and the rate of each request."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from driftanchor.errors import StoreUnavailable
from driftanchor.live.stores.access_keys import KeyRow, digest, id_of, is_same
from driftanchor.live.stores.store import Store
from driftanchor.serve.loopback import caller_of, is_forwarded, is_local, names_server
from driftanchor.serve.problem import Problem

NOBODY = KeyRow("", "0" * 64, "", 0.0)  # compared if the key is unknown, to take the same time
# The limit for requests without a valid key, for each address. It stops programs that keep sending
# a wrong key; no limit is needed against guessing, which is hopeless.
WRONG_RATE, WRONG_BURST = 50.0, 1_000.0
ASK_FOR_KEY = {"WWW-Authenticate": 'Bearer realm="driftanchor"'}
MAX_CALLERS = 10_000  # callers with a stored rate
REREAD = 0.5  # seconds after which keys are read again
MAX_AGE = 1.0  # seconds after which requests wait for the keys to be read
MAX_WAIT = 2.0  # seconds to wait for a store that hangs


class Access:
    """Authorizes requests by their keys.

    A store that never had a key needs none if the server is reachable only from this machine.
    Revoking the last key does not reopen the server.

    Args:
        store: The store with the keys.
        required: Whether a key is needed even if the store has none, because other machines can
            reach the server.
        rate: Maximum requests per second and process for each key, or for each address if no key
            is needed; `None` for no limit.
        clock: Returns the time, in seconds since 1970.
        ticks: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        store: Store,
        *,
        required: bool,
        rate: float | None = None,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.required = required
        self._clock = clock
        self._keys = KnownKeys(store, ticks)
        self._wrong = Rates(WRONG_RATE, WRONG_BURST, ticks)
        self._rates = None if rate is None else Rates(rate, max(1.0, 2.0 * rate), ticks)

    async def admit(self, scope: Any, role: str, campaign: str | None = None) -> KeyRow | None:
        """Authorize a request and return its key; `None` if the server needs none.

        Args:
            scope: The request.
            role: The required role.
            campaign: The campaign of the route, if the key of a share link for it may use the
                route; `None` otherwise.

        Raises:
            Problem: 401 without a valid key, 403 without the role or for another campaign, 429 if
                requests are too frequent.
        """
        rows = await self._keys.rows()
        if not rows and not self.required:
            _check_local(scope)
            self._count(caller_of(scope))
            return None
        key = key_in(scope["headers"])
        if key is None:
            raise self._refused(scope, "key_missing", "send a key as 'Authorization: Bearer KEY'")
        row = rows.get(id_of(key) or "", NOBODY)
        is_active = row.state(self._clock()) == "active"
        if not (is_same(digest(key), row) and is_active):
            raise self._refused(scope, "key_refused", "this key is unknown, expired or revoked")
        self._count(row.id)
        if not row.allows(role):
            raise Problem(403, "role_missing", f"this needs a key with the role {role!r}")
        if row.campaign is not None and row.campaign != campaign:
            raise Problem(
                403,
                "one_campaign",
                "this key reads the summary of one campaign only: no other campaign, no events, "
                "decisions or units",
            )
        return row

    def _refused(self, scope: Any, code: str, detail: str) -> Problem:
        """Return the problem for an invalid key: 401, or 429 after too many from one address."""
        wait = self._wrong.wait(caller_of(scope))
        return _too_often(wait) if wait else Problem(401, code, detail, headers=ASK_FOR_KEY)

    def _count(self, caller: str) -> None:
        wait = 0.0 if self._rates is None else self._rates.wait(caller)
        if wait:
            raise _too_often(wait)


def _too_often(wait: float) -> Problem:
    headers = {"Retry-After": str(max(1, math.ceil(wait)))}
    return Problem(429, "too_many_requests", "too many requests: wait", headers=headers)


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the key of a request; `None` if it has none, or several that differ."""
    keys: set[bytes] = set()
    for name, value in headers:
        if name == b"authorization":
            kind, _, key = value.partition(b" ")
            keys.add(key.strip() if kind.lower() == b"bearer" else b"")
        elif name == b"x-api-key":
            keys.add(value.strip())
    only = keys.pop() if len(keys) == 1 else b""
    return only.decode("latin-1") or None


def _check_local(scope: Any) -> None:
    """Refuse requests to a keyless server that a proxy or a cross-site page may have sent."""
    hosts = []
    for name, value in scope["headers"]:
        if is_forwarded(name):
            raise Problem(
                403,
                "forwarded",
                "without keys the server rejects requests forwarded by a proxy: create a key "
                "with 'driftanchor keys create'",
            )
        if name == b"host":
            hosts.append(value)
        elif name == b"origin" and not is_local(value):
            raise _not_local()
    server = scope.get("server")
    if server is None or len(hosts) != 1 or not names_server(hosts[0], *server):
        raise _not_local()


def _not_local() -> Problem:
    return Problem(
        403,
        "not_local",
        "without keys the server answers only this machine, under the address and port it listens "
        "on or localhost: create a key with 'driftanchor keys create'",
    )


class KnownKeys:
    """A cache of the keys in a store.

    While requests come, the keys are read twice a second in the background. After a pause the
    first request waits for them. While the store is unavailable, known keys stay valid: without
    the store there is nothing to decide and nothing to record.

    Args:
        store: The store.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._rows: dict[str, KeyRow] | None = None
        self._counts: object = None  # changes when a key is made or revoked
        self._read_at = 0.0
        self._reading: asyncio.Task[None] | None = None

    async def rows(self) -> Mapping[str, KeyRow]:
        """Return all keys by their ids, at most a second old.

        Raises:
            StoreUnavailable: The store is unavailable, and was never read before.
        """
        age = self._clock() - self._read_at
        if self._rows is not None and age < REREAD:
            return self._rows
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        if self._rows is None or age >= MAX_AGE:
            done, _ = await asyncio.wait([self._reading], timeout=MAX_WAIT)
            for task in done:
                task.result()
        if self._rows is None:
            raise StoreUnavailable("the store does not answer")
        return self._rows

    async def _read(self) -> None:
        try:
            begun = self._clock()
            await asyncio.to_thread(self._read_store)
            self._read_at = begun
        except StoreUnavailable:
            if self._rows is None:
                raise
            self._read_at = self._clock()  # retry, but not at once
        finally:
            self._reading = None

    def _read_store(self) -> None:
        """Read the keys if their counts have changed."""
        counts = self._store.key_counts()
        if counts != self._counts:
            rows = self._store.keys()
            self._rows = {row.id: row for row in rows}
            self._counts = counts


class Rates:
    """Limits the rate of each caller, with one number per caller.

    The number is the time by which the allowed rate has covered all requests of the caller. It may
    be ahead of now by the cost of a burst.

    Args:
        rate: Allowed requests per second, in the long run.
        burst: Requests allowed at once, after a pause.
        clock: A monotonic clock, in seconds.

    Example:
        >>> rates = Rates(rate=2.0, burst=1.0, clock=lambda: 5.0)
        >>> rates.wait("a"), rates.wait("a"), rates.wait("b")
        (0.0, 0.5, 0.0)
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._cost, self._clock = 1.0 / rate, clock
        self._ahead = burst / rate
        self._paid: dict[str, float] = {}

    def wait(self, caller: str) -> float:
        """Count a request and return 0; if it is refused, return the seconds to wait."""
        now = self._clock()
        paid = max(self._paid.get(caller, now), now) + self._cost
        if paid - now > self._ahead + 1e-9:
            return paid - now - self._ahead
        if caller not in self._paid and len(self._paid) >= MAX_CALLERS:
            self._paid = {name: until for name, until in self._paid.items() if until > now}
            while len(self._paid) >= MAX_CALLERS:
                del self._paid[next(iter(self._paid))]
        self._paid[caller] = paid
        return 0.0
