"""Export a campaign to Parquet, CSV or JSON lines, in one read transaction."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.errors import InvalidInput, require, shown
from driftanchor.files import write_whole
from driftanchor.live.stores.damage import damaged, reads_store
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.live.stores.store import Reader
from driftanchor.render.csv_file import write_csv

WHAT = ("decisions", "events")
ENDINGS = (".csv", ".jsonl", ".parquet")
DECISIONS = {  # the columns, and their types in Parquet
    "id": "VARCHAR",
    "number": "BIGINT",
    "arm": "VARCHAR",
    "propensity": "DOUBLE",
    "unit": "VARCHAR",
    "epoch": "BIGINT",
    "state": "VARCHAR",
    "reward": "DOUBLE",
    "reported": "DOUBLE",
    "asked_at": "DOUBLE",
    "exposed_at": "DOUBLE",
    "due_at": "DOUBLE",
    "settled_at": "DOUBLE",
}
EVENTS = {
    "seq": "BIGINT",
    "kind": "VARCHAR",
    "at": "DOUBLE",
    "decision": "BIGINT",
    "arm": "VARCHAR",
    "value": "DOUBLE",
    "propensity": "DOUBLE",
    "detail": "VARCHAR",
}


def export(
    reader: Reader,
    arms: Arms,
    path: str | os.PathLike[str],
    what: str = "decisions",
    *,
    escape_formulas: bool = True,
) -> int:
    """Write decisions or events to a file, atomically; return the number of rows.

    Args:
        reader: The campaign.
        arms: Its arms.
        path: The file; its extension selects the format: .csv, .jsonl or .parquet.
        what: `"decisions"`, with propensities and rewards, or `"events"`.
        escape_formulas: In CSV, put an apostrophe before text that looks like a formula.
    """
    check.choice(what, "what", WHAT)
    check.flag(escape_formulas, "escape_formulas")
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"must be the name of a file, got {shown(path)}", argument="path")
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(f"must end in {', '.join(ENDINGS)}, got {str(path)!r}", argument="path")
    columns = DECISIONS if what == "decisions" else EVENTS
    count = itertools.count()
    all_rows = _decisions(reader, arms) if what == "decisions" else _events(reader, arms)
    rows = (row for row, _ in zip(all_rows, count, strict=False))
    if ending == ".csv":
        write_csv(path, list(columns), rows, escape_formulas=escape_formulas)
    elif ending == ".jsonl":
        with write_whole(path) as scratch:
            _write_lines(scratch, columns, rows)
    else:
        _write_parquet(path, columns, rows)
    return next(count)


def _decisions(reader: Reader, arms: Arms) -> Iterator[list[object]]:
    for row in reader.all_decisions():
        yield [_decision_cell(row, arms, name) for name in DECISIONS]


@reads_store
def _decision_cell(row: DecisionRow, arms: Arms, name: str) -> object:
    return arms[row.column] if name == "arm" else getattr(row, name)


def _events(reader: Reader, arms: Arms) -> Iterator[list[object]]:
    for entry, propensity in _with_propensities(reader, reader.entries(0)):
        yield [_event_cell(entry, arms, propensity, name) for name in EVENTS]


def event_records(reader: Reader, arms: Arms, after: int, limit: int) -> list[record.Record]:
    """Return some events as JSON-ready records.

    Args:
        reader: The campaign.
        arms: Its arms.
        after: Return events after this sequence number.
        limit: The maximum number of events.
    """
    entries = _with_propensities(reader, reader.entries(after, after + limit))
    return [
        {name: _event_cell(entry, arms, propensity, name) for name in EVENTS}
        | {"detail": entry.detail}
        for entry, propensity in entries
    ]


def _with_propensities(
    reader: Reader, entries: Iterator[Entry]
) -> Iterator[tuple[Entry, float | None]]:
    """Yield events, each decision with its propensity."""
    decisions: Iterator[DecisionRow] | None = None
    for entry in entries:
        if entry.kind != "decided":
            yield entry, None
            continue
        if decisions is None:
            decisions = reader.all_decisions((entry.decision or 1) - 1)
        made = next(decisions, None)
        if made is None:
            raise damaged(f"the decision of event {entry.seq} is missing")
        yield entry._replace(value=None), made.propensity


@reads_store
def _event_cell(entry: Entry, arms: Arms, propensity: float | None, name: str) -> object:
    match name:
        case "arm":
            return None if entry.column is None else arms[entry.column]
        case "propensity":
            return propensity
        case "detail":
            return None if entry.detail is None else json.dumps(entry.detail)
    return getattr(entry, name)


def _write_lines(path: Path, columns: Iterable[str], rows: Iterable[list[object]]) -> None:
    names = list(columns)
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(dict(zip(names, row, strict=True)), allow_nan=False) + "\n")


def _write_parquet(
    path: str | os.PathLike[str], columns: dict[str, str], rows: Iterable[list[object]]
) -> None:
    duckdb = require("duckdb", extra="logs", why="writing Parquet")
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    with write_whole(path) as scratch:
        lines = scratch.with_name(f"{scratch.name}.jsonl")
        try:
            _write_lines(lines, columns, rows)
            source, target = (str(x).replace("'", "''") for x in (lines, scratch))
            with duckdb.connect() as connection:
                connection.execute(
                    f"COPY (SELECT * FROM read_json('{source}', columns = {{{types}}}, "
                    f"format = 'newline_delimited')) TO '{target}' (FORMAT parquet)"
                )
        finally:
            lines.unlink(missing_ok=True)
