"""Checks of the installation, of stores and of servers; checking changes nothing."""

from __future__ import annotations

import errno
import http.server
import json
import os
import shutil
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg
import pytest
from campaign_parts import asked, create
from http_server import HttpServer, http_server
from store_addresses import postgres_address

from benchmarks.torture.postgres import running
from driftanchor import InvalidInput, StoreUnavailable, __version__, doctor
from driftanchor.client.transport import Response, Transport
from driftanchor.compiled import kernels
from driftanchor.doctor import Check, check_all, check_server, check_store
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.migrate import LATEST, OLDER
from driftanchor.live.stores.store import open_store

if TYPE_CHECKING:
    from conftest import RunPython

OLD = sorted((Path(__file__).parent / "live/stores/old").glob("*.sql"))


def of_store(address: str) -> dict[str, Check]:
    return {check.name: check for check in check_store(address)}


def of_server(url: str, key: str | None = None) -> dict[str, Check]:
    return {check.name: check for check in check_server(url, key)}


def of_installation() -> dict[str, Check]:
    return {check.name: check for check in doctor.check_installation()}


# Installation


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_this_installation(cache: Path) -> None:
    checks = of_installation()
    assert list(checks) == ["python", "driftanchor", "numba", "cache folder"]
    assert {check.status for check in checks.values()} == {"fine"}
    assert checks["python"].found.startswith(f"Python {sys.version.split()[0]}, ")
    assert checks["driftanchor"].found.startswith(f"driftanchor {__version__}, ")
    assert "pip check" in checks["driftanchor"].advice
    assert "compiled a function in" in checks["numba"].found
    assert checks["cache folder"].found.startswith("0 bytes of compiled code")
    assert (cache / "driftanchor").stat().st_mode & 0o777 == 0o700


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    checks = of_installation()
    assert list(checks) == ["python", "driftanchor", "numba"]
    assert checks["numba"].status == "missing"
    assert 'pip install ".[fast]"' in checks["numba"].advice


def test_numba_that_is_switched_off(run_python: RunPython) -> None:
    program = "from driftanchor.doctor import check_installation as c; print(list(c())[2])"
    printed = run_python(program, env={"NUMBA_DISABLE_JIT": "1"})
    assert "status='problem', found='NUMBA_DISABLE_JIT is set'" in printed
    assert "unset NUMBA_DISABLE_JIT" in printed


def test_compiling_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("LLVM is broken")

    monkeypatch.setattr("numba.njit", fail)
    check = of_installation()["numba"]
    assert (check.status, "LLVM is broken" in check.found) == ("problem", True)
    assert "pip install --force-reinstall numba" in check.advice
    monkeypatch.setattr("numba.njit", lambda function: lambda n: 11)
    assert "2 * 21 is not 42" in of_installation()["numba"].found


def test_a_cache_folder_that_others_can_write_to(cache: Path) -> None:
    folder = cache / "driftanchor"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    check = of_installation()["cache folder"]
    assert check.status == "problem"
    assert check.found.startswith(f"other users can write to {str(folder)!r}")
    assert f"run chmod go-w {folder} {folder / 'kernels'}, or set XDG_CACHE_HOME" in check.advice


def test_a_cache_folder_that_cannot_be_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file")
    assert of_installation()["cache folder"].status == "problem"
    cache.unlink()
    monkeypatch.setattr("os.access", lambda *_: False)  # as for a user that is not root
    assert "Permission denied" in of_installation()["cache folder"].found

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kernels, "cache_home", homeless)
    assert "home directory" in of_installation()["cache folder"].found


def test_only_the_named_store_and_server_are_checked(tmp_path: Path) -> None:
    create(str(tmp_path / "store.db")).close()
    names = [check.name for check in check_all(str(tmp_path / "store.db"), "http://127.0.0.1:1")]
    assert (names[0], names[-1]) == ("python", "server")
    assert "store" in names
    assert "server" not in [check.name for check in check_all()]


@pytest.mark.parametrize("address", [{"store": "mysql://x"}, {"url": "x"}])
def test_a_wrong_address_is_refused_before_the_slow_checks(
    address: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "check_installation", pytest.fail)
    with pytest.raises(InvalidInput):
        check_all(**address)


