"""What is said about a PostgreSQL: passwords, durability, rights and clocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from campaign_parts import create
from sqlalchemy import Connection
from store_addresses import postgres_address

from benchmarks.torture.postgres import running
from driftanchor.checkup import postgres_checks
from driftanchor.checkup.diagnosis import Diagnosis
from driftanchor.checkup.store_checks import check_store
from driftanchor.live.stores.sql import sql_engine
from driftanchor.live.stores.sql.looking import looked_at


def only(found: Iterable[Diagnosis]) -> Diagnosis:
    (each,) = list(found)
    return each


def look(check: Callable[[Connection], Iterator[Diagnosis]], address: str) -> Diagnosis:
    with looked_at(sql_engine.address(address)) as connection:
        return only(check(connection))


def admin(folder: str, *statements: str) -> None:
    with psycopg.connect(host=folder, user="postgres", dbname="postgres") as connection:
        for statement in statements:
            connection.execute(statement.encode())


def schema_of(address: str) -> str:
    return address.rpartition("%3D")[2]


def as_user(address: str, user: str) -> str:
    return address.replace("postgres@", f"{user}@")


@pytest.fixture(scope="module")
def safe() -> Iterator[str]:
    """A PostgreSQL that waits for the disk, as those of users do; that of the tests does not."""
    with running(fsync=True) as server:
        yield str(server.folder)


def test_all_is_well(safe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pass").touch(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pass"))
    address = postgres_address(safe)
    create(address).close()
    found = list(check_store(address))
    assert [each.status for each in found] == ["fine"] * 5, found
    names = [each.name.removeprefix("store").strip() for each in found]
    assert names == ["passwords", "", "durability", "rights", "clock"]


def test_a_server_that_does_not_wait_for_the_disk(postgres: str) -> None:
    found = look(postgres_checks.durability, postgres_address(postgres))
    assert (found.status, found.found) == ("problem", "fsync is off (set by: command line)")
    assert "lose acknowledged decisions" in found.advice
    assert "start the server without fsync=off" in found.advice


def test_where_durability_was_switched_off_is_where_it_is_switched_on(safe: str) -> None:
    address = postgres_address(safe)
    asked = f"{address}{quote(' -csynchronous_commit=off')}"
    found = look(postgres_checks.durability, asked)
    assert (found.status, "synchronous_commit is off" in found.found) == ("problem", True)
    assert "out of the address and of PGOPTIONS" in found.advice
    for where in ("ROLE postgres", "DATABASE postgres", "ROLE postgres IN DATABASE postgres"):
        admin(safe, f"ALTER {where} SET synchronous_commit = off")
        found = look(postgres_checks.durability, address)
        assert found.status == "problem"
        remedy = found.advice.rpartition("; run ")[2]
        assert remedy.startswith("ALTER ")
        admin(safe, remedy)
        assert look(postgres_checks.durability, address).status == "fine"
        admin(safe, f"ALTER {where} RESET synchronous_commit")
    with psycopg.connect(host=safe, user="postgres", dbname="postgres", autocommit=True) as one:
        one.execute("ALTER SYSTEM SET full_page_writes = off")
        one.execute("SELECT pg_reload_conf()")
        _until(lambda: look(postgres_checks.durability, address).status == "problem")
        found = look(postgres_checks.durability, address)
        for statement in found.advice.rpartition("run ")[2].split("; "):
            one.execute(statement.encode())
        _until(lambda: look(postgres_checks.durability, address).status == "fine")


def _until(is_so: Callable[[], bool]) -> None:
    """The server reads its settings when it comes to it."""
    for _ in range(1_000):
        if is_so():
            return
        time.sleep(0.02)
    raise AssertionError("it never happened")


def test_a_user_without_rights(postgres: str) -> None:
    address = postgres_address(postgres)
    schema, user = schema_of(address), "reader"
    admin(postgres, f"DROP ROLE IF EXISTS {user}", f"CREATE ROLE {user} LOGIN")
    theirs = as_user(address, user)
    admin(postgres, f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    found = look(postgres_checks.writing, theirs)
    assert (found.status, "may not create tables" in found.found) == ("problem", True)
    admin(postgres, found.advice.removeprefix("run "))
    assert look(postgres_checks.writing, theirs).status == "fine"
    create(address).close()
    admin(postgres, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}")
    found = look(postgres_checks.writing, theirs)
    assert (found.status, "may not read and write the tables api_keys, " in found.found) == (
        "problem",
        True,
    )
    admin(postgres, *found.advice.removeprefix("run ").split("; "))
    assert look(postgres_checks.writing, theirs).status == "fine"
    create(theirs, "d").close()  # and that is all it needs
    admin(postgres, f"ALTER ROLE {user} SET default_transaction_read_only = on")
    found = look(postgres_checks.writing, theirs)
    assert (found.status, "only read" in found.found) == ("problem", True)
    admin(postgres, found.advice.removeprefix("run "))
    assert look(postgres_checks.writing, theirs).status == "fine"
    admin(postgres, f"DROP OWNED BY {user}", f"DROP ROLE {user}")


def test_a_schema_that_is_not_there(postgres: str) -> None:
    address = postgres_address(postgres).rpartition("%3D")[0] + "%3Dnowhere"
    found = look(postgres_checks.writing, address)
    assert (found.status, "no schema" in found.found) == ("problem", True)


def test_a_standby(postgres: str) -> None:
    """A function of the same name stands for one: PostgreSQL's own would need a second server."""
    address = postgres_address(postgres)
    schema = schema_of(address)
    fake = (
        f"CREATE FUNCTION {schema}.pg_is_in_recovery() RETURNS bool LANGUAGE sql AS 'SELECT true'"
    )
    admin(postgres, fake)
    assert look(postgres_checks.writing, address).status == "fine"
    found = look(postgres_checks.writing, f"{address},pg_catalog")
    assert (found.status, found.advice) == ("problem", "name the primary")


@pytest.mark.parametrize(
    ("ahead", "status"), [(-3_600.0, "problem"), (60.0, "problem"), (0, "fine")]
)
def test_clocks(ahead: float, status: str, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address, real = postgres_address(postgres), time.time
    with looked_at(sql_engine.address(address)) as connection:
        monkeypatch.setattr("time.time", lambda: real() + ahead)
        found = only(postgres_checks.clock(connection))
    assert found.status == status
    assert (f"{abs(ahead):,.0f} s apart" in found.found) == (status == "problem")


def test_a_password_file_that_others_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pass words"
    monkeypatch.setenv("PGPASSFILE", str(file))
    url = sql_engine.address("postgresql://u@h/d")
    assert list(postgres_checks.password_file(url)) == []
    file.touch()
    file.chmod(0o640)
    found = only(postgres_checks.password_file(url))
    assert (found.status, f"chmod 600 '{file}'" in found.advice) == ("problem", True)
    assert list(postgres_checks.password_file(url.set(password="x"))) == []
    file.chmod(0o600)
    assert only(postgres_checks.password_file(url)).status == "fine"
