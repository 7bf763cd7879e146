"""Exporting a campaign to Parquet, CSV or JSON lines; all of it belongs to one moment."""

from __future__ import annotations

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
    """Write decisions or events to a file, whole or not at all; how many there were.

    Args:
        reader: The campaign.
        arms: Its arms.
        path: The file; its ending says the format: .csv, .jsonl or .parquet.
        what: `"decisions"`: one row for each, with its propensity and its reward.
            `"events"`: one row for each event, in order.
        escape_formulas: In CSV, put an apostrophe before texts that a spreadsheet would run.
    """
    check.choice(what, "what", WHAT)
    check.flag(escape_formulas, "escape_formulas")
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(f"must be the name of a file, got {shown(path)}", argument="path")
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(f"must end in {', '.join(ENDINGS)}, got {str(path)!r}", argument="path")
    columns = DECISIONS if what == "decisions" else EVENTS
    counter = _Counted(_decisions(reader, arms) if what == "decisions" else _events(reader, arms))
    if ending == ".csv":
        write_csv(path, list(columns), counter, escape_formulas=escape_formulas)
    elif ending == ".jsonl":
        with write_whole(path) as scratch:
            _write_lines(scratch, columns, counter)
    else:
        _write_parquet(path, columns, counter)
    return counter.count


class _Counted:
    """Rows that are counted as they go by."""

    def __init__(self, rows: Iterable[list[object]]) -> None:
        self.rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[list[object]]:
        for row in self.rows:
            self.count += 1
            yield row


def _decisions(reader: Reader, arms: Arms) -> Iterator[list[object]]:
    for row in reader.all_decisions():
        yield [_decision_cell(row, arms, name) for name in DECISIONS]


@reads_store
def _decision_cell(row: DecisionRow, arms: Arms, name: str) -> object:
    return arms[row.column] if name == "arm" else getattr(row, name)


def _events(reader: Reader, arms: Arms) -> Iterator[list[object]]:
    for entry, propensity in _with_propensities(reader, reader.entries(0)):
        yield [_event_cell(entry, arms, propensity, name) for name in EVENTS]


def event_records(reader: Reader, arms: Arms, after: int, most: int) -> list[record.Record]:
    """Some events as JSON-ready records.

    Args:
        reader: The campaign.
        arms: Its arms.
        after: The place of the last event that is not wanted.
        most: How many events.
    """
    found = _with_propensities(reader, reader.entries(after, after + most))
    return [
        {name: _event_cell(entry, arms, propensity, name) for name in EVENTS}
        | {"detail": entry.detail}
        for entry, propensity in found
    ]


def _with_propensities(
    reader: Reader, entries: Iterator[Entry]
) -> Iterator[tuple[Entry, float | None]]:
    """Events, each decision with its propensity: decisions come in the order of their events."""
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
        yield entry._replace(value=None), made.propensity  # which has a column of its own


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
