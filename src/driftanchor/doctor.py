"""Checks of the installation, of a store and of a server, for `driftanchor doctor`.

Every check only reads.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import ssl
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from driftanchor.client.transport import Response, Transport, usable_key
from driftanchor.errors import (
    MissingExtra,
    StoreMismatch,
    StoreUnavailable,
    excerpt,
    how_to_install,
    shown,
)
from driftanchor.live.stores import migrate
from driftanchor.live.stores.address import Address, missing_folder, parse_address
from driftanchor.live.stores.statements import Session
from driftanchor.live.stores.store import open_read_only
from driftanchor.render.numbers import count
from driftanchor.serve.loopback import is_local
from driftanchor.version import __version__

if sys.platform != "win32":
    import fcntl

FINE, MISSING, PROBLEM = "fine", "missing", "problem"
STOPPED = "until then this store keeps no decisions and no rewards"
UNSERVED = "clients play their default arms, or fail"
INTERPRETED = "simulations and decisions among many arms take longer"
RECOMPILES = "each process compiles anew, for some seconds"
MOUNTS = Path("/proc/self/mountinfo")
NETWORK = re.compile(
    r"(nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|9p|ceph|glusterfs|lustre|gfs2?|fuse\..+)"
)
MEMORY = ("tmpfs", "ramfs", "devtmpfs")
LOW_SPACE = 200_000_000  # bytes
DECISION_SIZE = 300  # bytes of a decision with its unit and its reward
DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
MAX_CLOCK_SKEW = 5.0  # seconds
SERVER_TIMEOUT = 5.0  # seconds


@dataclass(frozen=True)
class Check:
    """The result of a check.

    Attributes:
        name: The subject, such as `"store rights"`.
        status: `"fine"`, `"missing"` (optional and not there) or `"problem"`.
        found: The facts.
        advice: The consequence and the remedy; may be empty.
    """

    name: str
    status: str
    found: str
    advice: str = ""


def check_all(
    store: str | None = None, url: str | None = None, key: str | None = None
) -> list[Check]:
    """Check the installation, and a store and a server if they are named.

    Args:
        store: The address of a store.
        url: The address of a server.
        key: A key for that server.

    Raises:
        InvalidInput: An address or the key cannot be used.
    """
    named: list[Check] = []  # first: reports a wrong address before the slow checks
    if store is not None:
        named += _store(store)
    if url is not None:
        named += check_server(url, key)
    return [*check_installation(), *named]


# Installation


def check_installation() -> Iterator[Check]:
    """Check Python, Numba and the cache folder; `pip check` compares package versions."""
    yield Check("python", FINE, f"Python {platform.python_version()}, {sys.executable}")
    place = Path(__file__).parent
    pip = "'pip check' shows whether the versions of all packages fit"
    yield Check("driftanchor", FINE, f"driftanchor {__version__}, {place}", pip)
    if importlib.util.find_spec("numba") is None:
        advice = f"{INTERPRETED}; {how_to_install('fast')}"
        yield Check("numba", MISSING, "Numba is not installed", advice)
        return
    yield _compiling()
    yield _cache_folder()


def _compiling() -> Check:
    name, start = "numba", time.perf_counter()
    try:
        numba: Any = importlib.import_module("numba")
        if numba.config.DISABLE_JIT:
            advice = f"{INTERPRETED}; run unset NUMBA_DISABLE_JIT"
            return Check(name, PROBLEM, "NUMBA_DISABLE_JIT is set", advice)
        if numba.njit(lambda n: 2 * n)(21) != 42:
            raise RuntimeError("2 * 21 is not 42")
    except Exception as error:  # from Numba, LLVM or a package of the wrong version
        advice = f"{INTERPRETED}; run pip check, and pip install --force-reinstall numba"
        return Check(name, PROBLEM, f"compiling fails: {excerpt(str(error))}", advice)
    seconds = time.perf_counter() - start
    return Check(name, FINE, f"Numba {numba.__version__} compiled a function in {seconds:.1f} s")


def _cache_folder() -> Check:
    name = "cache folder"
    kernels: Any = importlib.import_module("driftanchor.compiled.kernels")
    move = "or set XDG_CACHE_HOME to a folder of yours"
    try:
        folder: Path = kernels.cache_home()
        for place in (folder.parent, folder):  # mkdir applies the mode only to the last folder
            place.mkdir(0o700, parents=True, exist_ok=True)
        shared = kernels.open_to_others(folder.parent, folder)
        if shared is not None:
            both = f"{shlex.quote(str(folder.parent))} {shlex.quote(str(folder))}"
            risk = f"other users can write to {shown(str(shared))}, so it is not used"
            return Check(name, PROBLEM, risk, f"{RECOMPILES}; run chmod go-w {both}, {move}")
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "Permission denied", str(folder))
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home folder
        return Check(name, PROBLEM, str(error), f"{RECOMPILES}; make the folder writable, {move}")
    return Check(name, FINE, f"{_size(size)} of compiled code in {shown(str(folder))}")


# Stores


def _store(address: str) -> list[Check]:
    try:
        return list(check_store(address))
    except MissingExtra as error:
        return [Check("store", PROBLEM, "it cannot be opened", str(error))]


def check_store(address: str) -> Iterator[Check]:
    """Check the store at an address, without creating it.

    Raises:
        InvalidInput: The address cannot be used.
        MissingExtra: The driver is not installed.
    """
    file = parse_address(address).file
    if file is not None:
        missing = _missing_file(file)
        if missing is not None:
            advice = "'driftanchor campaign create' makes a store, and --store names another"
            yield Check("store", PROBLEM, missing, f"{STOPPED}; {advice}")
            return
        yield from (_file_rights(file), _file_lock(file), _file_system(file), _disk_space(file))
    try:
        yield from _content(address)
    except StoreUnavailable:
        try:  # again: a program may have started to write to the SQLite file meanwhile
            yield from _content(address)
        except StoreUnavailable as error:
            yield Check("store", PROBLEM, str(error), STOPPED)


def _content(address: str) -> list[Check]:
    parsed = parse_address(address)
    with open_read_only(address) as session:
        tables = _tables(session, parsed)
        if parsed.file is not None:
            return [tables, _integrity(session, parsed.file)]
        return [tables, _durability(session), _grants(session), _clock(session)]


def _missing_file(file: Path) -> str | None:
    """Return why this is not a regular file, without opening it: opening a pipe would block."""
    try:
        regular = stat.S_ISREG(file.stat().st_mode)
    except FileNotFoundError:
        return missing_folder(file) or f"there is no store {shown(str(file))}"
    except OSError as error:
        return str(error)
    return None if regular else f"{shown(str(file))} is not a regular file"


def _file_rights(file: Path) -> Check:
    """Check that this user, and the owner of the store, can write to all its files."""
    name = "store rights"
    try:
        owner = file.stat()
        beside = [file.with_name(file.name + end) for end in ("-wal", "-shm", "-lock")]
        beside = [place for place in beside if place.exists()]
        foreign = [place for place in beside if not _writable_by(owner, place.stat())]
    except OSError as error:
        return Check(name, PROBLEM, str(error), "check the rights of the file and its folder")
    if foreign:
        found = f"{_listed(foreign)}: the owner of the store cannot write to it"
        files, others = _words(file, *foreign), _words(*foreign)
        repair = f"run as root: chown --reference {files} && chmod u+w {others}"
        return Check(name, PROBLEM, found, f"its servers and commands fail; {repair}")
    closed = [x for x in (file.absolute().parent, file, *beside) if not os.access(x, os.W_OK)]
    if closed:
        advice = f"run commands as the user with the id {owner.st_uid}, or change the rights"
        return Check(name, PROBLEM, f"you cannot write to {_listed(closed)}", advice)
    return Check(name, FINE, "you can write to the file and its folder")


def _writable_by(owner: os.stat_result, status: os.stat_result) -> bool:
    """Return whether the owner of the store can write to a file with this status."""
    if status.st_uid == owner.st_uid:
        return bool(status.st_mode & 0o200)
    return bool(status.st_mode & (0o022 if status.st_gid == owner.st_gid else 0o002))


def _file_lock(file: Path) -> Check:
    """Check that locks work beside the file; releases the lock at once."""
    name = "store lock"
    if sys.platform == "win32":
        return Check(name, FINE, "SQLite's own locks are used")
    lock = file.with_name(f"{file.name}-lock")
    place = lock if lock.exists() else file.absolute().parent
    try:
        handle = os.open(place, (os.O_RDWR if place == lock else os.O_RDONLY) | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except BlockingIOError:
        return Check(name, FINE, "a program writes at this moment")
    except OSError as error:
        advice = "writers can damage the store: move it to a local disk, or use PostgreSQL"
        return Check(name, PROBLEM, f"locks do not work: {error}", advice)
    return Check(name, FINE, "locks work, and no program writes at this moment")


def _file_system(file: Path) -> Check:
    name, kind = "store place", _mounted(file)
    if kind is None:
        return Check(name, FINE, "this system does not show the file system of the store")
    if NETWORK.fullmatch(kind):
        advice = "SQLite can damage it there: move it to a disk of this machine, or use PostgreSQL"
        return Check(name, PROBLEM, f"the store is on a network file system ({kind})", advice)
    if kind in MEMORY:
        advice = "it is lost when the machine restarts: move the store to a disk"
        return Check(name, PROBLEM, f"the store is in memory ({kind})", advice)
    return Check(name, FINE, f"the store is on a disk of this machine ({kind})")


def _mounted(file: Path) -> str | None:
    """Return the type of the file system of a file, as Linux names it."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        path = os.path.realpath(file)
    except OSError:
        return None
    longest, kind = "", None
    for line in lines:
        before, _, after = line.partition(" - ")
        if len(before.split()) < 5 or not after:
            continue
        mount = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), before.split()[4])
        inside = path == mount or path.startswith(f"{mount.rstrip('/')}/")
        if inside and len(mount) >= len(longest):  # of two mounts on one path, the last counts
            longest, kind = mount, after.split()[0]
    return kind


