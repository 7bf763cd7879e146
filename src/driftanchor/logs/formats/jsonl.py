"""JSON lines: one object per line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.log_format import Column, Format, Scan, Survey
from driftanchor.logs.log_file import COMPRESSIONS, LogFile
from driftanchor.logs.sql import literal
from driftanchor.logs.text_lines import BOM, QUOTE, LineSurvey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from driftanchor.logs.query import LogQuery

SAMPLE = 10_000  # objects whose keys are looked at
MOST_KEYS = 1_000  # that are named if one is missing
CHECKED = "(SELECT * REPLACE (CASE WHEN json_valid(json) THEN json END AS json) FROM {})"


class Jsonl(Format):
    """Files with one JSON object per line; the requested keys are read as text."""

    suffixes = (".jsonl", ".ndjson", ".json")
    longest_line = 16_000_000

    def check_start(self, file: LogFile, start: bytes) -> None:
        """Reject binary files, byte order marks and JSON arrays."""
        super().check_start(file, start)
        if start.startswith(BOM):
            raise InvalidInput(
                f"{file.name!r} starts with a byte order mark: remove it (tail -c +4)"
            )
        if start.lstrip().startswith(b"["):
            raise InvalidInput(
                f"{file.name!r} is a JSON array: write one object a line (jq -c '.[]')"
            )

    def survey(
        self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery, most: int | None
    ) -> Survey:
        """Count lines as rows. A key that occurs as often as there are lines counts as unique.

        This is wrong only if one line lacks the key and another has it twice. Lines without an arm
        or a reward are rejected anyway. Keys of `where` and `within` may be missing; in that case
        the fast method is skipped.
        """
        optional = query.condition is not None or query.within is not None
        found = KeySurvey(set(query.columns.values()))
        self.look(file, found, most)
        return Survey(self.rows_of(found), quick=found.unique and not optional)

    def scan(self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery) -> Scan:
        """Look for the requested keys in the first objects."""
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
        """Return the numeric columns as raw JSON text."""
        for rows in self.lines(file, query):
            with contextlib.suppress(ValueError, RecursionError):
                found = json.loads(rows.texts[0])
                if isinstance(found, dict):
                    texts = {role: found.get(name, "") for role, name in query.numbers.items()}
                    yield {role: str(value) for role, value in texts.items()}


class KeySurvey(LineSurvey):
    """What the lines are like, and how often keys are in them.

    Only the first and the last bytes of keys are compared, so there may seem to be more of them.
    """

    def __init__(self, keys: Collection[str]) -> None:
        super().__init__(csv=False)
        self._times = dict.fromkeys((_written(key).encode() for key in keys), 0)
        self._escape = min((_escape(key) for key in keys), key=len).encode()
        self._escaped = False
        self._last = b""  # bytes before this piece

    @property
    def unique(self) -> bool:
        """Whether no line has a key twice, if none lacks one."""
        return not self._escaped and all(n <= self.lines for n in self._times.values())

    def add(self, piece: bytes) -> None:
        """Look at the next bytes."""
        super().add(piece)
        self._count(piece)
        self._escaped |= b"\\" in piece and self._escape in piece
        for key in self._times:  # those that started before this piece
            edge = self._last[1 - len(key) :] + piece[: len(key) - 1]
            self._times[key] += edge.count(key)
            self._escaped |= self._escape in edge
        self._last = (self._last + piece)[-max(map(len, self._times)) :]

    def _count(self, piece: bytes) -> None:
        octets = np.frombuffer(piece, np.uint8)
        quotes = octets == QUOTE
        for key in self._times:
            starts = octets.size - len(key) + 1
            if starts > 0:
                same = quotes[:starts] & quotes[-starts:] & (octets[1 : starts + 1] == key[1])
                self._times[key] += int(np.count_nonzero(same))


def _column(key: str) -> Column:
    """A key as a column; an object that has it twice may mean either value."""
    quoted = _written(key)
    for special in "$%_":
        quoted = quoted.replace(special, f"${special}")
    written = f"json LIKE {literal(f'%{quoted}%{quoted}%')} ESCAPE '$'"
    likely = f"{written} OR contains(json, {literal(_escape(key))})"
    same = f"list_filter(json_keys(json), lambda key: key = {literal(key)})"
    twice = f"CASE WHEN {likely} THEN len({same}) > 1 ELSE false END"
    return Column(key, f"json->>{literal(_pointer(key))}", "VARCHAR", twice)


def _written(key: str) -> str:
    """A key as it is usually written."""
    return json.dumps(key, ensure_ascii=False)


def _escape(key: str) -> str:
    """What is in a line in which the key is written in another way."""
    return "\\u00" if key.isascii() and "/" not in key else "\\"


def _is_strict(connection: DuckDBPyConnection) -> bool:
    """Whether DuckDB refuses what comes after an object, as it does since version 2."""
    ((version,),) = connection.execute("SELECT version()").fetchall()
    return int(version.lstrip("v").partition(".")[0]) >= 2


def _pointer(key: str) -> str:
    """A JSON pointer to a key."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
