"""Lines in and rows out add up, or the file is refused."""

from __future__ import annotations

import gzip
import importlib
import tempfile
from pathlib import Path
from typing import Any

import pytest

from driftanchor import DriftanchorError, InvalidInput, RejectedRows, read_logs
from driftanchor.logs.file_source import FileSource
from driftanchor.logs.log_files import find
from driftanchor.logs.log_summary import LogSummary
from driftanchor.logs.query import LogQuery

pyarrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")
GOOD = [f"{'AB'[i % 2]},{i % 3},note {i}" for i in range(1_000)]
NAMES = "arm,reward,note"


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for copies, which is empty in the end."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def logs(tmp_path: Path, *lines: str, end: str = "\n") -> Path:
    path = tmp_path / "logs.csv"
    path.write_text(end.join([NAMES, *lines, ""]), newline="")
    return path


def read(path: object, **options: Any) -> LogSummary:
    return read_logs(path, arm="arm", reward="reward", **options)


def rejected(summary: LogSummary) -> dict[str, int]:
    return dict(summary.provenance.rows_rejected)


ODD = ['"A,1,x', 'A,"1,x', 'A,1,"x', 'A,1,x"y,"z', '"A"b,1,x', 'A,1,"x"y']


@pytest.mark.parametrize("line", ODD)
def test_one_quote_loses_no_line(line: str, tmp_path: Path, copies: Path) -> None:
    path = logs(tmp_path, *GOOD, line, *GOOD[:500])
    summary = read(path, allow_rejects=True)
    told = summary.provenance
    assert told.rows_read == 1_501
    assert told.rows_used + sum(rejected(summary).values()) == 1_501
    assert sum(arm.n for arm in summary.arms.values()) == told.rows_used
    first = summary.examples[0]
    assert (first.reason in ("line_in_quotes", "line_unreadable", "line_ragged"), first.line) == (
        True,
        1_002,
    )
    assert list(copies.iterdir()) == []


def test_a_quote_that_swallows_the_rest_is_refused(tmp_path: Path, copies: Path) -> None:
    path = logs(tmp_path, *GOOD, '"A,1,x', *GOOD)
    message = r"1,001 of 2,001 rows .* line_in_quotes 1,001 \(.*logs\.csv:1002 '\"A,1,x', .*:1003 "
    with pytest.raises(RejectedRows, match=message):
        read(path)
    assert list(copies.iterdir()) == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_breaks_in_text_are_read(end: str, tmp_path: Path) -> None:
    notes = ['A,1,"one\ntwo, three"', '"B\nb",0,"x\n\n""y"""', 'A,"2",z']
    summary = read(logs(tmp_path, *GOOD, *notes, *GOOD, end=end))
    assert rejected(summary) == {"arm_not_printable": 1}
    assert (summary.provenance.rows_read, summary.examples[0].line) == (2_003, 1_004)


def test_a_line_of_megabytes_is_one_line_less(tmp_path: Path) -> None:
    summary = read(logs(tmp_path, *GOOD, "A,1," + "x" * 3_000_000, *GOOD))
    assert (rejected(summary), summary.provenance.rows_used) == ({"line_too_long": 1}, 2_000)


def test_a_long_field_is_read(tmp_path: Path) -> None:
    long = "x" * 200_000  # more than Python's own reader allows
    summary = read(logs(tmp_path, *GOOD, f"A,1,{long}", f'A,1,"{long}\n{long}"', *GOOD))
    assert (rejected(summary), summary.provenance.rows_used) == ({}, 2_002)


@pytest.mark.parametrize("repeat", [NAMES, '"arm","reward","note"', f"\ufeff{NAMES}"])
def test_names_in_the_middle_are_no_arm(repeat: str, tmp_path: Path) -> None:
    summary = read(logs(tmp_path, *GOOD, repeat, *GOOD))
    assert list(summary.arms) == ["A", "B"]
    if repeat.startswith("\ufeff"):  # the mark makes it no arm in any case
        assert rejected(summary) in ({"reward_not_number": 1}, {"line_repeats_header": 1})
    else:
        assert rejected(summary) == {"line_repeats_header": 1}
        assert summary.examples[0].line == 1_002


def test_an_arm_may_be_named_like_its_column(tmp_path: Path) -> None:
    summary = read(logs(tmp_path, *GOOD, "arm,1,x"))
    assert (summary.arms["arm"].n, rejected(summary)) == (1, {})


def test_only_the_file_that_needs_it_is_copied(tmp_path: Path, copies: Path) -> None:
    names = []
    for i, extra in enumerate([["A,1"], [], ["B,0.5,one more"]]):
        names.append(tmp_path / f"{i}.csv.gz")
        text = "\n".join([NAMES, *GOOD, *extra])
        names[-1].write_bytes(gzip.compress(text.encode()))
    query = LogQuery(arm="arm", reward="reward")
    source = FileSource(find(names), query)
    assert len(list(source.parts())) == 3
    assert [file.copy is not None for file in source.files] == [True, False, False]
    source.close()
    assert list(copies.iterdir()) == []
    summary = read(names)
    assert (summary.provenance.rows_used, rejected(summary)) == (3_001, {"line_ragged": 1})


def test_more_rows_than_allowed_are_refused_before_they_are_read(tmp_path: Path) -> None:
    plain = logs(tmp_path, *GOOD)
    odd = tmp_path / "odd.csv"
    odd.write_text("\n".join([NAMES, 'A,1,"x\ny"', *GOOD]))
    for names, allowed in ((plain, 1_000), (odd, 1_001), ([plain, odd], 2_001)):
        assert read(names, max_rows=allowed).provenance.rows_read == allowed
        with pytest.raises(
            InvalidInput, match=rf"max_rows is {allowed - 1:,}, and .* has more rows"
        ):
            read(names, max_rows=allowed - 1)


def test_rows_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"arm": ["A", "B"] * 500, "reward": [1, 0] * 500}), path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    thousand, one_more = b"\x16\xd0\x0f", b"\x16\xd2\x0f"  # the number of rows, as Thrift writes it
    path.write_bytes(whole[:footer] + whole[footer:].replace(thousand, one_more, 1))
    message = r"'.*a\.parquet' should have 1,001 rows, and 1,000 could be read: write it again"
    with pytest.raises(InvalidInput, match=message):
        read(path)


def test_a_copy_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert read(logs(tmp_path, *GOOD)).provenance.rows_used == 1_000
    with pytest.raises(DriftanchorError, match=r"cannot be written to '.*missing': No such file"):
        read(logs(tmp_path, *GOOD, "A,1"))
