"""A copy of a text file with the lines that can be read, and an account of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftanchor.logs.formats.base import FEW, Lines
from driftanchor.logs.log_file import PIECE


@dataclass(frozen=True)
class CleanCopy:
    """What became of the lines of a file.

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