def test_without_optional_packages(run_python: RunPython) -> None:
    program = """
import sys
for name in ("numba", "matplotlib", "duckdb", "psycopg", "uvicorn"):
    sys.modules[name] = None
from driftanchor.doctor import check_all
for check in check_all("postgresql://127.0.0.1:1/x"):
    print(check.name, check.status, check.advice)
"""
    printed = run_python(program).splitlines()
    assert [line.split()[1] for line in printed] == ["fine", "fine", "missing", "problem"]
    assert 'pip install ".[postgres]"' in printed[-1]


# Any store


def test_a_store_of_this_version(store_url: str) -> None:
    campaign = create(store_url)
    create(store_url, "d").close()
    asked(campaign)
    campaign.close()
    check = of_store(store_url)["store"]
    assert check.status == "fine"
    assert check.found.endswith(f"tables of version {LATEST}, 2 campaigns with 1 decision")


@pytest.mark.parametrize("file", [x for x in OLD if x.stem in OLDER], ids=lambda file: file.stem)
def test_a_store_of_an_older_version(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "an old one.db"
    with sqlite3.connect(path) as old:
        old.executescript(file.read_text())
    old.close()
    before = path.read_bytes()
    check = of_store(str(path))["store"]
    assert check.status == "problem"
    assert f"tables of version {file.stem}; this program has {LATEST}" in check.found
    assert f"run driftanchor store upgrade --store '{path}'" in check.advice
    assert [x.name for x in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version(store_url: str) -> None:
    store = open_store(store_url)
    newer = "UPDATE driftanchor_version SET version_num = '9999'"
    store.write(lambda session: session.run(newer))
    store.close()
    check = of_store(store_url)["store"]
    assert (check.status, "version 9999" in check.found) == ("problem", True)
    assert "or a newer one" in check.advice


def test_a_database_without_tables(postgres: str, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for address in (postgres_address(postgres), str(tmp_path / "empty.db")):
        for _ in range(2):  # the first check created nothing
            check = of_store(address)["store"]
            assert check.status == "missing"
            assert check.found.endswith("there are no tables yet")


def test_the_tables_of_another_program(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE events (x)")
    other.close()
    check = of_store(str(tmp_path / "other.db"))["store"]
    assert (check.status, "tables of another program" in check.found) == ("problem", True)


def test_a_server_that_is_away_and_no_secret_is_shown() -> None:
    check = of_store("postgresql://u:secret@127.0.0.1:1/x?password=hidden")["store"]
    assert (check.status, "cannot be reached" in check.found) == ("problem", True)
    assert "secret" not in str(check)
    assert "hidden" not in str(check)


@pytest.mark.parametrize("address", ["mysql://u:secret@x/y", "sqlite://", ":memory:"])
def test_an_unusable_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="store must") as refused:
        list(check_store(address))
    assert "secret" not in str(refused.value)


# SQLite


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A closed store; its lock file remains."""
    path = tmp_path / "store.db"
    create(f"sqlite:///{path}").close()
    return path


def lock_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-lock")


def mount(file: Path, patch: pytest.MonkeyPatch, *lines: str) -> None:
    """Pretend that these file systems are mounted."""
    table = file.parent / "mounts"
    table.write_text("".join(f"20 1 0:1 / {line}\n" for line in ("/ rw - ext4 /dev/a rw", *lines)))
    patch.setattr(doctor, "MOUNTS", table)


def test_a_store_on_a_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LOW_SPACE", 1)
    mount(file, monkeypatch)
    before = {x.name: x.read_bytes() for x in file.parent.iterdir()}
    checks = of_store(str(file))
    assert {check.status for check in checks.values()} == {"fine"}, checks
    kinds = ("rights", "lock", "place", "disk", "integrity")
    assert set(checks) == {"store", *(f"store {kind}" for kind in kinds)}
    assert checks["store integrity"].found == "no damage; the journal mode is WAL"
    assert {x.name: x.read_bytes() for x in file.parent.iterdir()} == before


def test_files_that_are_no_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")  # opening it would block
    (tmp_path / "text.db").write_text("no database " * 100)
    messages = {
        "no.db": "there is no store",
        "no/no.db": "does not exist: make it",
        "text.db/a.db": "Not a directory",
        "pipe.db": "is not a regular file",
        ".": "is not a regular file",
        "text.db": "the file is no SQLite database",
    }
    for name, message in messages.items():
        check = of_store(str(tmp_path / name))["store"]
        assert (check.status, message in check.found) == ("problem", True), check
        assert "keeps no decisions and no rewards" in check.advice
    assert sorted(x.name for x in tmp_path.iterdir()) == ["pipe.db", "text.db"]


def test_a_damaged_page(file: Path) -> None:
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size - 4096)
        damaged.write(b"\xff" * 4096)
    check = of_store(str(file))["store integrity"]
    assert (check.status, check.advice) == ("problem", "restore a backup")


def test_another_journal_mode(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    check = of_store(str(file))["store integrity"]
    assert check.found == "no damage; the journal mode is not WAL"


def test_a_file_that_changes_while_it_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = doctor._content, []

    def content(address: str) -> list[Check]:
        calls.append(address)
        if len(calls) == 1:
            raise StoreUnavailable("the file is damaged: restore a backup")
        return real(address)

    monkeypatch.setattr(doctor, "_content", content)
    assert of_store(str(file))["store"].status == "fine"


def test_a_lock_file_that_the_owner_cannot_write(file: Path) -> None:
    lock_of(file).touch()
    lock_of(file).chmod(0o444)
    check = of_store(str(file))["store rights"]
    assert check.status == "problem"
    assert "store.db-lock': the owner of the store cannot write to it" in check.found
    assert f"chown --reference {file} {lock_of(file)}" in check.advice


@pytest.mark.parametrize(
    ("uid", "gid", "mode", "status"),
    [
        (0, 0, 0o644, "problem"),
        (0, 77, 0o644, "problem"),  # its group may only read
        (0, 77, 0o664, "fine"),
        (0, 0, 0o664, "problem"),
        (0, 0, 0o666, "fine"),
        (77, 77, 0o600, "fine"),
    ],
)
def test_a_lock_file_of_root_beside_a_store_of_user_77(
    uid: int, gid: int, mode: int, status: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_of(file).touch()
    lock_of(file).chmod(mode)
    owners = {file: (77, 77), lock_of(file): (uid, gid)}
    real = Path.stat

    def fake(path: Path, **options: bool) -> os.stat_result:
        fields = [*real(path, **options)]
        fields[4:6] = owners.get(path, (0, 0))
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "stat", fake)  # only root can give files away
    assert doctor._file_rights(file).status == status


def test_a_store_that_this_user_cannot_write(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda place, how: place != file)  # root may do anything
    check = of_store(str(file))["store rights"]
    assert (check.status, check.found) == ("problem", f"you cannot write to {str(file)!r}")
    assert f"run commands as the user with the id {file.stat().st_uid}" in check.advice


def test_a_lock_that_a_program_holds(file: Path) -> None:
    import fcntl

    with lock_of(file).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert of_store(str(file))["store lock"].found == "a program writes at this moment"
    lock_of(file).unlink()
    check = of_store(str(file))["store lock"]
    assert (check.status, check.found[:10]) == ("fine", "locks work")
    assert not lock_of(file).exists()


def test_a_file_system_without_locks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    check = doctor._file_lock(file)
    assert (check.status, "No locks available" in check.found) == ("problem", True)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        *((kind, "problem") for kind in ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs")),
        *((kind, "problem") for kind in ("tmpfs", "ramfs")),
        *((kind, "fine") for kind in ("ext4", "xfs", "btrfs", "zfs", "overlay")),
    ],
)
def test_the_file_system(
    kind: str, status: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = file.resolve().parent
    mount(file, monkeypatch, f"{place.parent} rw - xfs x rw", f"{place} rw shared:1 - {kind} x rw")
    check = of_store(str(file))["store place"]
    assert (check.status, kind in check.found) == (status, True)
    mount(file, monkeypatch, f"{place}er rw - {kind} x rw", "broken")
    assert of_store(str(file))["store place"].found.endswith("(ext4)")
    monkeypatch.setattr(doctor, "MOUNTS", file.with_name("nothing"))
    assert of_store(str(file))["store place"].status == "fine"


def test_a_mount_point_with_a_blank_and_a_link_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "on nfs"
    folder.mkdir()
    link = tmp_path / "store.db"
    link.symlink_to(folder / "store.db")
    (folder / "store.db").touch()
    mount(link, monkeypatch, str(folder.resolve()).replace(" ", "\\040") + " rw - nfs4 x rw")
    assert of_store(str(link))["store place"].status == "problem"


def test_a_disk_that_is_almost_full(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "shutil.disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 3_000)
    )
    check = of_store(str(file))["store disk"]
    assert check.status == "problem"
    assert "3 kB are free, for about 10 more decisions" in check.found
    assert "make room" in check.advice


# PostgreSQL


def admin(folder: str, *statements: str) -> None:
    with psycopg.connect(host=folder, user="postgres", dbname="postgres") as connection:
        for statement in statements:
            connection.execute(statement.encode())


def test_a_postgresql_that_is_fine(tmp_path: Path) -> None:
    with running(fsync=True) as server:
        address = postgres_address(str(server.folder))
        create(address).close()
        checks = of_store(address)
        assert {check.status for check in checks.values()} == {"fine"}, checks
        assert list(checks) == ["store", "store durability", "store rights", "store clock"]
        check = of_store(f"{address}{quote(' -csynchronous_commit=off')}")["store durability"]
        assert (check.status, check.found) == (
            "problem",
            "synchronous_commit is off (set by: client)",
        )
        assert "lose acknowledged decisions" in check.advice


def test_a_user_without_rights(postgres: str) -> None:
    address = postgres_address(postgres)
    schema, user = address.rpartition("%3D")[2], "reader"
    admin(postgres, f"DROP ROLE IF EXISTS {user}", f"CREATE ROLE {user} LOGIN")
    theirs = address.replace("postgres@", f"{user}@")
    admin(postgres, f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    check = of_store(theirs)["store rights"]
    assert (check.status, "may not create tables" in check.found) == ("problem", True)
    admin(postgres, check.advice.removeprefix("run "))
    assert of_store(theirs)["store rights"].status == "fine"
    create(address).close()
    admin(postgres, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}")
    check = of_store(theirs)["store rights"]
    assert check.status == "problem"
    assert "may not read and write the tables api_keys, " in check.found
    admin(postgres, *check.advice.removeprefix("run ").split("; "))
    assert of_store(theirs)["store rights"].status == "fine"
    create(theirs, "d").close()  # and that is all it needs
    admin(postgres, f"ALTER ROLE {user} SET default_transaction_read_only = on")
    check = of_store(theirs)["store rights"]
    assert (check.status, "only read" in check.found) == ("problem", True)
    admin(postgres, check.advice.removeprefix("run "))
    assert of_store(theirs)["store rights"].status == "fine"
    admin(postgres, f"DROP OWNED BY {user}", f"DROP ROLE {user}")


def test_a_schema_that_is_not_there(postgres: str) -> None:
    address = postgres_address(postgres).rpartition("%3D")[0] + "%3Dnowhere"
    check = of_store(address)["store rights"]
    assert (check.status, "no schema" in check.found) == ("problem", True)


def test_a_standby(postgres: str) -> None:
    """A function of the same name stands for one: PostgreSQL's own would need a second server."""
    address = postgres_address(postgres)
    schema = address.rpartition("%3D")[2]
    fake = "pg_is_in_recovery() RETURNS bool LANGUAGE sql AS 'SELECT true'"
    admin(postgres, f"CREATE FUNCTION {schema}.{fake}")
    check = of_store(f"{address},pg_catalog")["store rights"]
    assert (check.status, check.advice) == ("problem", "name the primary")


@pytest.mark.parametrize(
    ("ahead", "status"), [(-3_600.0, "problem"), (60.0, "problem"), (0, "fine")]
)
def test_clocks(ahead: float, status: str, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    monkeypatch.setattr("time.time", lambda: real() + ahead)
    check = of_store(postgres_address(postgres))["store clock"]
    assert check.status == status
    assert (f"{abs(ahead):,.0f} s apart" in check.found) == (status == "problem")


# Servers


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HttpServer]:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    create(address).close()
    with http_server(address) as running:
        yield running


@contextmanager
def answering(status: int, answers: dict[str, object]) -> Iterator[str]:
    """Run another server: JSON at these paths, text elsewhere. Yields its address."""

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path.partition("?")[0])
            body = b"<html>" if answer is None else json.dumps(answer).encode()
            self.send_response(status if answer is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{other.server_port}"
        finally:
            other.shutdown()
            thread.join()


def test_a_server_that_runs(server: HttpServer) -> None:
    checks = of_server(server.url)
    assert list(checks) == ["server", "server store", "server version", "server key"]
    assert {check.status for check in checks.values()} == {"fine"}, checks
    assert checks["server store"].found.endswith("which has 1 campaign")
    assert checks["server version"].found == f"it has version {__version__}, as we do"
    assert checks["server key"].found == "it needs no key, and checks none"
    assert of_server(server.url, "wrong")["server key"].found == "it needs no key, and checks none"


def test_keys(server: HttpServer) -> None:
    store = open_store(server.store)
    keys = {}
    for role in ("read", "decide"):
        keys[role], row = make_key([role], now=time.time())
        store.add_key(row)
    store.close()
    server.stop()
    server.start()
    assert "needs a key" in of_server(server.url)["server key"].found
    assert of_server(server.url, f"{keys['read']}\n")["server key"].found == "it accepts the key"
    assert "may not read campaigns" in of_server(server.url, keys["decide"])["server key"].found
    unknown = make_key(["read"], now=time.time())[0]
    check = of_server(server.url, unknown)["server key"]
    assert check.status == "problem"
    assert "unknown, expired or revoked" in check.found
    assert "driftanchor keys create" in check.advice
    assert unknown not in str(check)


def test_a_key_is_not_sent_to_others_in_plain_text(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "is_local", lambda place: False)
    sent: list[dict[str, str]] = []
    real = Transport.exchange

    def exchange(
        transport: Transport,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        seconds: float,
    ) -> Response:
        sent.append(headers)
        return real(transport, method, path, body, headers, seconds)

    monkeypatch.setattr(Transport, "exchange", exchange)
    check = of_server(server.url, "da_read_x")["server key"]
    assert check.status == "problem"
    assert check.found == "the key was not sent: this address has no TLS"
    assert [headers for headers in sent if headers] == []


def test_no_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (check,) = of_server(f"http://127.0.0.1:{port}").values()
    assert (check.name, check.status) == ("server", "problem")
    assert "Connection refused" in check.found
    assert "driftanchor serve" in check.advice


def test_a_server_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SERVER_TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (check,) = of_server(f"http://127.0.0.1:{silent.getsockname()[1]}").values()
    assert (check.status, check.found.endswith("it takes too long")) == ("problem", True)


@pytest.mark.parametrize("status", [200, 404])
def test_another_program(status: int) -> None:
    with answering(status, {}) as url:
        (check,) = of_server(url).values()
    assert (check.status, f"(it answers {status})" in check.found) == ("problem", True)


def test_https_where_there_is_none(server: HttpServer) -> None:
    (check,) = of_server(server.url.replace("http:", "https:")).values()
    assert (check.name, check.status) == ("server", "problem")


def test_another_version() -> None:
    answers = {
        "/livez": {"status": "ok"},
        "/readyz": {"status": "ok"},
        "/openapi.json": {"info": {"version": "0.0.9"}},
        "/v1/campaigns": {"campaigns": []},
    }
    with answering(404, answers) as url:
        checks = of_server(url)
    assert checks["server version"].found == f"it has version 0.0.9, and we have {__version__}"
    assert [name for name, x in checks.items() if x.status == "problem"] == ["server version"]
    odd = {"/livez": {"status": "ok"}, "/openapi.json": {"info": []}, "/readyz": {"checks": 7}}
    with answering(200, odd) as url:
        checks = of_server(url)
    assert checks["server store"].found == "it can read its store"
    assert checks["server version"].status == "problem"


def test_a_server_whose_store_is_away(server: HttpServer) -> None:
    Path(server.store.removeprefix("sqlite:///")).rename(f"{server.store[10:]}-away")
    checks = of_server(server.url)
    assert checks["server"].status == "fine"
    assert checks["server store"].status == "problem"
    assert "the store does not answer" in checks["server store"].found
    assert "doctor --store" in checks["server store"].advice


def test_a_server_that_stops_meanwhile(server: HttpServer) -> None:
    checks = check_server(server.url)
    assert next(checks).status == "fine"
    server.stop()
    (rest,) = list(checks)
    assert (rest.name, rest.status) == ("server", "problem")
    server.start()


@pytest.mark.parametrize(
    ("url", "key"), [("ftp://x", None), ("http://u:secret@x", None), ("http://x", "a b secret")]
)
def test_an_unusable_url_or_key_is_refused(url: str, key: str | None) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        list(check_server(url, key))
