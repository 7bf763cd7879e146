"""The same rows in two files: refused where that is sure, and named otherwise."""

from __future__ import annotations

import gzip
import os
import warnings
from pathlib import Path

import pytest

from driftanchor import InvalidInput, read_logs
from driftanchor.logs import log_file

CSV = b"arm,reward\nA,1\nB,0\nA,0\nB,1\n"


@pytest.fixture(autouse=True)
def _in_an_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_bytes(CSV)


def told(*logs: str) -> list[str]:
    """The warnings of reading logs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(read_logs(list(logs), arm="arm", reward="reward").warnings)


def test_a_hard_link_is_refused() -> None:
    os.link("x.csv", "y.csv")
    with pytest.raises(InvalidInput, match=r"'y\.csv' and 'x\.csv' are one file, by a hard link"):
        told("x.csv", "y.csv")


def test_a_pattern_does_not_take_a_file_and_what_was_packed_from_it() -> None:
    Path("x.csv.gz").write_bytes(gzip.compress(CSV))
    with pytest.raises(InvalidInput, match=r"'x\.csv' and 'x\.csv\.gz': .* one by one"):
        told("x.*")
    Path("x.csv.gz").write_bytes(gzip.compress(CSV.replace(b"A,1", b"A,0")))
    assert told("x.csv", "x.csv.gz") == []


@pytest.mark.parametrize("name", ["copy.csv", "x.csv.gz", "other.CSV.GZ"])
def test_a_copy_is_named_packed_or_not(name: str) -> None:
    Path(name).write_bytes(gzip.compress(CSV) if name.lower().endswith("gz") else CSV)
    (warning,) = told("x.csv", name)
    assert warning.startswith(f"{name!r} has the same content as 'x.csv': if it is a copy")


def test_files_of_the_same_size_are_not_copies() -> None:
    Path("y.csv").write_bytes(CSV.replace(b"A,1", b"A,0"))
    assert told("x.csv", "y.csv") == []


def test_a_sample_alone_proves_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "WHOLE", 100)
    monkeypatch.setattr(log_file, "SAMPLES", 2)
    monkeypatch.setattr(log_file, "SAMPLE", 10)
    names, rows = CSV[:11], CSV[11:]
    Path("a.csv").write_bytes(names + rows * 20)
    Path("b.csv").write_bytes(names + rows * 10 + rows.replace(b"0", b"1") + rows * 9)
    assert told("a.csv", "b.csv") == []


def test_a_few_copies_are_named() -> None:
    for i in range(5):
        Path(f"{i}.csv").write_bytes(CSV)
    assert len(told("x.csv", *(f"{i}.csv" for i in range(5)))) == 4
