"""Columns that cannot be what they should be, seen before millions of rows are read."""

from __future__ import annotations

from collections import Counter

from driftanchor.errors import InvalidInput, shown
from driftanchor.logs.formats import FORMATS
from driftanchor.logs.formats.csv_fields import is_number
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.query import LogQuery

HOPELESS = 5_000  # values without a single number


def refuse_hopeless(file: LogFile, query: LogQuery, rows: int) -> None:
    """Refuse a column of numbers that starts with thousands of other values.

    Args:
        file: A file, of which only the start is read.
        query: What is asked of it. With filters, the rows that count may come later, so that
            nothing is refused.
        rows: How many rows it has; fewer are read in no time anyway.
    """
    filtered = query.condition is not None or any(query.span) or query.arms is not None
    if rows <= HOPELESS or filtered:
        return
    hoped, seen = set(query.numbers), Counter[str]()
    for texts in FORMATS[file.format].numbers(file, query):
        for role in sorted(hoped):
            text = texts[role].strip()
            if is_number(text):
                hoped.discard(role)
            seen[role] += bool(text)
            if seen[role] >= HOPELESS and role in hoped:
                raise InvalidInput(
                    f"is column {query.numbers[role]!r}, and none of its first {HOPELESS:,} values "
                    f"in {file.name!r} is a number, such as {shown(text)}: is it the right column?",
                    argument=role,
                )
        if not hoped:
            return
