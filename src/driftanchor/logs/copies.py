"""Files with the same content, packed or not: their rows would count twice.

Two days may have the same few rows, so copies are named in a warning and not refused. Files are
read for this only if their sizes are the same.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from driftanchor.logs.log_file import LogFile

FEW = 3  # pairs that are named


def copies(files: Sequence[LogFile]) -> list[str]:
    """Warnings that name the files with the same content."""
    found: list[tuple[str, str]] = []
    for alike in _alike(files, _size):
        packing = {file.compression for file in alike}
        likely = _alike(alike, _sampled) if len(packing) == 1 else [alike]
        for same in (group for part in likely for group in _alike(part, _content)):
            found += [(same[0].name, other.name) for other in same[1:]]
    doubts = [
        f"{b!r} has the same content as {a!r}: if it is a copy, its rows count twice; leave it out"
        for a, b in found[:FEW]
    ]
    more = len(found) - FEW
    return (
        doubts if more <= 0 else [*doubts, f"{more:,} more files have the content of another one"]
    )


def _alike(files: Iterable[LogFile], key: Callable[[LogFile], Hashable]) -> Iterable[list[LogFile]]:
    """The files that share a key with another one, by key."""
    found: dict[Hashable, list[LogFile]] = defaultdict(list)
    for file in files:
        found[key(file)].append(file)
    return [group for group in found.values() if len(group) > 1]


def _size(file: LogFile) -> Hashable:
    """Its size unpacked, modulo 2³²; of a compression that Python does not know, its own."""
    size = file.path.stat().st_size
    if file.compression == ".gz":
        with file.path.open("rb") as packed:
            packed.seek(-4, 2)
            return int.from_bytes(packed.read(4), "little")
    return f"{size} packed" if file.compression else size % 2**32


def _sampled(file: LogFile) -> Hashable:
    return file.source(full_hash=False).digest


def _content(file: LogFile) -> Hashable:
    """The digest of what is in it, unpacked."""
    state = hashlib.sha256()
    for piece in file.pieces():
        state.update(piece)
    return state.digest()
