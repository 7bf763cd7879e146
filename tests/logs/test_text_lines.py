"""Lines, counted and read, whatever their ends and wherever a piece of the file ends."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor.logs.text_lines import LineReader, LineSurvey

TEXTS = st.lists(st.sampled_from([b"a", b'"', b",", b"\n", b"\r\n", b"\r", b"\n\n"]), max_size=40)
CUTS = st.lists(st.integers(0, 40), max_size=4)


def cut(parts: list[bytes], cuts: list[int]) -> list[bytes]:
    """A text in pieces, none of which ends between CR and LF."""
    text = b"".join(parts)
    ends = sorted({0, len(text), *(i for i in cuts if text[i - 1 : i + 1] != b"\r\n")})
    return [text[a:b] for a, b in itertools.pairwise(ends) if text[a:b]]


def survey(pieces: list[bytes]) -> LineSurvey:
    found = LineSurvey(csv=True)
    for piece in pieces:
        found.add(piece)
    found.end()
    return found


@given(parts=TEXTS, cuts=CUTS)
def test_lines_are_counted_as_python_splits_them(parts: list[bytes], cuts: list[int]) -> None:
    pieces = cut(parts, cuts)
    text = b"".join(pieces)
    lines = text.splitlines()
    found = survey(pieces)
    assert found.lines == len([line for line in lines if line])
    assert max(map(len, lines), default=0) <= max(found.longest, *map(len, pieces), 0)
    ended = lines if text.endswith((b"\n", b"\r")) else lines[:-1]
    assert found.quoted_breaks == any(line.count(b'"') % 2 for line in ended)
    kinds = {line[len(line.rstrip(b"\r\n")) :] for line in text.splitlines(keepends=True)} - {b""}
    assert {end.encode() for end in found.ends} == kinds


@given(parts=TEXTS, cuts=CUTS)
def test_lines_are_read_as_python_splits_them(parts: list[bytes], cuts: list[int]) -> None:
    pieces = cut(parts, cuts)
    reader = LineReader(pieces, longest=100)
    one_by_one = []
    while (line := reader.take()) is not None:
        one_by_one.append(line)
    assert one_by_one == b"".join(pieces).splitlines()
    assert reader.number == len(one_by_one) + 1
    reader, in_blocks = LineReader(pieces, longest=100), list[bytes]()
    while block := reader.at_hand():
        in_blocks += block
        reader.take_all()
    assert in_blocks == one_by_one


def test_of_a_long_line_there_is_the_beginning() -> None:
    reader = LineReader([b"abc", b"defg", b"hi\nj"], longest=4)
    assert (reader.take(), reader.take(), reader.take()) == (b"abcde", b"j", None)


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([b"a_1,1"], False),
        ([b"1_a,1_", b"_1,1,_", b"_"], False),
        ([b"A,1_0\n"], True),
        ([b"A,1", b"_0\n"], True),
        ([b"A,1_", b"0\n"], True),
    ],
)
def test_an_underscore_between_digits_is_noticed(pieces: list[bytes], found: bool) -> None:
    assert survey(pieces).underscores == found


def test_a_long_line_is_noticed_across_pieces() -> None:
    assert survey([b"a\n" + b"b" * 10, b"b" * 10, b"b\nc"]).longest == 21
