"""CSV files, which a spreadsheet opens without running what is in them."""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections.abc import Iterable, Sequence

from driftanchor.files import write_whole

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def write_csv(
    path: str | os.PathLike[str],
    heading: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    escape_formulas: bool = True,
) -> None:
    """Write a CSV file whole; nothing is left behind if writing fails.

    Args:
        path: The file.
        heading: The names of the columns.
        rows: A value for each column.
        escape_formulas: Put an apostrophe before texts that a spreadsheet would run as a formula.
    """
    with (
        write_whole(path) as scratch,
        scratch.open("w", newline="", encoding="utf-8", errors="backslashreplace") as out,
    ):
        file = csv.writer(out, lineterminator="\n")
        for row in itertools.chain([heading], rows):
            file.writerow(map(without_formula, row) if escape_formulas else row)


def without_formula(cell: object) -> object:
    """A cell that a spreadsheet shows and does not run.

    Example:
        >>> [without_formula(cell) for cell in ("=1+1", "-a", "-1.5", -1.5, "a=1")]
        ["'=1+1", "'-a", '-1.5', -1.5, 'a=1']
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"
