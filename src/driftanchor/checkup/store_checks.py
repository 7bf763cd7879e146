"""What is checked of any store: whether it can be read, and which tables it has."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import URL

from driftanchor.checkup import postgres_checks, sqlite_checks
from driftanchor.checkup.diagnosis import Diagnosis, fine, missing, problem
from driftanchor.errors import StoreMismatch, StoreUnavailable, shown
from driftanchor.live.stores.sql import sql_engine, versions
from driftanchor.live.stores.sql.failures import missing_folder, name_of
from driftanchor.live.stores.sql.looking import looked_at
from driftanchor.live.stores.sql.schema import OLDER, REVISION, campaigns, heads
from driftanchor.render.numbers import count

STOPPED = "no decision is made and no reward is kept there"


def check_store(address: str) -> Iterator[Diagnosis]:
    """All that is to be said about the store at an address.

    Raises:
        InvalidInput: It is no address of a store.
    """
    url = sql_engine.address(address)
    file = sql_engine.sqlite_file(url)
    if file is None:
        yield from (each for check in postgres_checks.BEFORE for each in check(url))
    else:
        nothing = _not_there(file)
        if nothing is not None:
            advice = "'driftanchor campaign create' makes a store, and --store names another"
            yield problem("store", nothing, f"{STOPPED}; {advice}")
            return
        yield from (each for check in sqlite_checks.CHECKS for each in check(file))
    try:
        yield from _inside(url, file)
    except StoreUnavailable:
        try:  # once more: somebody may have begun to use an SQLite file while it was read
            yield from _inside(url, file)
        except StoreUnavailable as error:
            yield problem("store", str(error), f"until then {STOPPED}")


def _inside(url: URL, file: Path | None) -> list[Diagnosis]:
    """What can be said of a store that can be read."""
    with looked_at(url) as connection:
        found = [tables(connection, file)]
        if file is None:
            found += [each for check in postgres_checks.CHECKS for each in check(connection)]
        return found


def _not_there(file: Path) -> str | None:
    """Why there is no SQLite file that could be opened; opening a pipe would wait for ever."""
    try:
        is_file = stat.S_ISREG(file.stat().st_mode)
    except FileNotFoundError:
        return missing_folder(file) or f"there is no store {shown(str(file))}"
    except OSError as error:
        return str(error)
    return None if is_file else f"{shown(str(file))} is not a regular file"


def tables(connection: Connection, file: Path | None) -> Diagnosis:
    """Which version the tables have, and how much is in them."""
    name, known = "store", versions.found(connection)
    if known == REVISION:
        many = connection.execute(select(func.count()).select_from(campaigns)).scalar_one()
        made = connection.execute(select(func.sum(heads.c.decisions))).scalar_one() or 0
        holds = f"{count(many, 'campaign')} with {count(int(made), 'decision')}"
        return fine(name, f"{_named(connection, file)}: tables of version {known}, {holds}")
    if known is None:
        try:
            versions.refuse_others(connection)
        except StoreMismatch as error:
            return problem(name, str(error), f"until then {STOPPED}")
        advice = "nothing has to be done: the first command that writes to it creates them"
        return missing(name, f"{_named(connection, file)}: there are no tables yet", advice)
    found = f"{_named(connection, file)}: tables of version {known}; this program has {REVISION}"
    if known in OLDER:
        remedy = f"{versions.COPY_FIRST}, and run driftanchor store upgrade{_at(file)}"
    else:
        remedy = "install the driftanchor that wrote it, or a newer one"
    return problem(name, found, f"until then {STOPPED}: {remedy}")


def _named(connection: Connection, file: Path | None) -> str:
    """The store without what may be a secret."""
    url: URL = connection.engine.url
    return name_of(URL.create("sqlite", database=str(file)) if file else url).removeprefix("the ")


def _at(file: Path | None) -> str:
    """How to name the store in a command; what is in the address of a server may be a secret."""
    return " with the same --store" if file is None else f" --store {shlex.quote(str(file))}"
