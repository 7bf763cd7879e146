"""Export: the decisions of a campaign, or all its events, as a file for other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.errors import InvalidInput, require
from driftanchor.files import write_whole
from driftanchor.live.store import Reader
from driftanchor.render.csv_file import write_csv

WHAT = ("decisions", "events")
SUFFIXES = (".csv", ".jsonl", ".ndjson", ".parquet", ".pq")
TYPES = {  # of the columns of a Parquet file
    "decisions": {
        "decision_id": "VARCHAR",
        "number": "BIGINT",
        "unit": "VARCHAR",
        "epoch": "BIGINT",
        "arm": "VARCHAR",
        "propensity": "DOUBLE",
        "state": "VARCHAR",
        "asked_at": "DOUBLE",
        "exposed_at": "DOUBLE",
        "settled_at": "DOUBLE",
        "reward": "DOUBLE",
        "reported": "DOUBLE",
    },
    "events": {
        "seq": "BIGINT",
        "kind": "VARCHAR",
        "at": "DOUBLE",
        "number": "BIGINT",
        "decision_id": "VARCHAR",
        "unit": "VARCHAR",
        "arm": "VARCHAR",
        "propensity": "DOUBLE",
        "value": "DOUBLE",
    },
}

Row = tuple[Any, ...]


def export(
    reader: Reader,
    arms: Arms,
    path: str | os.PathLike[str],
    *,
    what: str = "decisions",
    escape_formulas: bool = True,
) -> int:
    """Write decisions or events to a file, whole or not at all; how many rows.

    Args:
        reader: The campaign at one moment.
        arms: Its arms.
        path: The file, whose name ends in .csv, .jsonl or .parquet.
        what: `"decisions"`: a row for each, with its propensity and what became of it. `"events"`:
            a row for everything that happened, in order.
        escape_formulas: Put an apostrophe before texts of a CSV file that a spreadsheet would run
            as a formula.
    """
    check.choice(what, "what", WHAT)
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(f"must end in .csv, .jsonl or .parquet, got {path!r}", argument="path")
    rows = _Counted(decision_rows(reader, arms) if what == "decisions" else events(reader, arms))
    names = list(TYPES[what])
    if suffix == ".csv":
        write_csv(path, names, rows, escape_formulas=escape_formulas)
    elif suffix in (".parquet", ".pq"):
        _write_parquet(path, TYPES[what], rows)
    else:
        with write_whole(path) as scratch:
            _write_lines(scratch, names, rows)
    return rows.count


def decision_rows(reader: Reader, arms: Arms) -> Iterator[Row]:
    """A row for each decision, in order."""
    for x in reader.all_decisions():
        yield (
            *(x.id, x.number, x.unit, x.epoch, arms[x.column], x.propensity, x.state),
            *(x.asked_at, x.exposed_at, x.settled_at, x.reward, x.reported),
        )


def events(reader: Reader, arms: Arms) -> Iterator[Row]:
    """A row for each event, in order; that of a decision has its id, unit and propensity."""
    made = reader.all_decisions()
    for entry in reader.entries(0):
        arm = None if entry.column is None else arms[entry.column]
        if entry.kind == "arm_added":
            arm = (entry.detail or {})["label"]
        about: Row = (None, None, arm, None)
        if entry.kind == "decided":
            row = next(made)
            about = (row.id, row.unit, arm, row.propensity)
        yield entry.seq, entry.kind, entry.at, entry.decision, *about, entry.value


class _Counted:
    """Rows, counted as they go by."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row


def _write_lines(scratch: Path, names: list[str], rows: Iterable[Row]) -> None:
    with scratch.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(dict(zip(names, row, strict=True)), allow_nan=False) + "\n")


def _write_parquet(path: str | os.PathLike[str], types: dict[str, str], rows: _Counted) -> None:
    """By way of a file of JSON lines, so that the rows need not fit the memory."""
    duckdb = require("duckdb", extra="logs", why="a Parquet file")
    with write_whole(path) as scratch:
        lines = scratch.with_name(f"{scratch.name}.jsonl")
        try:
            _write_lines(lines, list(types), rows)
            columns = ", ".join(f"{name}: '{kind}'" for name, kind in types.items())
            with duckdb.connect() as connection:
                connection.execute("SET threads TO 1")
                connection.execute(
                    f"COPY (FROM read_json($lines, format = 'newline_delimited', columns = "
                    f"{{{columns}}})) TO '{_quoted(scratch)}' (FORMAT parquet)",
                    {"lines": str(lines)},
                )
        finally:
            lines.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
