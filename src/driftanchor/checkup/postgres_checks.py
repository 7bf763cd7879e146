"""What is checked of a store in PostgreSQL: passwords, durability, rights and its clock."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL

from driftanchor.checkup.diagnosis import Diagnosis, fine, problem
from driftanchor.errors import shown
from driftanchor.live.stores.sql import versions
from driftanchor.live.stores.sql.schema import metadata, version

APART = 5.0  # seconds by which clocks may differ
SAFE = ("fsync", "synchronous_commit", "full_page_writes")  # what must not be off
RIGHTS = ("SELECT", "INSERT", "UPDATE")


def password_file(url: URL) -> Iterator[Diagnosis]:
    """Whether PostgreSQL's library reads the file of passwords: it skips one others can read."""
    if url.password is not None:
        return
    try:
        file = Path(os.environ.get("PGPASSFILE") or Path.home() / ".pgpass")
        mode = file.stat().st_mode
    except (OSError, RuntimeError):  # there is none, or no home
        return
    name, where = "store passwords", shown(str(file))
    if mode & 0o077:
        advice = "PostgreSQL's library ignores it, so passwords are missing; run chmod 600"
        yield problem(name, f"others can read {where}", f"{advice} {shlex.quote(str(file))}")
    else:
        yield fine(name, f"{where} is for you alone")


def durability(connection: Connection) -> Iterator[Diagnosis]:
    """Whether what is acknowledged is on disk."""
    name = "store durability"
    asked = text("SELECT name, setting, source FROM pg_settings WHERE name = ANY(:names)")
    rows = connection.execute(asked, {"names": list(SAFE)}).all()
    off = [(setting, source) for setting, value, source in rows if value == "off"]
    if off:
        found = ", ".join(f"{setting} is off (set by: {source})" for setting, source in off)
        advice = "a crash can lose acknowledged decisions and rewards, or damage the store; "
        yield problem(
            name, found, advice + "; ".join(_switch_on(connection, *each) for each in off)
        )
    else:
        yield fine(name, ", ".join(f"{setting} is {value}" for setting, value, _ in sorted(rows)))


def _switch_on(connection: Connection, setting: str, source: str) -> str:
    """How to switch a setting on where it was switched off."""
    if source in ("client", "environment variable"):
        return f"take {setting} out of the address and of PGOPTIONS"
    if source == "command line":
        return f"start the server without {setting}=off"
    user, database = connection.execute(text("SELECT current_user, current_database()")).one()
    owner = {
        "user": f"ALTER ROLE {_quoted(user)}",
        "database": f"ALTER DATABASE {_quoted(database)}",
        "database user": f"ALTER ROLE {_quoted(user)} IN DATABASE {_quoted(database)}",
    }
    if source in owner:
        return f"run {owner[source]} SET {setting} = on"
    return f"run ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf()"


def writing(connection: Connection) -> Iterator[Diagnosis]:
    """Whether the server and the rights of its user let us write."""
    name = "store rights"
    user, schema, is_standby = connection.execute(
        text("SELECT current_user, current_schema(), pg_is_in_recovery()")
    ).one()
    only_reads = connection.execute(text("SHOW default_transaction_read_only")).scalar_one()
    if is_standby:
        yield problem(name, "the server is a standby, which cannot be written", "name the primary")
    elif only_reads == "on":
        advice = f"run ALTER ROLE {_quoted(user)} SET default_transaction_read_only = off"
        yield problem(name, f"transactions of user {user!r} only read", advice)
    elif schema is None:
        advice = "create the schema, or name another with search_path"
        yield problem(name, "no schema of search_path is there", advice)
    elif versions.found(connection) is None:
        asked = text("SELECT has_schema_privilege(:schema, 'CREATE')")
        if connection.execute(asked, {"schema": schema}).scalar_one():
            yield fine(name, f"user {user!r} may create tables in the schema {schema!r}")
        else:
            advice = f"run GRANT CREATE ON SCHEMA {_quoted(schema)} TO {_quoted(user)}"
            yield problem(name, f"user {user!r} may not create tables in {schema!r}", advice)
    else:
        yield _rights(connection, user, schema)


def _rights(connection: Connection, user: str, schema: str) -> Diagnosis:
    asked = text("SELECT has_table_privilege(to_regclass(:table), :right)")
    lacking = {
        table: right
        for table in sorted(set(metadata.tables) - {version.name})
        for right in RIGHTS
        if connection.execute(asked, {"table": table, "right": right}).scalar_one() is False
    }
    if lacking:
        place = f"IN SCHEMA {_quoted(schema)} TO {_quoted(user)}"
        advice = (
            f"run GRANT {', '.join(RIGHTS)} ON ALL TABLES {place}; "
            f"GRANT USAGE ON ALL SEQUENCES {place}"
        )
        found = f"user {user!r} may not read and write the tables {', '.join(lacking)}"
        return problem("store rights", found, advice)
    return fine("store rights", f"user {user!r} may read and write all tables")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def clock(connection: Connection) -> Iterator[Diagnosis]:
    """Whether the server and this machine agree about the time."""
    asked = text("SELECT extract(epoch FROM clock_timestamp())")
    before = time.time()
    there = float(connection.execute(asked).scalar_one())
    after = time.time()
    apart = max(before - there, there - after, 0.0)
    if apart > APART:
        found = f"the clocks of the server and of this machine are {apart:,.0f} s apart"
        advice = "reward windows and keys end too early or too late: set both by NTP"
        yield problem("store clock", found, advice)
    else:
        yield fine("store clock", "the clocks of the server and of this machine agree")


BEFORE: tuple[Callable[[URL], Iterator[Diagnosis]], ...] = (password_file,)
CHECKS: tuple[Callable[[Connection], Iterator[Diagnosis]], ...] = (durability, writing, clock)
