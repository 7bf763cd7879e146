"""Who may use which route: every route of the app, with every kind of key."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock
from route_rules import OPEN, ROLE_OF, UNDOCUMENTED
from served_app import App

from driftanchor.live.stores import access_keys
from driftanchor.live.stores.access_keys import ROLES, make_key
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql
from driftanchor.serve import access
from driftanchor.serve.access import Access, NeedsRole, key_in
from driftanchor.serve.problem import Problem


@pytest.fixture(scope="module")
def keys(app: App) -> dict[str, str]:
    """A key for each role, one for two roles, and those that do not work."""
    now, store = app.clock.now, app.served.store
    made: dict[str, str] = {}
    for name, roles in {**{role: [role] for role in ROLES}, "two": ["decide", "reward"]}.items():
        made[name], row = make_key(roles, now=now)
        store.add_key(row)
    made["revoked"], row = make_key(ROLES, now=now)
    store.add_key(row)
    store.revoke_key(row.id, now)
    made["expired"], row = make_key(ROLES, now=now - 10, expires_at=now)
    store.add_key(row)
    made["unknown"] = make_key(ROLES, now=now)[0]
    made["another end"] = made["admin"][:-1] + ("0" if made["admin"][-1] != "0" else "1")
    made["no key"] = "secret"
    return made


def routes(router: Any) -> dict[tuple[str, str], str | None]:
    """Every method and path of an app, with the role it asks for."""
    found: dict[tuple[str, str], str | None] = {}
    for route in [*router.routes, *getattr(router, "_low_priority_routes", ())]:
        if hasattr(route, "original_router"):  # one that was included
            found |= routes(route.original_router)
            continue
        needed = [getattr(route, "guard", None)]  # of a `KeyedRoute`; others have dependencies
        needed += [x.dependency for x in getattr(route, "dependencies", ())]
        roles = [x.role for x in needed if isinstance(x, NeedsRole)]
        for method in getattr(route, "methods", None) or {"MOUNTED"}:
            found[method, route.path] = roles[0] if roles else None
    return found


def test_every_route_has_a_rule(app: App) -> None:
    found = routes(app.http.app.router)  # type: ignore[attr-defined]
    assert {place: role for place, role in found.items() if role is not None} == ROLE_OF
    assert {place for place, role in found.items() if role is None} == OPEN


def test_the_document_says_which_routes_need_a_key(app: App) -> None:
    paths = app.http.get("/openapi.json").json()["paths"]
    secured = {
        (method.upper(), path)
        for path, methods in paths.items()
        for method, said in methods.items()
        if said.get("security") == [{"key": []}]
    }
    assert secured == {place for place in ROLE_OF if not place[1].startswith(UNDOCUMENTED)}


def asked(app: App, place: tuple[str, str], key: str | None, header: str = "bearer") -> Any:
    """A request to a route, with a body that is wrong, so that nothing happens if it gets in."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    if header == "x-api-key":
        headers = {"X-API-Key": str(key)}
    path = re.sub(r"{\w+}", "nobodys", place[1])
    return app.http.request(place[0], path, headers=headers, content=b"{")


@pytest.mark.parametrize("place", ROLE_OF, ids=" ".join)
def test_who_gets_in(app: App, keys: dict[str, str], place: tuple[str, str]) -> None:
    needed = ROLE_OF[place]
    for name, key in {"none": None, **keys}.items():
        answer = asked(app, place, key)
        allowed = {needed, "admin", *(["two"] if needed in ("decide", "reward") else [])}
        if name in allowed:
            assert answer.status_code not in (401, 403), (name, answer.text)
            continue
        is_known = name in (*ROLES, "two")
        assert answer.status_code == (403 if is_known else 401), name
        assert answer.headers["content-type"] == "application/problem+json"
        assert ("www-authenticate" in answer.headers) == (not is_known)
        assert "secret" not in answer.text
        assert str(key) not in answer.text
    assert asked(app, place, keys[needed], "x-api-key").status_code not in (401, 403)
    assert asked(app, place, keys["unknown"], "x-api-key").status_code == 401


def test_anybody_may_see_that_the_server_runs(app: App, keys: dict[str, str]) -> None:
    for place in OPEN:
        for key in (None, keys["unknown"]):
            assert asked(app, place, key).status_code in (200, 404), place


def test_keys_that_do_not_work_are_all_answered_alike(app: App, keys: dict[str, str]) -> None:
    names = ("unknown", "revoked", "expired", "another end", "no key")
    answers = [asked(app, ("GET", "/v1/campaigns"), keys[name]) for name in names]
    assert len({answer.text for answer in answers}) == 1
    assert answers[0].json()["code"] == "key_refused"
    assert asked(app, ("GET", "/v1/campaigns"), None).json()["code"] == "key_missing"