def _disk_space(file: Path) -> Check:
    name = "store disk"
    try:
        size, free = file.stat().st_size, shutil.disk_usage(file.absolute().parent).free
    except OSError as error:
        return Check(name, PROBLEM, str(error), "check the disk")
    room = f"{_size(free)} are free, for about {count(free // DECISION_SIZE, 'more decision')}"
    found = f"the file has {_size(size)}; {room}"
    if free < LOW_SPACE:
        advice = "when the disk is full, decisions fail and servers answer 503: make room"
        return Check(name, PROBLEM, found, advice)
    return Check(name, FINE, found)


def _integrity(session: Session, file: Path) -> Check:
    name = "store integrity"
    (result,) = session.rows("PRAGMA quick_check(1)")[0]
    if result != "ok":
        return Check(name, PROBLEM, f"the file is damaged: {excerpt(result)}", "restore a backup")
    with file.open("rb") as header:
        mode = header.read(20)[18:]
    if mode == b"\2\2":
        return Check(name, FINE, "no damage; the journal mode is WAL")
    advice = "the next command that opens the store switches to WAL"
    return Check(name, FINE, "no damage; the journal mode is not WAL", advice)


def _tables(session: Session, address: Address) -> Check:
    """Check the version of the tables, and count campaigns and decisions."""
    name, store = "store", address.name.removeprefix("the ")
    version = migrate.version_of(session)
    if version is None:
        try:
            migrate.refuse_other_tables(session)
        except StoreMismatch as error:
            return Check(name, PROBLEM, str(error), STOPPED)
        advice = "nothing to do: the first command that writes to it creates them"
        return Check(name, MISSING, f"{store}: there are no tables yet", advice)
    found = f"{store}: tables of version {version}"
    if version == migrate.LATEST:
        ((campaigns, decisions),) = session.rows(
            "SELECT (SELECT count(*) FROM campaigns), (SELECT sum(decisions) FROM heads)"
        )
        content = f"{count(campaigns, 'campaign')} with {count(int(decisions or 0), 'decision')}"
        return Check(name, FINE, f"{found}, {content}")
    if version in migrate.OLDER:
        # The address of a server may hold a password.
        option = f"--store {_words(address.file)}" if address.file else "with the same --store"
        remedy = f"{migrate.COPY_FIRST}, and run driftanchor store upgrade {option}"
    else:
        remedy = "install the driftanchor that wrote it, or a newer one"
    found = f"{found}; this program has {migrate.LATEST}"
    return Check(name, PROBLEM, found, f"{STOPPED}: {remedy}")


