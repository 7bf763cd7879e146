"""The files of logs: found by name or pattern, under an allowed folder, of a known format."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from driftanchor.errors import InvalidInput, shown
from driftanchor.files import is_unicode
from driftanchor.logs.formats import FORMATS, SUFFIXES
from driftanchor.logs.log_file import COMPRESSIONS, LogFile


def find(
    logs: Iterable[str | os.PathLike[str]],
    *,
    root: str | os.PathLike[str] | None = None,
    format: str | None = None,
) -> list[LogFile]:
    """The files that paths and patterns name, all of one format, each of them once.

    Args:
        logs: Paths, or patterns with `*`, `?`, `[…]` and `**`.
        root: Refuse what is outside this folder, links followed.
        format: What the files are; by default their suffixes say.
    """
    found: dict[Path, LogFile] = {}
    known: dict[tuple[int, int], str] = {}  # by device and inode: hard links have other paths
    for name in (each for pattern in logs for each in _matches(pattern)):
        path, inode = _checked(name, root)
        if path in found:
            raise InvalidInput(f"{name!r} is given twice: its rows would count twice")
        if inode in known:
            raise InvalidInput(
                f"{name!r} and {known[inode]!r} are one file, by a hard link: its rows would "
                "count twice"
            )
        found[path], known[inode] = LogFile(name, path, *_format(name, format)), name
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
    if not glob.has_magic(text) or os.path.lexists(text):
        return [text]
    names = [name for name in sorted(glob.glob(text, recursive=True)) if not os.path.isdir(name)]
    if not names:
        raise InvalidInput(f"no file matches {text!r}")
    plain: dict[str, str] = {}
    for name in names:
        stem, suffix = os.path.splitext(name)
        other = plain.setdefault(stem if suffix.lower() in COMPRESSIONS else name, name)
        if other != name:
            raise InvalidInput(
                f"{text!r} matches {other!r} and {name!r}: if one is packed from the other, its "
                "rows would count twice; name the files one by one"
            )
    return names


def _checked(name: str, root: str | os.PathLike[str] | None) -> tuple[Path, tuple[int, int]]:
    """Where a file really is; of a file outside the root nothing else is said."""
    try:
        path = Path(name).resolve()
        str(path).encode()
        if root is not None and not path.is_relative_to(Path(root).resolve()):
            raise InvalidInput(f"{name!r} is outside the allowed folder {os.fspath(root)!r}")
        status = path.stat()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the name of {name!r} is not UTF-8: rename the file or its folder"
        ) from error
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot read {name!r}: {reason}") from error
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{name!r} is not a regular file")
    if status.st_size == 0:
        raise InvalidInput(f"{name!r} is empty")
    if not is_unicode(str(path)):  # DuckDB takes no other names
        raise InvalidInput(f"the name of {name!r} is not UTF-8: rename the file or its folder")
    return path, (status.st_dev, status.st_ino)


def _format(name: str, format: str | None) -> tuple[str, str]:
    """The format and the compression of a file, by its name."""
    stem, suffix = os.path.splitext(name.lower())
    compression = suffix if suffix in COMPRESSIONS else ""
    if compression:
        suffix = os.path.splitext(stem)[1]
    found = format or SUFFIXES.get(suffix)
    if found is None:
        raise InvalidInput(
            f"{name!r} does not say its format: use one of {', '.join(SUFFIXES)} (with .gz or .zst "
            f"if compressed), or give format: {', '.join(FORMATS)}"
        )
    return found, compression
