"""A transaction ends, and its locks go, wherever Ctrl-C comes."""

from __future__ import annotations

import contextlib
import random
import sqlite3

import psycopg
import pytest
from campaign_parts import Clock, create
from interrupt import Interrupt
from one_turn import one_turn

from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql

PLACES = {"sqlite": 60, "postgresql": 25}


def is_free(store: SqlStore) -> bool:
    """Whether somebody else can write at once."""
    if store._file is None:
        address = store.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address) as other:
            other.execute("SET lock_timeout = '2s'")  # a server takes a moment to notice
            other.execute("SELECT * FROM heads FOR UPDATE")
        return True
    with (
        contextlib.closing(sqlite3.connect(store._file, timeout=0)) as other,
        one_turn(store._file),
    ):
        other.execute("BEGIN IMMEDIATE")
        return True


# What is interrupted while it closes warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_anywhere_ends_the_transaction(store_url: str) -> None:
    store = open_sql(store_url)
    campaign = create(store, clock=Clock())
    ids = [str(x.id) for x in campaign.ask(n=80)]
    campaign.tell(ids.pop(), 0.5)
    count = Interrupt(10**9)
    assert not count.during(lambda: campaign.tell(ids.pop(), 0.5))
    lines, interrupted = 10**9 - count.left, 0
    chance = random.Random(1)
    places = PLACES[store.url.get_backend_name()]
    for _ in range(places):
        one, interrupt = ids.pop(), Interrupt(chance.randint(1, lines))
        error = interrupt.during(lambda one=one: campaign.tell(one, 0.5))  # type: ignore[misc]
        interrupted += error is not None  # it is kept, as a shell keeps it
        assert is_free(store)
        assert campaign.tell(one, 0.5).status in ("recorded", "replayed")
    assert interrupted > 20
    assert campaign.verify().rewards == places + 2
    store.close()
