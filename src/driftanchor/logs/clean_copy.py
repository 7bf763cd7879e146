"""Copies of text files with the lines that are rows, and an account of the others."""

from __future__ import annotations

import os
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
    """A folder of copies, which is made when it is needed, and removed by `close`."""

    def __init__(self, files: int) -> None:
        self._made: dict[Path, CleanCopy] = {}
        try:
            parent = tempfile.gettempdir()
        except FileNotFoundError:  # no folder can be written to, which matters for odd files only
            parent = os.sep
        self._folder = Path(parent, f"driftanchor-{secrets.token_hex(16)}")
        self.paths = [self._folder / str(i) for i in range(files)]

    def __len__(self) -> int:
        return len(self._made)

    def add(self, file: LogFile, lines: Iterable[Lines], most: int | None) -> LogFile:
        """The file with its copy."""
        path = self.paths[len(self._made)]
        try:
            self._folder.mkdir(mode=0o700, exist_ok=bool(self._made))
            self._made[file.path] = write(lines, path, most)
        except OSError as error:
            raise DriftanchorError(
                f"{file.name!r} must be read line by line, and a copy of its rows cannot be "
                f"written to {str(self._folder.parent)!r}: {error.strerror or error}; name "
                "another folder with the environment variable TMPDIR"
            ) from error
        return replace(file, copy=path)

    def of(self, file: LogFile) -> CleanCopy:
        """What happened to the lines of a file; all are rows if there is no copy."""
        return self._made.get(file.path, CleanCopy(0, Counter(), ()))

    @property
    def rejected(self) -> Counter[str]:
        """How many lines are no rows, by the reason."""
        return sum((copy.rejected for copy in self._made.values()), Counter[str]())

    def close(self) -> None:
        """Remove them."""
        shutil.rmtree(self._folder, ignore_errors=True)
