"""JSON lines: one object a line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.base import Column, Format, Scan
from driftanchor.logs.log_file import COMPRESSIONS, LogFile
from driftanchor.logs.sql import literal
from driftanchor.logs.text_lines import BOM

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from driftanchor.logs.query import LogQuery

SAMPLE = 10_000  # objects whose keys are looked at
MOST_KEYS = 1_000  # that are named if one is missing
CHECKED = "(SELECT CASE WHEN json_valid(json) THEN json END AS json FROM {})"


class Jsonl(Format):
    """A line is an object, of which the wanted keys are taken as text."""

    suffixes = (".jsonl", ".ndjson", ".json")
    longest_line = 16_000_000

    def check_start(self, file: LogFile, start: bytes) -> None:
        """Refuse what is not text, a byte order mark, and an array."""
        super().check_start(file, start)
        if start.startswith(BOM):
            raise InvalidInput(
                f"{file.name!r} starts with a byte order mark: remove it (tail -c +4)"
            )
        if start.lstrip().startswith(b"["):
            raise InvalidInput(
                f"{file.name!r} is a JSON array: write one object a line (jq -c '.[]')"
            )

    def scan(self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery) -> Scan:
        """Look for the wanted keys in the first objects."""
        packed = COMPRESSIONS[file.compression if file.copy is None else ""]
        options = f", ignore_errors=true, compression={literal(packed)}"
        rows = "{}" if _is_strict(connection) else CHECKED
        bare = Scan((file,), "read_ndjson_objects", options, {}, rows=rows)
        first = f"(FROM {bare.sql} LIMIT {SAMPLE}) WHERE json_type(json) = 'OBJECT'"
        keys = list(dict.fromkeys(query.columns.values()))
        there = ", ".join(f"bool_or(json_exists(json, {literal(_pointer(key))}))" for key in keys)
        (found,) = connection.execute(f"SELECT {there} FROM {first}").fetchall()
        if not all(found):
            some = f"SELECT DISTINCT unnest(json_keys(json)) FROM {first} LIMIT {MOST_KEYS}"
            others = sorted(key for (key,) in connection.execute(some).fetchall())
            keys = [*(key for key, is_there in zip(keys, found, strict=True) if is_there), *others]
        return replace(
            bare,
            columns={key: _column(key) for key in keys},
            bad_lines={"line_not_json": "json IS NULL"},
        )

    def numbers(self, file: LogFile, query: LogQuery) -> Iterator[Mapping[str, str]]:
        """The values that should be numbers, as JSON writes them."""
        for rows in self.lines(file, query):
            with contextlib.suppress(ValueError, RecursionError):
                found = json.loads(rows.texts[0])
                if isinstance(found, dict):
                    texts = {role: found.get(name, "") for role, name in query.numbers.items()}
                    yield {role: str(value) for role, value in texts.items()}


def _column(key: str) -> Column:
    """A key as a column; an object that has it twice may mean either value."""
    quoted = json.dumps(key, ensure_ascii=False)
    for special in "$%_":
        quoted = quoted.replace(special, f"${special}")
    likely = f"json LIKE {literal(f'%{quoted}%{quoted}%')} ESCAPE '$' OR contains(json, '\\')"
    same = f"list_filter(json_keys(json), lambda key: key = {literal(key)})"
    twice = f"CASE WHEN {likely} THEN len({same}) > 1 ELSE false END"
    return Column(key, f"json->>{literal(_pointer(key))}", "VARCHAR", twice)


def _is_strict(connection: DuckDBPyConnection) -> bool:
    """Whether DuckDB refuses what comes after an object, as it does since version 2."""
    ((version,),) = connection.execute("SELECT version()").fetchall()
    return int(version.lstrip("v").partition(".")[0]) >= 2


def _pointer(key: str) -> str:
    """A JSON pointer to a key."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
