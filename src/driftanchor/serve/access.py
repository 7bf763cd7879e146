"""Access control: checks the key of each request."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from fastapi import Depends, Request, Response
from fastapi.openapi.models import HTTPBearer
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase

from driftanchor.live.stores.access_keys import ROLES, KeyRow, digest, id_of, is_same
from driftanchor.live.stores.store import Store
from driftanchor.serve.known_keys import KnownKeys
from driftanchor.serve.loopback import caller_of, is_forwarded, is_local, names_server
from driftanchor.serve.problem import Problem
from driftanchor.serve.rates import Rates, retry_after

NOBODY = KeyRow("", "0" * 64, "", 0.0)  # compared with where there is no key, which takes as long
# Requests without a key that works, by address. Nobody can guess a key at any rate; this is for
# programs that ask on and on with a wrong one.
WRONG_RATE, WRONG_BURST = 50.0, 1_000.0
SCHEME = "key"  # what the OpenAPI document calls it
SHARED = "driftanchor.shared"  # scope entry: whether the key belongs to a share link
ASK_FOR_KEY = {"WWW-Authenticate": 'Bearer realm="driftanchor"'}


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
        self._known = KnownKeys(store, ticks)
        self._wrong = Rates(WRONG_RATE, WRONG_BURST, ticks)
        self._rates = None if rate is None else Rates(rate, max(1.0, 2.0 * rate), ticks)

    async def admit(self, scope: Any, role: str, campaign: str | None = None) -> KeyRow | None:
        """Authorize a request and return its key; `None` if the server needs none.

        Args:
            scope: The request.
            role: The required role.
            campaign: The campaign, for routes that share links may read; `None` for others.

        Raises:
            Problem: 401 without a valid key, 403 without the role or for another campaign, 429 if
                requests are too frequent.
        """
        rows = await self._known.rows()
        if not rows and not self.required:
            _check_local(scope)
            self._count(caller_of(scope))
            return None
        given = key_in(scope["headers"])
        if given is None:
            raise self._refused(scope, "key_missing", "send a key as 'Authorization: Bearer KEY'")
        row = rows.get(id_of(given) or "", NOBODY)
        is_active = row.state(self._clock()) == "active"
        if not (is_same(digest(given), row) and is_active):
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
        return Problem(401, code, detail, headers=ASK_FOR_KEY) if not wait else _too_often(wait)

    def _count(self, caller: str) -> None:
        wait = 0.0 if self._rates is None else self._rates.wait(caller)
        if wait:
            raise _too_often(wait)


def _too_often(wait: float) -> Problem:
    headers = {"Retry-After": retry_after(wait)}
    return Problem(429, "too_many_requests", "too many requests: wait", headers=headers)


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The key that a request brings; `None` if it brings none, or several that differ."""
    found: set[bytes] = set()
    for name, value in headers:
        if name == b"authorization":
            kind, _, key = value.partition(b" ")
            found.add(key.strip() if kind.lower() == b"bearer" else b"")
        elif name == b"x-api-key":
            found.add(value.strip())
    only = found.pop() if len(found) == 1 else b""
    return only.decode("latin-1") or None


def _check_local(scope: Any) -> None:
    """Reject requests to a keyless server that a proxy or a cross-site page may have sent."""
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


class NeedsRole(SecurityBase):
    """A route dependency that checks a role; OpenAPI shows it as security.

    Args:
        role: The required role.
        shared: Whether share links for the campaign `name` in the path may use the route.
    """

    def __init__(self, role: str, *, shared: bool = False) -> None:
        assert role in ROLES
        self.role, self.shared = role, shared
        self.scheme_name = SCHEME
        self.model = HTTPBearer(
            description="A key from 'driftanchor keys create'. The header X-API-Key works too."
        )

    async def __call__(self, request: Request) -> None:
        """Authorize the request, or raise a `Problem`."""
        campaign = request.path_params["name"] if self.shared else None
        row = await request.app.state.served.access.admit(request.scope, self.role, campaign)
        request.scope[SHARED] = row is not None and row.campaign is not None


def needs(role: str, *, shared: bool = False) -> Any:
    """Return the route dependency for a role; see `NeedsRole`."""
    return Depends(NeedsRole(role, shared=shared))


class KeyedRoute(APIRoute):
    """A route that lets a request in before anything else is done, which is the quickest too.

    FastAPI would look for what each dependency depends on, for every request.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        given = options.pop("dependencies", None) or []
        found = [x.dependency for x in given if isinstance(x.dependency, NeedsRole)]
        self.guard: NeedsRole | None = found[0] if found else None
        extra = dict(options.pop("openapi_extra", None) or {})
        if self.guard is not None:
            extra["security"] = [{SCHEME: []}]
        others = [x for x in given if not isinstance(x.dependency, NeedsRole)]
        super().__init__(path, endpoint, dependencies=others, openapi_extra=extra, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request that is let in."""
        answer, guard = super().get_route_handler(), self.guard
        if guard is None:
            return answer

        async def guarded(request: Request) -> Response:
            await guard(request)
            return await answer(request)

        return guarded