def _durability(session: Session) -> Check:
    """Check that PostgreSQL waits for the disk."""
    names = ", ".join(f"'{name}'" for name in DURABLE)
    rows = session.rows(f"SELECT name, setting, source FROM pg_settings WHERE name IN ({names})")
    off = [f"{name} is off (set by: {source})" for name, value, source in rows if value == "off"]
    if off:
        advice = "a crash can lose acknowledged decisions and rewards: switch it on"
        return Check("store durability", PROBLEM, ", ".join(off), advice)
    on = ", ".join(f"{name} is {value}" for name, value, _ in sorted(rows))
    return Check("store durability", FINE, on)


def _grants(session: Session) -> Check:
    """Check that the user of PostgreSQL may write."""
    name = "store rights"
    ((user, schema, standby),) = session.rows(
        "SELECT current_user, current_schema(), pg_is_in_recovery()"
    )
    ((read_only,),) = session.rows("SHOW default_transaction_read_only")
    if standby:
        found = "the server is a standby, which cannot be written"
        return Check(name, PROBLEM, found, "name the primary")
    if read_only == "on":
        advice = f"run ALTER ROLE {_quoted(user)} SET default_transaction_read_only = off"
        return Check(name, PROBLEM, f"transactions of user {user!r} only read", advice)
    if schema is None:
        advice = "create the schema, or name another with search_path"
        return Check(name, PROBLEM, "no schema of search_path exists", advice)
    names = ", ".join(f"'{table}'" for table in sorted(migrate.TABLES))
    tables = session.rows(
        "SELECT relname, has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') "
        "AND has_table_privilege(oid, 'UPDATE') FROM pg_class WHERE relkind = 'r' "
        f"AND relnamespace = current_schema()::regnamespace AND relname IN ({names}) "
        f"AND relname != '{migrate.VERSION_TABLE}' ORDER BY relname"
    )
    if not tables:
        ((may_create,),) = session.rows("SELECT has_schema_privilege(current_schema(), 'CREATE')")
        if may_create:
            return Check(name, FINE, f"user {user!r} may create tables in {schema!r}")
        advice = f"run GRANT CREATE ON SCHEMA {_quoted(schema)} TO {_quoted(user)}"
        return Check(name, PROBLEM, f"user {user!r} may not create tables in {schema!r}", advice)
    closed = [table for table, may_write in tables if not may_write]
    if closed:
        place = f"IN SCHEMA {_quoted(schema)} TO {_quoted(user)}"
        advice = (
            f"run GRANT SELECT, INSERT, UPDATE ON ALL TABLES {place}; "
            f"GRANT USAGE ON ALL SEQUENCES {place}"
        )
        found = f"user {user!r} may not read and write the tables {', '.join(closed)}"
        return Check(name, PROBLEM, found, advice)
    return Check(name, FINE, f"user {user!r} may read and write all tables")


