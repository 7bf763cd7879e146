"""The lock in front of an SQLite file: writers queue for it, so that none starves.

SQLite itself lets writers poll, and under load some of them poll in vain for minutes. A blocking
`flock` is a queue kept by the system, and it ends with the process that holds it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_OPEN: weakref.WeakSet[FileIO] = weakref.WeakSet()


@contextlib.contextmanager
def turn(database: Path) -> Iterator[None]:
    """Wait for the turn to write to a database file, and keep it until the block ends.

    Raises:
        OSError: The file of the lock, which is beside the database, cannot be opened.
    """
    if sys.platform == "win32":  # SQLite's own waiting must do
        yield
        return
    # A file object closes itself wherever a thread is interrupted; a bare descriptor would stay.
    with lock_file(database).open("ab", buffering=0) as handle:
        _OPEN.add(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:  # to close it is not enough: a forked process may have it open too
            if not handle.closed:
                fcntl.flock(handle, fcntl.LOCK_UN)


def _forget() -> None:
    """In a forked process: close the locks of its parent, without unlocking them."""
    for handle in list(_OPEN):
        handle.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def lock_file(database: Path) -> Path:
    """The file of the lock of a database."""
    return database.with_name(f"{database.name}-lock")


@contextlib.contextmanager
def no_litter(database: Path | None) -> Iterator[None]:
    """Leave no new lock beside what turns out to be no store: the block fails then."""
    lock = None if database is None else lock_file(database)
    if lock is None or lock.exists():
        yield
        return
    try:
        yield
    except BaseException:
        lock.unlink(missing_ok=True)
        raise
