"""Copies of files that DuckDB reads instead: with the lines that are rows, or of small files whole.

Of lines that are no rows there is an account.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from driftanchor.errors import DriftanchorError
from driftanchor.logs.formats.log_format import FEW, Lines
from driftanchor.logs.log_file import PIECE, LogFile


@dataclass(frozen=True)
class CleanCopy:
    """What happened to the lines of a file.

    Attributes:
        rows: How many are in the copy.
        rejected: How many are not, by the reason.
        examples: The first few of these: line, reason and text.
    """

    rows: int
    rejected: Counter[str]
    examples: Sequence[tuple[int, str, bytes]]


def write(lines: Iterable[Lines], path: Path, most: int | None) -> CleanCopy:
    """Copy the lines that can be read.

    Args:
        lines: All lines.
        path: Where the copy is written.
        most: Stop after more lines than this: it does not matter how many there are.
    """
    rejected = Counter[str]()
    examples: list[tuple[int, str, bytes]] = []
    rows = 0
    with path.open("xb", buffering=PIECE) as copy:
        for part in lines:
            if part.reason:
                left = max(FEW - rejected[part.reason], 0)
                numbered = enumerate(part.texts[:left], start=part.number)
                examples += [(number, part.reason, text) for number, text in numbered]
                rejected[part.reason] += len(part.texts) + part.more
            else:
                rows += len(part.texts)
                copy.write(b"\n".join(part.texts) + b"\n")
            if most is not None and rows + rejected.total() > most:
                break
    return CleanCopy(rows, rejected, examples)


class CleanCopies:
    """A folder of copies, which is made when it is needed, and removed by `close`.

    Args:
        files: Of how many files.
    """

    def __init__(self, files: int) -> None:
        self._made: dict[Path, CleanCopy] = {}
        self._folder = _parent() / f"driftanchor-{secrets.token_hex(16)}"
        self._there = False
        self._rows = [self._folder / f"rows-{i}" for i in range(files)]
        self._wholes = [self._folder / f"file-{i}" for i in range(files)]

    def __len__(self) -> int:
        return len(self._made)

    @property
    def paths(self) -> list[Path]:
        """Where there may be copies."""
        return [*self._rows, *self._wholes]

    def is_in_place(self) -> bool:
        """Whether a new folder would be made beside this one."""
        return self._folder.parent == _parent()

    def add(self, file: LogFile, lines: Iterable[Lines], most: int | None) -> LogFile:
        """The file with a copy of its rows."""
        path = self._rows[len(self._made)]
        try:
            self._make_folder()
            self._made[file.path] = write(lines, path, most)
        except OSError as error:
            raise DriftanchorError(
                f"{file.name!r} must be read line by line, and a copy of its rows cannot be "
                f"written to {str(self._folder.parent)!r}: {error.strerror or error}; name "
                "another folder with the environment variable TMPDIR"
            ) from error
        return replace(file, copy=path)

    def whole(self, files: Sequence[LogFile]) -> list[LogFile]:
        """The files with copies of all that is in them.

        Raises:
            OSError: One cannot be read or written.
        """
        self._make_folder()
        twins = zip(files, self._wholes, strict=False)
        return [replace(file, twin=shutil.copyfile(file.path, place)) for file, place in twins]

    def _make_folder(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=self._there)
        self._there = True

    def of(self, file: LogFile) -> CleanCopy:
        """What happened to the lines of a file; all are rows if there is no copy."""
        return self._made.get(file.path, CleanCopy(0, Counter(), ()))

    @property
    def rejected(self) -> Counter[str]:
        """How many lines are no rows, by the reason."""
        return sum((copy.rejected for copy in self._made.values()), Counter[str]())

    def close(self) -> None:
        """Remove them, and forget what happened."""
        if self._there:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._made, self._there = {}, False


def originals(text: str, files: Sequence[LogFile]) -> str:
    """A text that names files instead of their copies."""
    copy = rf"{re.escape(str(_parent()))}/driftanchor-[0-9a-f]{{32}}/file-(\d+)"
    return re.sub(copy, lambda found: str(files[int(found[1])].path), text)


def _parent() -> Path:
    """Where folders of copies are made."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:  # no folder can be written to, which matters for odd files only
        return Path(os.sep)
