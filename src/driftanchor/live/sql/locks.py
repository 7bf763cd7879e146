"""The lock in front of an SQLite file: writers queue for it, so that none starves.

SQLite itself lets writers poll, and under load some of them poll in vain for minutes. A blocking
`flock` is a queue kept by the system, and it ends with the process that holds it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def turn(database: Path) -> Iterator[None]:
    """Wait for the turn to write to a database file, and keep it until the block ends.

    Raises:
        OSError: The file of the lock, which is beside the database, cannot be opened.
    """
    try:
        import fcntl  # not on Windows, where SQLite's own waiting must do
    except ImportError:
        yield
        return
    handle = os.open(lock_file(database), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def lock_file(database: Path) -> Path:
    """The file of the lock of a database."""
    return database.with_name(f"{database.name}-lock")
