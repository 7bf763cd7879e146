"""CSV record by record: what is a row, what is none, and on which line."""

from __future__ import annotations

import pytest

from driftanchor.logs.formats.csv_records import Records
from driftanchor.logs.formats.log_format import Lines

RECORDS = Records(b",", [b"arm", b"reward", b"note"], [0, 1], [1], longest_line=100_000)


def read(text: str | bytes, *, pieces: int = 1_000_000) -> list[Lines]:
    content = text.encode() if isinstance(text, str) else text
    cut = [content[i : i + pieces] for i in range(0, len(content), pieces)]
    found: list[Lines] = []
    for part in RECORDS.read(cut):  # rows one by one, however many came together
        if part.reason:
            found.append(part)
        else:
            found += [Lines(part.number + i, [text]) for i, text in enumerate(part.texts)]
    return found


LINES = [
    ("A,1,x", [b"A,1"], ""),
    ("A,1,x,", [b"A,1"], ""),  # a comma at the end is harmless
    ("A,1,x,,", [b"A,1"], ""),
    ('A,1,"x"', [b"A,1"], ""),  # the note is not wanted
    ('"A, ""a""",1,', [b'"A, ""a""",1'], ""),
    (' "A" , "1" ,x', [b"A,1"], ""),
    ('A,1,5" nails', [b"A,1"], ""),
    ('A,"1"x,y', [b'A,"1"x,y'], "line_unreadable"),
    ("A,1", [b"A,1"], "line_ragged"),
    ("A,1,x,y", [b"A,1,x,y"], "line_ragged"),
    ("A,1,x, ", [b"A,1,x, "], "line_ragged"),
    ("arm,reward,note", [b"arm,reward,note"], "line_repeats_header"),
    ('"arm", reward,note ', [b'"arm", reward,note '], "line_repeats_header"),
    ("\ufeffarm,reward,note", ["\ufeffarm,reward,note".encode()], "line_repeats_header"),
    ("Ä,1,x", ["Ä,1".encode()], ""),
    ("A,1," + "x" * 70_000, [b"A,1"], ""),  # long, but not too long
    ("A,1," + "x" * 100_000, [b"A,1," + b"x" * 196], "line_too_long"),
    ('A,1,"' + "x" * 100_000, [b'A,1,"' + b"x" * 195], "line_too_long"),
]


@pytest.mark.parametrize(("line", "texts", "reason"), LINES)
def test_one_line(line: str, texts: list[bytes], reason: str) -> None:
    found = read(f"arm,reward,note\nB,0,y\n\n{line}\nC,1,z\n")
    assert found == [Lines(2, [b"B,0"]), Lines(4, texts, reason), Lines(5, [b"C,1"])]


def test_bytes_that_are_no_text_matter_in_wanted_columns_only() -> None:
    found = read(b"arm,reward,note\n\xc4,1,x\nA,1,\xc4\n")
    assert found == [Lines(2, [b"\xc4,1,x"], "line_unreadable"), Lines(3, [b"A,1"])]


def test_a_line_of_blanks_is_none() -> None:
    assert read("\n \narm,reward,note\n\t\n  \nA,1,x\n") == [Lines(6, [b"A,1"])]


@pytest.mark.parametrize("pieces", [1, 7, 10**6])
def test_text_with_line_breaks_is_one_record(pieces: int) -> None:
    text = 'arm,reward,note\nA,1,"Dear all,\n\na, b, c\n""so"" it is"\n"B\nb",0,"x\ny",\nC,1,z'
    found = read(text, pieces=pieces)
    assert found == [Lines(2, [b"A,1"]), Lines(6, [b'"B\nb",0']), Lines(9, [b"C,1"])]
    assert found == read(text.replace("\n", "\r\n"))
    ragged = read('arm,reward,note\nA,1,"x\ny",z\nB,0,y\n')
    assert ragged == [Lines(2, [b'A,1,"x'], "line_ragged"), Lines(4, [b"B,0"])]


SWALLOWED = {
    "never closed": ('"A,1,x', ["B,0,y", "B,1,y", "B,2,y", ""], None),
    "closed before a letter": ('"A,1,x', ["B,0,y", 'B,1,"y'], 'C,1,"z"'),
    "closed well, around rows": ('A,1,"x', ["B,0,y", 'B,1,y"'], "C,1,z"),
    "closed well, around one row": ('A,1,"x', ['B,1,y"'], "C,1,z"),
    "too long": ('A,1,"x', [*["y" * 99] * 1_200, 'y"'], "C,1,z"),
}


@pytest.mark.parametrize("case", SWALLOWED)
def test_every_line_that_a_quote_swallowed_is_rejected(case: str) -> None:
    first, inside, after = SWALLOWED[case]
    found = read("\n".join(["arm,reward,note", first, *inside, *([after] if after else [])]))
    quoted, rest = found[0], found[1:]
    assert (quoted.number, quoted.texts[0], quoted.reason) == (2, first.encode(), "line_in_quotes")
    assert len(quoted.texts) + quoted.more == len([first, *filter(None, inside)])
    assert len(rest) == (after is not None)
