"""A turn to write to a database file, as a writer takes it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from driftanchor.live.stores.sql.write_turn import Turns, lock_file


@contextlib.contextmanager
def one_turn(database: Path) -> Iterator[None]:
    """Wait for the turn to write to a database file, and keep it until the block ends."""
    turns = Turns(lock_file(database))
    held = turns.next()
    try:
        held.take()
        yield
    finally:
        held.leave()
        turns.close()