def _clock(session: Session) -> Check:
    """Compare the clocks of PostgreSQL and of this machine."""
    before = time.time()
    ((theirs,),) = session.rows("SELECT extract(epoch FROM clock_timestamp())")
    after = time.time()
    skew = max(before - float(theirs), float(theirs) - after, 0.0)
    if skew > MAX_CLOCK_SKEW:
        found = f"the clocks of the server and of this machine are {skew:,.0f} s apart"
        advice = "reward windows and keys end too early or too late: set both by NTP"
        return Check("store clock", PROBLEM, found, advice)
    return Check("store clock", FINE, "the clocks of the server and of this machine agree")


# Servers


def check_server(url: str, key: str | None = None) -> Iterator[Check]:
    """Check the server at an address.

    Args:
        url: The address.
        key: A key for it, if there is one.

    Raises:
        InvalidInput: The address or the key cannot be used.
    """
    transport = Transport(url)
    key = None if key is None else usable_key(key)

    def get(path: str, key: str | None = None) -> Response:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return transport.run_within(
            SERVER_TIMEOUT, lambda: transport.exchange("GET", path, None, headers, SERVER_TIMEOUT)
        )

    try:
        response = get("/livez")
        if response.status != 200 or _parsed(response) != {"status": "ok"}:
            found = f"{transport.url} is no driftanchor (it answers {response.status})"
            advice = f"{UNSERVED}: check the address and the proxy in front of it"
            yield Check("server", PROBLEM, found, advice)
            return
        yield Check("server", FINE, f"a server answers at {transport.url}")
        yield _ready(get("/readyz?verbose"))
        yield _server_version(get("/openapi.json"))
        yield _server_key(get, transport.url, key)
    except (OSError, http.client.HTTPException) as error:
        reason = "it takes too long" if isinstance(error, TimeoutError) else excerpt(str(error))
        remedy = "check the address, and that 'driftanchor serve' runs there"
        if isinstance(error, ssl.SSLCertVerificationError):
            remedy = "set SSL_CERT_FILE to the certificate of its authority"
        found = f"no answer from {transport.url}: {reason}"
        yield Check("server", PROBLEM, found, f"{UNSERVED}: {remedy}")
    finally:
        transport.close()


