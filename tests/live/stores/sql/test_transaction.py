"""A transaction ends, and its locks go, wherever Ctrl-C comes."""

from __future__ import annotations

import contextlib
import linecache
import random
import sqlite3
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import psycopg
import pytest
from campaign_parts import Clock, create

from driftanchor.live.stores.sql.locks import turn
from driftanchor.live.stores.sql.store import SqlStore, open_sql

OUTSIDE = ("logging", "importlib", "weakref")  # what runs for others too
PLACES = {"sqlite": 60, "postgresql": 25}


class Interrupt:
    """Raises KeyboardInterrupt at a line of a call, whatever file the line is in."""

    def __init__(self, place: int) -> None:
        self.left = place

    def __call__(self, frame: FrameType, kind: str, _: Any) -> Any:
        if any(part in frame.f_code.co_filename for part in OUTSIDE):
            return None
        if kind == "line" and not _is_with(frame):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self

    def during(self, work: Callable[[], object]) -> bool:
        """Whether the work was interrupted."""
        before = sys.gettrace()
        try:
            sys.settrace(self)
            work()
        except KeyboardInterrupt as error:
            self.error = error  # as a shell keeps it, with all that its frames hold
            return True
        finally:
            sys.settrace(before)
        return False


def _is_with(frame: FrameType) -> bool:
    """Whether a line may be the end of a `with`, where only a trace can interrupt."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return line.lstrip().startswith("with ")


def is_free(store: SqlStore) -> bool:
    """Whether somebody else can write at once."""
    if store._file is None:
        address = store.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address) as other:
            other.execute("SET lock_timeout = '2s'")  # a server takes a moment to notice
            other.execute("SELECT * FROM heads FOR UPDATE")
        return True
    with contextlib.closing(sqlite3.connect(store._file, timeout=0)) as other, turn(store._file):
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
        interrupted += interrupt.during(lambda one=one: campaign.tell(one, 0.5))  # type: ignore[misc]
        assert is_free(store)
        assert campaign.tell(one, 0.5).status in ("recorded", "replayed")
    assert interrupted > 20
    assert campaign.verify().rewards == places + 2
    store.close()
