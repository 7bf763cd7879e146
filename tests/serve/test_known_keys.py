"""Keys are read seldom, and yet a revoked one ends within a second."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_parts import Clock

from driftanchor import StoreUnavailable
from driftanchor.live.stores.access_keys import KeyRow, make_key
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql
from driftanchor.serve.known_keys import OLDEST, YOUNG, KnownKeys


class Counted:
    """A store that is asked for its keys, and how often; it can be away."""

    def __init__(self, store: SqlStore) -> None:
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

    def generation(self) -> int:
        return self.store.generation()


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Counted]:
    store = open_sql(f"sqlite:///{tmp_path / 'store.db'}")
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
            clock.now += YOUNG / 51
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
        clock.now += YOUNG  # beside this one they are read again
        assert (await known.rows())[row.id].revoked_at is None
        assert known._reading is not None
        await known._reading
        assert (await known.rows())[row.id].revoked_at == 6.0
        other = make_key(["read"], now=1.0)[1]
        counted.store.add_key(other)
        clock.now += OLDEST  # after a pause the first one waits
        assert other.id in await known.rows()
        clock.now += OLDEST
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
    monkeypatch.setattr("driftanchor.serve.known_keys.PATIENCE", 0.01)
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
