from __future__ import annotations

from pathlib import Path

from driftanchor.logs import clean_copy
from driftanchor.logs.formats import Lines

LINES = [
    Lines(2, [b"A,1", b"B,0"]),
    Lines(4, [b"x", b"y"], "line_in_quotes", 7),
    Lines(13, [b"z"], "line_ragged"),
    Lines(14, [b"C,1"]),
    Lines(15, [b"v", b"w"], "line_in_quotes"),
]


def test_rows_are_copied_and_the_others_counted(tmp_path: Path) -> None:
    found = clean_copy.write(LINES, tmp_path / "copy", None)
    assert (tmp_path / "copy").read_bytes() == b"A,1\nB,0\nC,1\n"
    assert found.rows == 3
    assert found.rejected == {"line_in_quotes": 11, "line_ragged": 1}
    assert found.examples == [
        (4, "line_in_quotes", b"x"),
        (5, "line_in_quotes", b"y"),
        (13, "line_ragged", b"z"),
    ]


def test_it_stops_where_there_are_too_many(tmp_path: Path) -> None:
    found = clean_copy.write(LINES, tmp_path / "copy", 3)
    assert found.rows + found.rejected.total() == 11
