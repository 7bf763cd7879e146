"""The DuckDB that reads logs. One for small logs is kept from one reading to the next.

To start DuckDB takes longer than to read a small file, and once it runs nobody can change what it
may see. So small files are read from copies of them, in places that it may see from the start.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Sequence

from driftanchor.logs import sandbox
from driftanchor.logs.clean_copy import CleanCopies
from driftanchor.logs.log_file import LogFile

PLACES = 4  # files that a kept database can read together
SMALL = 2**20  # bytes of them in all: they are copied within a millisecond


class Database:
    """DuckDB in its sandbox, and the folder in which it sees copies of files.

    Args:
        files: The files it sees themselves.
        memory: What it may use, such as `"400MB"`.
        places: Of how many files it sees copies.
        kept: Whether it is kept for the next reading.
    """

    def __init__(
        self, files: Sequence[LogFile], memory: str, places: int, *, kept: bool = False
    ) -> None:
        self.memory, self._kept = memory, kept
        self.copies = CleanCopies(places)
        paths = [file.path for file in files]
        self.connection = sandbox.connect([*paths, *self.copies.paths], memory)

    def fits(self, memory: str) -> bool:
        """Whether another reading can take it."""
        return self.memory == memory and self.copies.is_in_place()

    def leave(self) -> None:
        """End the reading, once: remove the copies, and keep the database or close it."""
        self.copies.close()
        if self._kept and self._is_well():
            _keep(self)
        else:
            self.connection.close()

    def _is_well(self) -> bool:
        """Whether it still answers: after an error of its own it may not."""
        try:
            return self.connection.execute("SELECT 1").fetchall() == [(1,)]
        except Exception:
            return False


_idle: list[Database] = []  # the one that waits for the next reading, if any
_changing = threading.Lock()


def open_database(files: Sequence[LogFile], memory: str) -> tuple[Database, list[LogFile]]:
    """A database for a reading, and the files as it sees them.

    Args:
        files: What is read.
        memory: What may be used.
    """
    with contextlib.suppress(OSError):  # no copy can be written: it sees the files themselves
        if len(files) <= PLACES and sum(file.path.stat().st_size for file in files) <= SMALL:
            database = _taken(memory) or Database((), memory, PLACES, kept=True)
            try:
                return database, database.copies.whole(files)
            except BaseException:
                database.leave()
                raise
    return Database(files, memory, len(files)), list(files)


def _taken(memory: str) -> Database | None:
    """The database that waits, if it fits; nobody else gets it until it is left."""
    with _changing:
        return _idle.pop() if _idle and _idle[0].fits(memory) else None


def _keep(database: Database) -> None:
    """Let one database wait, the last that was used."""
    with _changing:
        others, _idle[:] = _idle[:], [database]
    for other in others:
        other.connection.close()


def close_idle() -> None:
    """Close the database that waits."""
    with _changing:
        _close()


def _close() -> None:
    while _idle:
        _idle.pop().connection.close()


def _before_fork() -> None:
    """Close it, for a fork has none of its threads; and let nobody change anything meanwhile."""
    _changing.acquire()
    _close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_changing.release,
        after_in_child=_changing.release,
    )
atexit.register(close_idle)
