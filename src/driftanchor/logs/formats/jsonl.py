"""JSON lines: one object a line."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.base import Column, Format, Place, Scan
from driftanchor.logs.log_file import COMPRESSIONS, LogFile
from driftanchor.logs.sql import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BOM = b"\xef\xbb\xbf"
SAMPLE = 10_000  # objects whose keys are looked at


class Jsonl(Format):
    """A line is an object, of which the wanted keys are taken as text."""

    suffixes = (".jsonl", ".ndjson", ".json")

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

    def scan(self, connection: DuckDBPyConnection, file: LogFile, arm: str) -> Scan:
        """Take the keys of the first objects for the columns."""
        options = f", ignore_errors=true, compression={literal(COMPRESSIONS[file.compression])}"
        bare = Scan((file,), "read_ndjson_objects", options, {})
        objects = connection.execute(
            f"SELECT DISTINCT json_keys(json) FROM (FROM {bare.sql} LIMIT {SAMPLE}) "
            "WHERE json_type(json) = 'OBJECT'"
        ).fetchall()
        times: Counter[str] = Counter()
        for (keys,) in objects:
            times |= Counter(keys)
        columns = {}
        for key, n in sorted(times.items()):
            value = f"json->>{literal(_pointer(key))}"
            columns[key] = Column(key, value, "VARCHAR" if n == 1 else "ambiguous")
        return Scan((file,), bare.function, options, columns, readable="json IS NOT NULL")

    def places(self, scan: Scan, unreadable: Collection[int]) -> Iterator[Place]:
        """Every line that is not empty is a record and a row."""
        (file,) = scan.files
        opened = file.open()
        if opened is None:
            return
        row = 0
        with io.TextIOWrapper(opened, encoding="utf-8-sig", errors="replace", newline="") as text:
            for line, content in enumerate(text, start=1):
                if content.strip():
                    row += 1
                    yield Place(line, line, row)


def _pointer(key: str) -> str:
    """A JSON pointer to a key."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
