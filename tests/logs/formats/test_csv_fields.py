"""Fields of CSV: what Python writes is read, and what it would refuse is noticed."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor.logs.formats.csv_fields import WholeLines, split

FIELDS = st.text(st.sampled_from('ab ,"\n'), max_size=6).filter(lambda x: x == x.strip(" "))


@given(
    st.lists(FIELDS, min_size=2, max_size=5), st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
)
def test_what_pythons_writer_writes_is_split_again(fields: list[str], quoting: Any) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=quoting).writerow(fields)
    lines = out.getvalue().removesuffix("\n").encode().split(b"\n")
    assert split(lines, b",") == [field.encode() for field in fields]
    alone = WholeLines(b",").split(lines[0])
    assert alone in (None, [field.encode() for field in fields])
    assert alone is None or len(lines) == 1


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        ([b'A, "1,5" ,5" nails', b"B"], [b"A", b"1,5", b'5" nails']),
        ([b'"a', b"", b'b" , "c"'], [b"a\n\nb", b"c"]),
        ([b'""', b"x"], [b""]),
        ([b'"a""', b'""b"'], [b'a"\n"b']),
        ([b'A,"1'], None),
        ([b'A,"1"x'], None),
        ([], None),
    ],
)
def test_quotes(lines: list[bytes], fields: list[bytes] | None) -> None:
    assert split(lines, b",") == fields


def test_lines_that_need_a_closer_look_are_left_alone() -> None:
    whole = WholeLines(b";")
    for line in (b'"a', b'"a"b', b' "a"', b'"a" ;b', b'"' + b"x" * 200_000 + b'"'):
        assert whole.split(line) is None
    assert whole.split(b'"a;""b""";c') == [b'a;"b"', b"c"]
