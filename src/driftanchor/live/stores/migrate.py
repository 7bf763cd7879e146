"""Migrate the tables of a store. A new store runs all migrations.

`migrations/NNNN_name.sql` is for both databases, and `migrations/sqlite/NNNN_name.sql` for SQLite
alone. All that are needed run in one transaction, which also records the last version.
"""

from __future__ import annotations

from pathlib import Path

from driftanchor.errors import StoreMismatch
from driftanchor.live.stores.statements import COLUMNS, Session

FOLDER = Path(__file__).parent / "migrations"
*OLDER, LATEST = sorted({file.name[:4] for file in FOLDER.rglob("*.sql")})
VERSION_TABLE = "driftanchor_version"
TABLES = {VERSION_TABLE, *COLUMNS}
LOCK = 7_302_118  # the advisory lock in PostgreSQL of programs that create or upgrade tables

# `store backup` of this version cannot read older tables.
COPY_FIRST = "stop the workers, copy the file of the store (PostgreSQL: use pg_dump)"


def version_of(session: Session) -> str | None:
    """Return the version of the tables; `None` if there are none."""
    if VERSION_TABLE not in _tables(session):
        return None
    rows = session.rows(f"SELECT version_num FROM {VERSION_TABLE}")
    return rows[0][0] if rows else None


def check(version: str | None) -> None:
    """Refuse tables of another version than this program's."""
    if version == LATEST:
        return
    if version in OLDER:
        raise StoreMismatch(
            f"the store has the tables of version {version}, and this driftanchor needs {LATEST}: "
            f"{COPY_FIRST}, then run: driftanchor store upgrade"
        )
    raise StoreMismatch(
        f"the store has the tables of version {version}, which this driftanchor does not know (it "
        f"knows up to {LATEST}): use the driftanchor that wrote it, or a newer one"
    )


def refuse_other_tables(session: Session) -> None:
    """Refuse a database without a version if other tables have our names."""
    taken = sorted(TABLES & _tables(session))
    if taken:
        raise StoreMismatch(
            f"the database has tables of another program, or lost its version: {', '.join(taken)}; "
            "use a separate database, schema or file"
        )


def is_empty(session: Session) -> bool:
    """Return whether the tables are missing; refuse tables of another version or program."""
    version = version_of(session)
    if version is None:
        refuse_other_tables(session)
        return True
    check(version)
    return False


def create(session: Session) -> None:
    """Create the tables, unless another program did meanwhile."""
    _lock(session)
    if is_empty(session):
        _run(session, None)


def upgrade(session: Session) -> str | None:
    """Migrate the tables to the latest version; return the version before."""
    _lock(session)
    version = version_of(session)
    if version is None:
        refuse_other_tables(session)
    elif version not in OLDER:
        check(version)
    _run(session, version)
    return version


def _lock(session: Session) -> None:
    """Keep other programs from creating or upgrading tables; in SQLite the write lock does."""
    if session.dialect == "postgres":
        session.rows("SELECT pg_advisory_xact_lock(?)", (LOCK,))


def _run(session: Session, version: str | None) -> None:
    """Run the migrations after a version, and record the last one."""
    for number in [*OLDER, LATEST]:
        if version is not None and number <= version:
            continue
        for folder in (FOLDER, FOLDER / session.dialect):
            for file in folder.glob(f"{number}_*.sql"):
                for statement in file.read_text(encoding="utf-8").split(";\n"):
                    if statement.strip():
                        session.run(statement)
    session.run(f"DELETE FROM {VERSION_TABLE}")
    session.run(f"INSERT INTO {VERSION_TABLE} (version_num) VALUES (?)", (LATEST,))


def _tables(session: Session) -> set[str]:
    """Return the names of all tables in the database, or in its first schema."""
    if session.dialect == "sqlite":
        rows = session.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    else:
        rows = session.rows("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    return {name for (name,) in rows}
