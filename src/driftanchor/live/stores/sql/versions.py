"""Schema versions: create the tables of a new store, and migrate old ones on `upgrade`."""

from __future__ import annotations

import functools

from sqlalchemy import Connection, Index, insert, inspect, select, text
from sqlalchemy.schema import CreateIndex, CreateTable

from driftanchor.errors import StoreMismatch, require
from driftanchor.live.stores.sql.prepared import DIALECTS
from driftanchor.live.stores.sql.schema import OLDER, REVISION, metadata, version

LOCK = 7_302_118  # of those who create or upgrade tables in PostgreSQL at the same time

# `store backup` of this version cannot read older tables.
COPY_FIRST = "stop the workers, copy the file of the store (PostgreSQL: use pg_dump)"


def found(connection: Connection) -> str | None:
    """The last migration that a store has seen; `None` if it has no tables of ours."""
    if not inspect(connection).has_table(version.name):
        return None
    return connection.execute(select(version.c.version_num)).scalar_one_or_none()


def prepare(connection: Connection) -> None:
    """Create the tables in an empty store; refuse one that is older or newer than the program.

    The caller holds the write lock.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
    known = found(connection)
    if known is None:
        _create(connection)
    else:
        check(known)


def check(known: str | None) -> None:
    """Refuse tables that are not those of this program."""
    if known == REVISION:
        return
    if known in OLDER:
        raise StoreMismatch(
            f"the store has the tables of version {known}, and this driftanchor needs {REVISION}: "
            f"{COPY_FIRST}, then run: driftanchor store upgrade"
        )
    raise StoreMismatch(
        f"the store has the tables of version {known}, which this driftanchor does not know (it "
        f"knows up to {REVISION}): use the driftanchor that wrote it, or a newer one"
    )


def refuse_others(connection: Connection) -> None:
    """Refuse a database without a version in which other tables have the names of ours."""
    taken = sorted(set(metadata.tables) & set(inspect(connection).get_table_names()))
    if taken:
        raise StoreMismatch(
            f"the database has tables of another program, or lost its version: {', '.join(taken)}; "
            "use a separate database, schema or file"
        )


def _create(connection: Connection) -> None:
    refuse_others(connection)
    for statement in _statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    connection.execute(insert(version).values(version_num=REVISION))


@functools.cache
def _statements(database: str) -> tuple[str, ...]:
    """What creates all tables; `MetaData.create_all` would look for each of them again."""
    creating: list[CreateTable | CreateIndex] = []
    for table in metadata.sorted_tables:
        creating.append(CreateTable(table))
        creating += [CreateIndex(index) for index in sorted(table.indexes, key=_name)]
    return tuple(str(each.compile(dialect=DIALECTS[database])) for each in creating)


def _name(index: Index) -> str:
    return str(index.name)


def upgrade(connection: Connection) -> tuple[str | None, str]:
    """Migrate the tables of a store; return the versions before and after.

    The caller holds the write lock.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # large tables take long
    before = found(connection)
    if before is None:
        prepare(connection)
    elif before != REVISION and before not in OLDER:
        check(before)
    elif before != REVISION:
        require("alembic", extra="live", why="driftanchor store upgrade")
        from driftanchor.live.stores.sql.migrate import run

        run(connection)
    return before, REVISION
