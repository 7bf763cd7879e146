"""One database is kept for small logs, and every reading leaves it as it was."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from log_folder import CSV, read, write

from driftanchor import InvalidInput
from driftanchor.logs import database, sandbox
from driftanchor.logs.database import Database, close_idle, open_database
from driftanchor.logs.file_source import FileSource
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.log_files import find
from driftanchor.logs.query import LogQuery

pytestmark = pytest.mark.usefixtures("in_own_folder")
duckdb: Any = importlib.import_module("duckdb")
MEMORY = "300MB"  # no other test takes as much, so each starts without a database


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for copies, which is empty in the end."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    close_idle()
    assert list(folder.iterdir()) == []


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each database sees that is started."""
    seen: list[int] = []
    connect = sandbox.connect

    def counted(paths: list[Path], memory: str) -> object:
        seen.append(len(paths))
        return connect(paths, memory)

    monkeypatch.setattr(sandbox, "connect", counted)
    return seen


def opened(*names: str) -> tuple[Database, list[LogFile]]:
    return open_database(find(names), MEMORY)


def test_small_logs_are_read_by_one_database(started: list[int]) -> None:
    for name in ("a.csv", "b.csv"):
        assert read(write(name), memory=MEMORY).n.tolist() == [2, 2]
    write("a.csv", CSV + "A,1\n")
    assert read("a.csv", memory=MEMORY).n.tolist() == [3, 2]
    with pytest.raises(InvalidInput, match="has no column 'arm'"):
        read(write("c.csv", "x\n1\n"), memory=MEMORY)
    assert read(["a.csv", "b.csv"], memory=MEMORY).n.tolist() == [5, 4]
    assert len(started) == 1


def test_it_sees_copies_which_go_when_it_is_left(copies: Path) -> None:
    kept, (file,) = opened(write("a.csv"))
    assert file.read_at.read_text() == CSV
    assert file.read_at.parent.parent == copies
    assert file.read_at.parent.stat().st_mode & 0o777 == 0o700
    scan = f"SELECT count(*) FROM read_csv('{file.read_at}')"
    assert kept.connection.execute(scan).fetchall() == [(4,)]
    with pytest.raises(duckdb.Error):
        kept.connection.execute(f"FROM read_csv('{file.path}')")
    kept.leave()
    assert list(copies.iterdir()) == []


def test_two_readings_at_once_have_a_database_each() -> None:
    one, _ = opened(write("a.csv"))
    other, _ = opened(write("b.csv"))
    assert one is not other
    one.leave()
    other.leave()
    again, _ = opened("a.csv")
    assert again is other  # the last that was used
    again.leave()


def test_a_source_that_is_closed_twice_takes_nothing_from_the_next_reading() -> None:
    query = LogQuery(arm="arm", reward="reward", memory=MEMORY)
    source = FileSource(find([write("a.csv")]), query)
    source.close()
    other, (file,) = opened("a.csv")
    source.close()
    assert other.connection is source.connection
    assert file.read_at.is_file()
    assert not database._idle
    other.leave()


def test_large_or_many_files_are_read_where_they_are(started: list[int]) -> None:
    large, (file,) = opened(write("a.csv", CSV + "A,1\n" * 300_000))
    many, files = opened(*(write(f"{i}.csv") for i in range(database.PLACES + 1)))
    for left in (large, many):
        left.leave()
    assert [each.read_at for each in (file, *files)] == [each.path for each in (file, *files)]
    assert started == [3, 3 * (database.PLACES + 1)]  # each file, and places for its copies


def test_a_database_that_answers_no_more_is_not_kept() -> None:
    broken, _ = opened(write("a.csv"))
    broken.connection.close()
    broken.leave()
    other, _ = opened("a.csv")
    assert other is not broken
    other.leave()


def test_a_fork_finds_no_database() -> None:
    kept, _ = opened(write("a.csv"))
    kept.leave()
    child = os.fork()
    if child == 0:
        os._exit(len(database._idle))
    assert os.waitpid(child, 0)[1] == 0
    assert not database._idle


def test_where_no_copy_can_be_written_the_files_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert read(write("a.csv"), memory=MEMORY).n.tolist() == [2, 2]


def test_errors_name_the_file_and_not_its_copy(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot read 'a\.parquet': ") as refused:
        read(write("a.parquet", b"PAR1 and nothing else PAR1"), memory=MEMORY)
    assert str(tmp_path / "a.parquet") in str(refused.value)
    assert "copies" not in str(refused.value)
