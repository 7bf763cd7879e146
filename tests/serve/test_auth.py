"""Keys, roles and rates."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock
from route_rules import OPEN, ROLE_OF, SHARED, UNDOCUMENTED
from served_app import App

from driftanchor import StoreUnavailable
from driftanchor.live.stores import access_keys
from driftanchor.live.stores.access_keys import ROLES, KeyRow, make_key
from driftanchor.live.stores.store import Store, open_store
from driftanchor.serve import auth
from driftanchor.serve.app import TABLE
from driftanchor.serve.auth import MAX_AGE, MAX_CALLERS, REREAD, Access, KnownKeys, Rates, key_in
from driftanchor.serve.problem import Problem


@pytest.fixture(scope="module")
def keys(app: App) -> dict[str, str]:
    """A key for each role, one for two roles, and those that do not work."""
    now, store = app.clock.now, app.state.store
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


def test_every_route_has_a_rule() -> None:
    """The roles are written down a second time, so that nobody changes one by accident."""
    roles = {(route.method, route.path): route.role for route in TABLE}
    assert {place: role for place, role in roles.items() if role is not None} == ROLE_OF
    assert {place for place, role in roles.items() if role is None} == OPEN
    assert {route.path for route in TABLE if route.shared} == SHARED
    assert len(roles) == len(TABLE)


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
        kind = "json" if place[1].startswith("/ofrep/") else "problem+json"
        assert answer.headers["content-type"] == f"application/{kind}"
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

    def watched(name: str, owner: object = auth) -> None:
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
    app.state.log.close()
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
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.close()


def test_without_keys_this_machine_alone_gets_in(store: Store) -> None:
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
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftanchor.serve.auth.WRONG_RATE", 5.0)
    monkeypatch.setattr("driftanchor.serve.auth.WRONG_BURST", 50.0)
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


def test_a_key_has_a_rate_of_its_own(store: Store) -> None:
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


class Counted:
    """A store that is asked for its keys, and how often; it can be away."""

    def __init__(self, store: Store) -> None:
        self.store, self.asked, self.reads, self.is_away = store, 0, 0, False
        self.answers = threading.Event()
        self.answers.set()

    def key_counts(self) -> tuple[int, int, float]:
        self.asked += 1
        self.answers.wait()
        if self.is_away:
            raise StoreUnavailable("away")
        return self.store.key_counts()

    def keys(self) -> list[KeyRow]:
        self.reads += 1
        return self.store.keys()


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Counted]:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield Counted(store)
    store.close()


def test_many_requests_share_one_read(counted: Counted) -> None:
    clock = Clock(5.0)
    known = KnownKeys(counted, clock)  # type: ignore[arg-type]
    counted.store.add_key(make_key(["read"], now=1.0)[1])

    async def work() -> None:
        found = await asyncio.gather(*(known.rows() for _ in range(50)))
        assert [len(rows) for rows in found] == [1] * 50
        for _ in range(50):
            clock.now += REREAD / 51
            await known.rows()

    asyncio.run(work())
    assert (counted.asked, counted.reads) == (1, 1)


def test_a_change_is_known_after_a_second_at_most(counted: Counted) -> None:
    clock = Clock(5.0)
    known = KnownKeys(counted, clock)  # type: ignore[arg-type]
    row = make_key(["read"], now=1.0)[1]
    counted.store.add_key(row)

    async def work() -> None:
        assert (await known.rows())[row.id].revoked_at is None
        counted.store.revoke_key(row.id, 6.0)
        clock.now += REREAD  # beside this one they are read again
        assert (await known.rows())[row.id].revoked_at is None
        assert known._reading is not None
        await known._reading
        assert (await known.rows())[row.id].revoked_at == 6.0
        other = make_key(["read"], now=1.0)[1]
        counted.store.add_key(other)
        clock.now += MAX_AGE  # after a pause the first one waits
        assert other.id in await known.rows()
        clock.now += MAX_AGE
        assert other.id in await known.rows()

    asyncio.run(work())
    assert (counted.asked, counted.reads) == (4, 3)  # what did not change is not read


def test_keys_stay_known_while_the_store_is_away(counted: Counted) -> None:
    clock = Clock(5.0)
    known = KnownKeys(counted, clock)  # type: ignore[arg-type]
    counted.is_away = True

    async def work() -> None:
        with pytest.raises(StoreUnavailable):
            await known.rows()
        counted.is_away = False
        assert await known.rows() == {}
        counted.is_away = True
        clock.now += 5.0
        assert await known.rows() == {}
        assert await known.rows() == {}
        assert counted.asked == 3  # it is not asked at once again
        counted.is_away = False
        counted.store.add_key(make_key(["read"], now=1.0)[1])
        clock.now += 5.0
        assert len(await known.rows()) == 1

    asyncio.run(work())


def test_nobody_waits_for_ever_for_a_store_that_hangs(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftanchor.serve.auth.MAX_WAIT", 0.01)
    clock = Clock(5.0)
    known = KnownKeys(counted, clock)  # type: ignore[arg-type]

    async def work() -> None:
        counted.answers.clear()
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await known.rows()
        counted.answers.set()
        assert known._reading is not None
        await known._reading
        assert await known.rows() == {}
        counted.answers.clear()
        clock.now += 5.0
        assert [await known.rows() for _ in range(3)] == [{}] * 3  # as they were known before
        counted.answers.set()

    asyncio.run(work())
    assert counted.asked == 2


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    clock = Clock(5.0)
    kept = Rates(rate=10.0, burst=3.0, clock=clock)
    assert [kept.wait("a") == 0 for _ in range(5)] == [True, True, True, False, False]
    assert abs(kept.wait("a") - 0.1) < 1e-9
    assert kept.wait("b") == 0.0
    clock.now += 0.1
    assert [kept.wait("a") == 0 for _ in range(2)] == [True, False]
    clock.now += 60.0
    assert [kept.wait("a") == 0 for _ in range(4)] == [True, True, True, False]


def test_callers_are_forgotten_before_there_are_too_many() -> None:
    clock = Clock(5.0)
    kept = Rates(rate=1.0, burst=1.0, clock=clock)
    for caller in range(MAX_CALLERS):
        kept.wait(str(caller))
    assert kept.wait("5") > 0
    kept.wait("another")  # takes the place of the first
    assert len(kept._paid) == MAX_CALLERS
    assert (kept.wait("5") > 0, kept.wait("0")) == (True, 0.0)
    clock.now += 60.0
    assert kept.wait("one more") == 0.0
    assert list(kept._paid) == ["one more"]