def _ready(response: Response) -> Check:
    if response.status != 200:
        remedy = "run driftanchor doctor --store on its machine, as its user"
        found = f"it is not ready: {_detail(response)}"
        return Check("server store", PROBLEM, found, f"{UNSERVED}: {remedy}")
    campaigns = _member(_parsed(response), "checks", "campaigns")
    number = f", which has {count(campaigns, 'campaign')}" if isinstance(campaigns, int) else ""
    return Check("server store", FINE, f"it can read its store{number}")


def _server_version(response: Response) -> Check:
    theirs = excerpt(str(_member(_parsed(response), "info", "version")))
    if theirs == __version__:
        return Check("server version", FINE, f"it has version {theirs}, as we do")
    found = f"it has version {theirs}, and we have {__version__}"
    advice = "one may lack features of the other: install the same version"
    return Check("server version", PROBLEM, found, advice)


def _server_key(get: Callable[..., Response], url: str, key: str | None) -> Check:
    """Check whether a key is needed, and whether this one works."""
    name, parts = "server key", urlsplit(url)
    if key is not None and parts.scheme == "http" and not is_local(parts.netloc.encode()):
        found = "the key was not sent: this address has no TLS"
        advice = "others could read it: put a proxy with TLS in front of the server, and use https"
        return Check(name, PROBLEM, found, advice)
    response = get("/v1/campaigns", key)
    code = _member(_parsed(response), "code")
    if code == "role_missing":
        return Check(name, FINE, "it accepts the key, which may not read campaigns (role read)")
    if response.status == 200:
        is_open = key is None or get("/v1/campaigns").status == 200
        return Check(
            name, FINE, "it needs no key, and checks none" if is_open else "it accepts the key"
        )
    if code == "key_missing" and key is None:
        found = "it needs a key, and none was given: --key-file names the file of one"
        return Check(name, FINE, found)
    advice = "requests with it are refused; run driftanchor keys create --role decide"
    return Check(name, PROBLEM, f"it refuses the key: {_detail(response)}", advice)


def _parsed(response: Response) -> Any:
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return None


def _member(data: Any, *names: str) -> Any:
    """Return a nested member of JSON; `None` if there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _detail(response: Response) -> str:
    return excerpt(str(_member(_parsed(response), "detail") or response.status))


# Texts


def _size(size: float) -> str:
    """Format a number of bytes.

    Example:
        >>> [_size(x) for x in (0, 999, 12_345, 300e6, 4.56e12)]
        ['0 bytes', '999 bytes', '12.3 kB', '300 MB', '4.56 TB']
    """
    if size < 1_000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1_000
        if size < 999.5:
            return f"{size:.3g} {unit}"
    return f"{size / 1_000:.3g} TB"


def _listed(places: list[Path]) -> str:
    return ", ".join(shown(str(place)) for place in places)


def _words(*places: Path) -> str:
    """Quote file names for a shell."""
    return " ".join(shlex.quote(str(place)) for place in places)


def _quoted(name: str) -> str:
    """Quote an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
