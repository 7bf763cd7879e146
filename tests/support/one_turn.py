"""A turn to write to a database file, as a writer takes it."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from driftanchor.live.stores.sqlite import lock_file


@contextlib.contextmanager
def one_turn(database: Path) -> Iterator[None]:
    """Wait for the turn to write to a database file, and keep it until the block ends."""
    with lock_file(database).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
