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


class Turn:
    """The turn to write to a database file.

    Args:
        lock: The file of the lock.
    """

    def __init__(self, lock: Path) -> None:
        self._file = lock
        # A file object closes itself if a thread is interrupted; a bare descriptor would stay.
        self._handle: FileIO | None = None

    def take(self) -> None:
        """Wait for the turn.

        Raises:
            OSError: The file of the lock cannot be opened.
        """
        if sys.platform == "win32":  # SQLite's own waiting must do
            return
        self._handle = self._file.open("ab", buffering=0)
        _OPEN.add(self._handle)
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def leave(self) -> None:
        """Let the next one write; to do it again, or without a turn, does no harm."""
        handle = self._handle
        if sys.platform == "win32" or handle is None or handle.closed:
            return
        fcntl.flock(handle, fcntl.LOCK_UN)  # a forked process may have it open: unlock it first
        handle.close()


@contextlib.contextmanager
def turn(database: Path) -> Iterator[None]:
    """Wait for the turn to write to a database file, and keep it until the block ends."""
    held = Turn(lock_file(database))
    try:
        held.take()
        yield
    finally:
        held.leave()


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
