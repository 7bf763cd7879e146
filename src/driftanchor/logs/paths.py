"""The files of logs: found by name or pattern, under an allowed folder, of a known format."""

from __future__ import annotations

import glob
import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from driftanchor.core.provenance import Source
from driftanchor.errors import InvalidInput, shown
from driftanchor.logs.query import Format

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
COMPRESSIONS = (".gz", ".zst")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
BOM = b"\xef\xbb\xbf"
WHOLE = 8 * 2**20  # bytes of a file that is hashed whole: a few milliseconds
SAMPLES, SAMPLE = 64, 2**14  # of a larger one, so many parts of so many bytes, evenly spread


@dataclass(frozen=True)
class LogFile:
    """A file: its name as given, where it is, what is in it."""

    name: str
    path: Path
    format: Format
    compression: str

    def open(self) -> BinaryIO | None:
        """Its bytes, unpacked; none for a compression that Python cannot unpack."""
        if self.compression == ".zst":
            return None
        return cast(BinaryIO, gzip.open(self.path)) if self.compression else self.path.open("rb")

    def source(self, *, full_hash: bool) -> Source:
        """What to remember of it."""
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            if full_hash or size <= WHOLE:
                return Source(
                    self.name, f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}", size
                )
            state = hashlib.sha256(str(size).encode())
            for i in range(SAMPLES):
                file.seek(i * (size - SAMPLE) // (SAMPLES - 1))
                state.update(file.read(SAMPLE))
        return Source(self.name, f"sha256-sampled:{state.hexdigest()}", size)


def find(
    logs: Iterable[str | os.PathLike[str]],
    *,
    root: str | os.PathLike[str] | None = None,
    format: str | None = None,
) -> list[LogFile]:
    """The files that paths and patterns name, all of one format.

    Args:
        logs: Paths, or patterns with `*`, `?`, `[…]` and `**`.
        root: Refuse what is outside this folder, links followed.
        format: What the files are; by default their suffixes say.
    """
    found: dict[Path, LogFile] = {}
    for name in (each for pattern in logs for each in _matches(pattern)):
        path = _checked(name, root)
        if path in found:
            raise InvalidInput(f"{name!r} is given twice: its rows would count twice")
        file = LogFile(name, path, *_format(name, format))
        _peek(file)
        found[path] = file
    if not found:
        raise InvalidInput("no files are given")
    kinds = {file.format: file.name for file in found.values()}
    if len(kinds) > 1:
        (a, first), (b, second) = list(kinds.items())[:2]
        raise InvalidInput(f"{first!r} is {a} and {second!r} is {b}: read one format at a time")
    return list(found.values())


def _matches(pattern: str | os.PathLike[str]) -> list[str]:
    text = os.fspath(pattern)
    if not text or "\0" in text:
        raise InvalidInput(f"a log file must be named by text, got {shown(pattern)}")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise InvalidInput(f"{text!r} is not a local file: fetch it first, or give an Ibis table")
    if not glob.has_magic(text):
        return [text]
    names = [name for name in sorted(glob.glob(text, recursive=True)) if not os.path.isdir(name)]
    if not names:
        raise InvalidInput(f"no file matches {text!r}")
    return names


def _checked(name: str, root: str | os.PathLike[str] | None) -> Path:
    """Where a file really is; outside the root nothing is told of it."""
    try:
        path = Path(name).resolve()
        if root is not None and not path.is_relative_to(Path(root).resolve()):
            raise InvalidInput(f"{name!r} is outside the allowed folder {os.fspath(root)!r}")
        status = path.stat()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot read {name!r}: {reason}") from error
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{name!r} is not a regular file")
    if status.st_size == 0:
        raise InvalidInput(f"{name!r} is empty")
    if glob.has_magic(str(path)):  # DuckDB would take it for a pattern
        raise InvalidInput(f"{name!r} has *, ? or [ in its path, which stand for patterns: rename")
    return path


def _format(name: str, format: str | None) -> tuple[Format, str]:
    stem, suffix = os.path.splitext(name.lower())
    compression = suffix if suffix in COMPRESSIONS else ""
    if compression:
        suffix = os.path.splitext(stem)[1]
    kind = cast(Format | None, format) or SUFFIXES.get(suffix)
    if kind is None:
        raise InvalidInput(
            f"{name!r} does not say its format: use one of {', '.join(SUFFIXES)} (with .gz or .zst "
            "if compressed), or say format csv, parquet or jsonl"
        )
    return kind, compression


def _peek(file: LogFile) -> None:
    """Refuse what DuckDB would take for something else, by its first bytes."""
    opened = None if file.format == "parquet" else file.open()
    if opened is None:
        return
    try:
        with opened:
            head = opened.read(1024)
    except (OSError, EOFError, zlib.error) as error:  # damaged, or not packed at all
        raise InvalidInput(f"cannot read {file.name!r}: {error}") from error
    if head.startswith(UTF_16) or b"\0" in head:
        raise InvalidInput(
            f"{file.name!r} is UTF-16 or no text at all: convert it to UTF-8 first, as in "
            "iconv -f UTF-16 -t UTF-8"
        )
    if file.format == "jsonl" and head.startswith(BOM):
        raise InvalidInput(f"{file.name!r} starts with a byte order mark: remove it (tail -c +4)")
    if file.format == "jsonl" and head.lstrip().startswith(b"["):
        raise InvalidInput(f"{file.name!r} is a JSON array: write one object a line (jq -c '.[]')")
