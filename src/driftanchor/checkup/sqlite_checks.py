"""What is checked of the file of an SQLite store: rights, locks, its file system and its disk."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from driftanchor.checkup.diagnosis import Diagnosis, fine, problem, sized
from driftanchor.errors import shown
from driftanchor.live.stores.sql.write_turn import lock_file
from driftanchor.render.numbers import count

if sys.platform != "win32":
    import fcntl

MOUNTS = Path("/proc/self/mountinfo")
NETWORK = re.compile(
    r"(nfs\d?|cifs|smb\d?|smbfs|ncpfs|afs|9p|ceph|glusterfs|lustre|gfs2?|fuse\..+)"
)
MEMORY = ("tmpfs", "ramfs", "devtmpfs")
LITTLE = 200_000_000  # bytes
DECISION = 300  # bytes that a decision takes with its unit and its reward


def rights(file: Path) -> Iterator[Diagnosis]:
    """Whether the store can be written, by this user and by the one that it belongs to."""
    name, folder = "store rights", file.absolute().parent
    beside = [file.with_name(file.name + end) for end in ("-wal", "-shm", "-lock")]
    try:
        owner = file.stat()
        there = [place for place in beside if place.exists()]
        foreign = [place for place in there if not _lets_write(place.stat(), owner)]
    except OSError as error:
        yield problem(name, str(error), "check the rights of the file and its folder")
        return
    locked = [place for place in (folder, file, *there) if not os.access(place, os.W_OK)]
    if foreign:
        named = ", ".join(shown(str(place)) for place in foreign)
        found = f"{named}: the user that the store belongs to cannot write to it"
        give = f"chown --reference {_words(file, *foreign)} && chmod u+w {_words(*foreign)}"
        yield problem(name, found, f"its servers and commands fail; run as root: {give}")
    elif locked:
        named = ", ".join(shown(str(place)) for place in locked)
        advice = f"commands of yours cannot use it: run them as the user with the id {owner.st_uid}"
        yield problem(name, f"you cannot write to {named}", f"{advice}, or change the rights")
    else:
        yield fine(name, "you can write to the file and its folder")


def _lets_write(found: os.stat_result, owner: os.stat_result) -> bool:
    """Whether a file beside a store can be written by the user that the store belongs to."""
    if found.st_uid == owner.st_uid:
        return bool(found.st_mode & 0o200)
    return bool(found.st_mode & (0o022 if found.st_gid == owner.st_gid else 0o002))


def _words(*places: Path) -> str:
    """Files as a shell reads them."""
    return " ".join(shlex.quote(str(place)) for place in places)


def locks(file: Path) -> Iterator[Diagnosis]:
    """Whether a lock keeps others out; writers wait in front of one. It is held for a moment."""
    if sys.platform == "win32":  # there SQLite's own locks must do
        return
    name, lock = "store lock", lock_file(file)
    place = lock if lock.exists() else file.absolute().parent
    how = os.O_RDWR if place == lock else os.O_RDONLY
    advice = "writers damage each other's work: move the store to a local disk, or use PostgreSQL"
    handles: list[int] = []
    try:
        for _ in range(2):
            handles.append(os.open(place, how | os.O_CLOEXEC))
            fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # by ourselves, or by somebody who writes now
        yield fine(name, f"locks work in {shown(str(place.parent if place == lock else place))}")
    except OSError as error:
        yield problem(name, f"locks do not work: {error}", advice)
    else:
        yield problem(name, f"{shown(str(place))} can be locked twice", advice)
    finally:
        for handle in handles:
            os.close(handle)


def file_system(file: Path) -> Iterator[Diagnosis]:
    """Whether the file is on a disk of this machine."""
    name, kind = "store place", _kind_of(file)
    if kind is None:
        yield fine(name, "this system does not say on which file system the store is")
    elif NETWORK.fullmatch(kind):
        advice = (
            "SQLite cannot share a file over a network, and may damage it: move the store to a "
            "disk of this machine, or use PostgreSQL"
        )
        yield problem(name, f"the store is on a network file system ({kind})", advice)
    elif kind in MEMORY:
        advice = "it is lost when the machine restarts: move the store to a disk"
        yield problem(name, f"the store is in memory ({kind})", advice)
    else:
        yield fine(name, f"the store is on a disk of this machine ({kind})")


def _kind_of(file: Path) -> str | None:
    """The file system that a file is on, as Linux names it."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        path = os.path.realpath(file)
    except OSError:
        return None
    best, kind = "", None
    for line in lines:
        before, _, after = line.partition(" - ")
        if len(before.split()) < 5 or not after:
            continue
        place = re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), before.split()[4])
        inside = path == place or path.startswith(f"{place.rstrip('/')}/")
        if inside and len(place) >= len(best):  # of two in one place the last hides the first
            best, kind = place, after.split()[0]
    return kind


def room(file: Path) -> Iterator[Diagnosis]:
    """Whether the disk has room for more decisions."""
    name = "store disk"
    try:
        size, free = file.stat().st_size, shutil.disk_usage(file.absolute().parent).free
    except OSError as error:
        yield problem(name, str(error), "check the disk")
        return
    more = count(free // DECISION, "more decision")
    found = f"the file has {sized(size)}; {sized(free)} are free, for about {more}"
    if free < LITTLE:
        advice = "when it is full, nothing is decided and servers answer 503: make room"
        yield problem(name, found, advice)
    else:
        yield fine(name, found)


CHECKS: tuple[Callable[[Path], Iterator[Diagnosis]], ...] = (rights, locks, file_system, room)