def test_every_key_costs_one_hash_and_one_comparison(
    app: App, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def watched(name: str, owner: object = access) -> None:
        real = getattr(owner, name)

        def call(*args: Any) -> Any:
            done.append(name)
            return real(*args)

        monkeypatch.setattr(owner, name, call)

    watched("digest")
    watched("is_same")
    watched("state", access_keys.KeyRow)
    for name in keys:
        done.clear()
        asked(app, ("GET", "/v1/campaigns"), keys[name])
        assert sorted(done) == ["digest", "is_same", "state"], name


def test_a_key_is_in_no_log_and_no_metric(app: App, keys: dict[str, str]) -> None:
    for key in keys.values():
        for header in ("bearer", "x-api-key"):
            asked(app, ("POST", "/v1/campaigns/{name}/decisions"), key, header)
        app.http.get(f"/v1/campaigns/{key}", headers={"Authorization": f"Bearer {keys['read']}"})
        app.http.get(f"/{key}?key={key}", headers={"Authorization": f"Basic {key}"})
    shown = app.http.get("/metrics", headers={"X-API-Key": keys["read"]}).text
    app.served.log.close()
    assert app.log.getvalue().count("\n") > len(keys)
    for key in keys.values():
        assert key[-40:] not in shown
        assert key[-40:] not in app.log.getvalue()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], None),
        ([(b"authorization", b"Bearer a")], "a"),
        ([(b"authorization", b"bearer  a ")], "a"),
        ([(b"x-api-key", b"a")], "a"),
        ([(b"x-api-key", b"a"), (b"authorization", b"Bearer a")], "a"),
        ([(b"x-api-key", b"a"), (b"authorization", b"Bearer b")], None),
        ([(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")], None),
        ([(b"authorization", b"Basic a")], None),
        ([(b"authorization", b"Basic a"), (b"x-api-key", b"a")], None),
        ([(b"authorization", b"a")], None),
        ([(b"authorization", b"Bearer")], None),
        ([(b"authorization", b"Bearer \xff")], "ÿ"),
        ([(b"cookie", b"key=a"), (b"x-api-keys", b"a")], None),
    ],
)
def test_where_a_key_is_found(headers: list[tuple[bytes, bytes]], expected: str | None) -> None:
    assert key_in(headers) == expected


LOCAL = [(b"host", b"127.0.0.1:8484")]


def tried(
    access: Access, *headers: tuple[bytes, bytes], client: str = "192.0.2.7", role: str = "read"
) -> int:
    """The status that a request gets: 200 if it is let in."""
    scope = {"headers": list(headers), "client": (client, 5), "server": ("127.0.0.1", 8484)}
    try:
        asyncio.run(access.admit(scope, role))
    except Problem as problem:
        says_when = "Retry-After" in problem.headers
        return problem.status if says_when == (problem.status == 429) else -1
    return 200


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    opened = open_sql(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


def test_without_keys_this_machine_alone_gets_in(store: SqlStore) -> None:
    ticks = Clock(5.0)
    access = Access(store, required=False, ticks=ticks)
    assert tried(access, *LOCAL, role="admin") == 200
    assert tried(access, (b"host", b"evil.example")) == 403
    assert tried(access, *LOCAL, (b"origin", b"https://evil.example")) == 403
    assert tried(access, *LOCAL, (b"origin", b"null")) == 403
    assert tried(access, *LOCAL, (b"origin", b"http://127.0.0.1:8484")) == 200
    assert tried(Access(store, required=True), *LOCAL) == 401
    key, row = make_key(["read"], now=5.0)
    store.add_key(row)
    ticks.now += 60.0
    assert tried(access, *LOCAL) == 401
    given = (b"authorization", f"Bearer {key}".encode())
    assert tried(access, given, (b"host", b"shop.example")) == 200
    store.revoke_key(row.id, 6.0)
    ticks.now += 60.0
    assert (tried(access, given), tried(access, *LOCAL)) == (401, 401)  # it stays closed


def test_whoever_tries_many_wrong_keys_has_to_wait(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftanchor.serve.access.WRONG_RATE", 5.0)
    monkeypatch.setattr("driftanchor.serve.access.WRONG_BURST", 50.0)
    ticks = Clock(5.0)
    access = Access(store, required=True, ticks=ticks)
    key, row = make_key(["read"], now=5.0)
    store.add_key(row)
    wrong = (b"x-api-key", make_key(["read"], now=5.0)[0].encode())
    first = [tried(access, wrong) for _ in range(60)]
    assert (first[0], first[-1], first.count(401)) == (401, 429, 50)
    assert tried(access, wrong, client="192.0.2.8") == 401
    assert tried(access, (b"x-api-key", key.encode())) == 200  # whose key works does not wait
    ticks.now += 1.0
    assert [tried(access, wrong) for _ in range(6)] == [401] * 5 + [429]


def test_a_key_has_a_rate_of_its_own(store: SqlStore) -> None:
    ticks = Clock(5.0)
    access = Access(store, required=False, rate=2.0, ticks=ticks)
    open_to = [tried(access, *LOCAL, client=name) for name in ("127.0.0.1", "::1") for _ in "12345"]
    assert open_to == [*[200] * 4, 429] * 2
    headers = []
    for _ in range(2):
        key, row = make_key(["read"], now=5.0)
        store.add_key(row)
        headers.append((b"x-api-key", key.encode()))
    ticks.now += 60.0
    assert [tried(access, headers[0]) for _ in range(5)] == [*[200] * 4, 429]
    assert tried(access, headers[1]) == 200
    ticks.now += 0.5
    assert [tried(access, headers[0], role="admin") for _ in range(2)] == [403, 429]
