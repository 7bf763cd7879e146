"""Durable asks and rewards against the bare statements that they need.

A campaign works on one copy of a store while its statements are written down. The same work is then
done on a second copy by the campaign, and on a third by the bare driver, which sends the statements
that were written down, in the same transactions. What is compared is elapsed time: most of it may
be the disk's.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import psycopg
from psycopg.conninfo import make_conninfo

from benchmarks.clock import in_turn, ratio, say
from benchmarks.tables import Blocks, table
from benchmarks.torture.postgres import running
from driftanchor import TS, Campaign
from driftanchor.live import compiling
from driftanchor.live.stores import postgres, sqlite
from driftanchor.live.stores.copy import copy
from driftanchor.live.stores.postgres import PostgresSession
from driftanchor.live.stores.sqlite import INSERT, SqliteSession
from driftanchor.live.stores.statements import for_sqlite
from driftanchor.live.stores.store import Store, open_store

Statement = tuple[Any, Any, bool]  # the text, its parameters, and whether they are many rows
Work = Callable[[Campaign, list[str]], None]  # with the ids of the decisions so far
REWARDS, BATCH = 2_000, 50
ARMS = (10, 100, 10_000)
OVER_BARE = "speed over the bare statements"
_names = itertools.count()


def reward_label(store: str) -> str:
    """The row of rewards on a store."""
    return f"{store}: rewards, {BATCH} in a transaction"


def ask_label(store: str, arms: int) -> str:
    """The row of single asks on a store."""
    return f"{store}: one ask in a transaction, {arms:,} arms"


def against_statements(rounds: int, quick: bool = False) -> Blocks:
    """How fast a campaign is, as a part of what the bare statements allow."""
    rows: dict[str, list[Any]] = {}
    arms = ARMS[:1] if quick else ARMS
    with tempfile.TemporaryDirectory() as folder, running(fsync=True) as server:
        places: dict[str, Callable[[], str]] = {
            "SQLite": lambda: f"sqlite:///{folder}/{next(_names)}.db",
            "PostgreSQL": lambda: new_schema(server.folder),
        }
        for name, place in places.items():
            say(f"campaigns on {name}")
            count = REWARDS // 10 if quick else REWARDS
            rows[reward_label(name)] = [_compared(place, 10, _rewards(count), rounds)]
            for many in arms:
                asks = 60 if many > 1_000 else 200
                rows[ask_label(name, many)] = [_compared(place, many, _asks(asks), rounds)]
    columns = ["work", OVER_BARE]
    title = "Durable decisions and rewards over the bare statements they need"
    return table("bench-campaigns", title, columns, rows)


def _rewards(count: int) -> tuple[int, Work]:
    def work(campaign: Campaign, ids: list[str]) -> None:
        for i in range(0, len(ids), BATCH):
            campaign.tell_many([(one, 0.5) for one in ids[i : i + BATCH]])

    return count, work


def _asks(count: int) -> tuple[int, Work]:
    def work(campaign: Campaign, _: list[str]) -> None:
        for i in range(count):
            campaign.ask(f"unit {i}")

    return 0, work


def _compared(
    place: Callable[[], str], arms: int, job: tuple[int, Work], rounds: int
) -> dict[str, Any]:
    """The time of the bare statements over that of the campaign, in rounds of both."""
    decisions, work = job
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = open_store(place())
        campaign = Campaign.create(
            "c", arms=map(str, range(arms)), policy=TS(), seed=1, reward_range=(0, 1), store=base
        )
    for i in range(0, decisions, 1_000):
        campaign.ask(n=min(1_000, decisions - i))
    for _ in range(3):  # until all that is compiled is compiled
        campaign.ask(peek=True)
        campaign.ask(n=max(1, 4_000 // arms) if not decisions else 1)
        compiling.finish()
    with base.reading(1) as reader:
        ids = [row.id for row in reader.all_decisions()] if decisions else []
    statements = list[list[Statement]]()

    def copied() -> Store:
        store = open_store(place())
        copy(base, store)
        store.close()  # both begin with an empty WAL; a closed store opens again
        return store

    def opened(store: Store) -> Campaign:
        campaign = Campaign.load("c", store=store)
        campaign.ask(peek=True)  # it reads all arms, once
        return campaign

    campaign = opened(copied())
    with _written_down(campaign, statements):
        work(campaign, ids)

    def ours() -> float:
        campaign = opened(copied())
        start = time.perf_counter()
        work(campaign, ids)
        spent = time.perf_counter() - start
        campaign.close()
        return spent

    costs = in_turn({"bare": lambda: _replayed(copied(), statements), "ours": ours}, rounds)
    base.close()
    return ratio(costs["bare"], costs["ours"])


@contextlib.contextmanager
def _written_down(campaign: Campaign, into: list[list[Statement]]) -> Iterator[None]:
    """Write down what a campaign sends in transactions that write."""
    sent = list[list[Statement]]()

    class NotingSqlite(SqliteSession):
        """A session that notes its statements."""

        def __init__(self, connection: sqlite3.Connection) -> None:
            super().__init__(connection)
            sent.append([])

        def rows(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
            sent[-1].append((for_sqlite(sql), values, False))
            return super().rows(sql, values)

        lookup = rows

        def run(self, sql: str, values: Any = ()) -> None:
            sent[-1].append((for_sqlite(sql), values, False))
            super().run(sql, values)

        def run_many(self, sql: str, rows: Any) -> None:
            sent[-1].append((for_sqlite(sql), rows, True))
            super().run_many(sql, rows)

        def insert(self, table: str, rows: Any) -> None:
            sent[-1].append((INSERT[table], rows, True))
            super().insert(table, rows)

    class NotingPostgres(PostgresSession):
        """A session that notes what it sends."""

        def __init__(self, connection: psycopg.Connection[Any], deadline: float) -> None:
            super().__init__(connection, deadline)
            sent.append([])

        def _send(
            self, sql: bytes, values: Any = (), prepare: bool | None = None
        ) -> psycopg.Cursor[Any]:
            sent[-1] += [*self._waiting, (sql, values, False)]
            return super()._send(sql, values, prepare)

    with (
        mock.patch.object(sqlite, "SqliteSession", NotingSqlite),
        mock.patch.object(postgres, "PostgresSession", NotingPostgres),
    ):
        yield
    campaign.close()
    for statements in sent:
        if any(_starts(sql, "INSERT", "UPDATE") for sql, _, _ in statements):
            into.append([x for x in statements if x[1] or not _starts(x[0], "BEGIN", "COMMIT")])


def _starts(sql: str | bytes, *words: str) -> bool:
    return (sql if isinstance(sql, str) else sql.decode()).startswith(words)


def _replayed(store: Store, statements: list[list[Statement]]) -> float:
    """How long the bare driver takes for the statements."""
    store.close()
    file = store.address.file
    if file is None:
        with psycopg.connect(make_conninfo("", **store.address.parameters)) as server:
            return _sent(server.cursor(), server.commit, statements, ())
    connection = sqlite3.connect(file, isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")
    spent = _sent(connection.cursor(), connection.commit, statements, ("BEGIN IMMEDIATE",))
    connection.close()
    return spent


def _sent(
    cursor: Any,
    commit: Callable[[], None],
    statements: list[list[Statement]],
    begin: tuple[str, ...],
) -> float:
    """The time of the statements alone: our lock in front of an SQLite file is not one of them."""
    start = time.perf_counter()
    for sent in statements:
        for sql in begin:
            cursor.execute(sql)
        for sql, values, many in sent:
            (cursor.executemany if many else cursor.execute)(sql, values)
            if cursor.description:
                cursor.fetchall()
        commit()
    return time.perf_counter() - start


def new_schema(folder: Path) -> str:
    """The address of an empty schema in the PostgreSQL of a folder."""
    schema = f"bench_{next(_names)}"
    with psycopg.connect(host=str(folder), user="postgres", dbname="postgres") as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    options = quote(f"-csearch_path={schema}")
    return f"postgresql://postgres@/postgres?host={quote(str(folder))}&options={options}"
