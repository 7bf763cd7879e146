"""Looking after a store: upgrade it, copy it while others write, look for damage in its file."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.engine import URL

from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.live.sql import engine
from driftanchor.live.sql.failures import translated
from driftanchor.live.sql.store import SqlStore

MOST_NAMED = 5  # kinds of damage


def upgrade(address: str) -> tuple[str | None, str]:
    """Bring the tables of a store up to date; the versions before and after."""
    store = SqlStore(_url(address))
    try:
        return store.upgrade()
    finally:
        store.close()


def backup(address: str, to: str | os.PathLike[str]) -> int:
    """Copy an SQLite store to a file that is not there yet; how many bytes it has.

    Others may read and write meanwhile: the copy is the store at one moment. The file appears when
    all of it is on disk.

    Raises:
        InvalidInput: The file is there already or cannot be written, or the store is PostgreSQL.
        StoreUnavailable: The store cannot be read.
    """
    url, target = _url(address), Path(to)
    if engine.sqlite_file(url) is None:
        raise InvalidInput(
            "a PostgreSQL store is copied by PostgreSQL itself, while others use it; run: "
            f"{pg_dump(url, target)}"
        )
    scratch = target.with_name(f".driftanchor-{secrets.token_hex(8)}")
    try:
        with translated(url), _reading(url) as source:
            try:
                with contextlib.closing(sqlite3.connect(scratch)) as copy:
                    source.backup(copy)
                _flush(scratch)
                os.link(scratch, target)  # fails if there is one, also one that came just now
            except FileExistsError as error:
                raise InvalidInput(
                    f"the file {str(target)!r} is there already: name a new one"
                ) from error
            except OSError as error:
                raise DriftanchorError(_cannot(target, error.strerror or error)) from error
            except sqlite3.OperationalError as error:
                raise DriftanchorError(_cannot(target, error)) from error
    finally:
        for name in (scratch, Path(f"{scratch}-wal"), Path(f"{scratch}-shm")):
            name.unlink(missing_ok=True)
    return target.stat().st_size


def damage(address: str) -> list[str]:
    """What SQLite finds wrong with the file of a store; nothing for PostgreSQL."""
    url = _url(address)
    if engine.sqlite_file(url) is None:
        return []
    with translated(url), _reading(url) as connection:
        try:
            found = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MOST_NAMED})")]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
    return [] if found == ["ok"] else [f"the file is damaged: {line}" for line in found]


def pg_dump(url: URL, target: Path) -> str:
    """The command that copies a PostgreSQL store; it asks for the password."""
    parts = url._asdict() | {"drivername": "postgresql", "password": None}
    address = URL.create(**parts).render_as_string()
    return shlex.join(["pg_dump", "--format=custom", f"--file={target}", address])


def _url(address: str) -> URL:
    return engine.address(address)


@contextlib.contextmanager
def _reading(url: URL) -> Iterator[sqlite3.Connection]:
    file = engine.sqlite_file(url)
    assert file is not None
    with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True)) as it:
        yield it


def _flush(file: Path) -> None:
    with file.open("rb") as written:
        os.fsync(written.fileno())


def _cannot(target: Path, why: object) -> str:
    return f"cannot write {str(target)!r}: {why}"
