"""Connections stay open between transactions, few of them, until they are closed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import sqlalchemy

from driftanchor.live.stores.sql.connections import KEPT, Connections


def connections(folder: Path) -> Connections:
    return Connections(sqlalchemy.create_engine(f"sqlite:///{folder / 'a.db'}"))


def test_a_connection_is_used_again_until_all_are_closed(tmp_path: Path) -> None:
    kept = connections(tmp_path)
    assert kept.database == "sqlite"
    first = kept.take()
    driver = first.driver_connection
    kept.give_back(first)
    assert kept.take() is first
    kept.give_back(first)
    kept.close()
    again = kept.take()
    assert again.driver_connection is not driver
    again.close()
    kept.close()


def test_few_stay_out_of_the_pool(tmp_path: Path) -> None:
    kept = connections(tmp_path)
    taken = [kept.take() for _ in range(KEPT + 2)]
    for pooled in taken:
        kept.give_back(pooled)
    assert sum(pooled.is_valid for pooled in taken) == KEPT
    kept.close()
    assert not any(pooled.is_valid for pooled in taken)


def test_a_forked_process_leaves_connections_to_its_parent(tmp_path: Path) -> None:
    with contextlib.closing(connections(tmp_path)) as kept:
        pooled = kept.take()
        kept.give_back(pooled)
        child = os.fork()
        if child == 0:
            left = 1
            try:
                kept.abandon()
                left = int(kept.take() is pooled or not pooled.is_valid)
            finally:
                os._exit(left)
        assert os.waitpid(child, 0)[1] == 0
        assert kept.take() is pooled
        pooled.close()
