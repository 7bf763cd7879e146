"""Addresses of stores: a file of SQLite, or a database of PostgreSQL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from driftanchor.errors import InvalidInput, require, shown

MAX_PART = 240  # bytes of a file name: systems allow 255, and -wal and others are appended
MAX_PATH = 3_000  # bytes
SCHEME = re.compile(r"[A-Za-z][\w+.-]+:")  # one letter would be a drive, as in C:\bandit.db
POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")


@dataclass(frozen=True)
class Address:
    """The parsed address of a store.

    Attributes:
        file: The file of an SQLite store; `None` for PostgreSQL.
        parameters: The connection parameters of libpq; empty for SQLite.
        name: The store as messages name it, without user, password and settings.
    """

    file: Path | None
    parameters: dict[str, str]
    name: str


def parse_address(text: str) -> Address:
    """Parse the address of a store; a name without a scheme is a file of SQLite.

    Example:
        >>> parse_address("bandit.db") == parse_address("sqlite:///bandit.db")
        True

    Raises:
        InvalidInput: It is not the address of a store.
    """
    if not SCHEME.match(text):
        return _sqlite(text)
    scheme, _, rest = text.partition(":")
    if scheme == "sqlite":
        if (rest != "//" and not rest.startswith("///")) or "?" in rest:
            raise _not_a_file("no host, user or '?' with settings")
        return _sqlite(unquote(rest[3:]))
    if scheme in POSTGRES:
        return _postgres(f"postgresql:{rest}")
    raise _unusable(text)


def _sqlite(name: str) -> Address:
    path = name.encode("utf-8", "surrogatepass")
    if name in ("", ":memory:"):
        raise _not_a_file("as what is in memory only does not last")
    if "\0" in name or len(path) > MAX_PATH or max(map(len, path.split(b"/"))) > MAX_PART:
        raise _not_a_file(f"in at most {MAX_PART} bytes, none of which is zero")
    return Address(Path(name), {}, f"the store {str(Path(name).absolute())!r}")


def _postgres(uri: str) -> Address:
    require("psycopg", extra="postgres", why="a PostgreSQL store")
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        given = {key: str(value) for key, value in conninfo_to_dict(uri).items()}
    except (ProgrammingError, UnicodeError) as error:
        raise _unusable(uri) from error
    host, port = given.get("host", ""), given.get("port")
    place = ("" if host.startswith("/") else host) + (f":{port}" if port else "")
    return Address(None, given, f"the store 'postgresql://{place}/{given.get('dbname', '')}'")


def missing_folder(file: Path) -> str | None:
    """Return a message if the folder of an SQLite store does not exist."""
    folder = file.absolute().parent
    try:
        folder.stat()
    except FileNotFoundError:
        problem = f"the folder {shown(str(folder))} does not exist"
        return f"{problem}: make it, or choose another place for the store"
    except OSError:  # it may exist
        pass
    return None


def _not_a_file(problem: str) -> InvalidInput:
    return InvalidInput(
        f"must name a file, such as 'bandit.db' or 'sqlite:///bandit.db', {problem}",
        argument="store",
    )


def _unusable(text: str) -> InvalidInput:
    scheme = text.partition(":")[0]  # the rest may hold a password
    return InvalidInput(
        "must be a file such as 'bandit.db', or an address such as 'sqlite:///bandit.db' or "
        f"'postgresql://user@host/name', got one that starts with {scheme!r}",
        argument="store",
    )
