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
from typing import TypeVar

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")
Identity = tuple[int, int]  # of a file, whatever its name
_OPEN: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock(FileIO):
    """The file of a lock. It closes itself when nobody has it, and a bare descriptor would stay."""

    def __del__(self) -> None:
        """Close it without a warning: a store need not be closed, and threads are interrupted."""
        self.close()


class Turns:
    """The turns to write to a database file. Its lock stays open from one turn to the next.

    Args:
        lock: The file of the lock.
    """

    def __init__(self, lock: Path) -> None:
        self._file = os.fspath(lock)
        self._idle: list[tuple[Lock, Identity]] = []  # open, and not locked by us

    def next(self) -> Turn:
        """One more turn, which is still to be taken."""
        return Turn(self)

    def opened(self) -> tuple[Lock, Identity]:
        """The lock, open. It is opened again if another file has its name now.

        Raises:
            OSError: It cannot be opened.
        """
        while self._idle:
            try:
                handle, identity = self._idle.pop()
            except IndexError:  # another thread took it
                break
            if not handle.closed and identity_of(self._file) == identity:
                return handle, identity
            handle.close()
        handle = Lock(self._file, "ab")
        _OPEN.add(handle)
        found = os.fstat(handle.fileno())
        return handle, (found.st_dev, found.st_ino)

    def keep(self, handle: Lock, identity: Identity) -> None:
        """Keep the lock open for a later turn."""
        self._idle.append((handle, identity))

    def close(self) -> None:
        """Close what is kept open; the next turn opens it again."""
        for handle, _ in emptied(self._idle):
            handle.close()


def emptied(idle: list[T]) -> Iterator[T]:
    """What is in a list from which other threads take too, one by one; it is taken out."""
    with contextlib.suppress(IndexError):
        while True:
            yield idle.pop()


class Turn:
    """A turn to write to a database file.

    Args:
        turns: All turns of the file.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._held: tuple[Lock, Identity] | None = None

    def take(self) -> None:
        """Wait for the turn.

        Raises:
            OSError: The file of the lock cannot be opened.
        """
        if sys.platform == "win32":  # SQLite's own waiting must do
            return
        self._held = self._turns.opened()
        fcntl.flock(self._held[0], fcntl.LOCK_EX)

    def leave(self) -> None:
        """Let the next one write; to do it again, or without a turn, does no harm."""
        held = self._held
        if sys.platform == "win32" or held is None:
            return
        if not held[0].closed:
            fcntl.flock(held[0], fcntl.LOCK_UN)
        self._held = None  # from here on an interrupt only means that it is opened again
        self._turns.keep(*held)


def identity_of(file: str) -> Identity | None:
    """Which file has a name now; another one may get it."""
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


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
