"""What holds for every format, and what it takes to add one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driftanchor import InvalidInput, read_logs
from driftanchor.logs.formats import FORMATS, SUFFIXES, Column, Format, Scan
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.query import LogQuery


class Bars(Format):
    """A format of a test's own: `arm|reward` on each line, and no names."""

    suffixes = (".bars",)

    def scan(self, connection: Any, file: LogFile, query: LogQuery) -> Scan:
        names = ("arm", "reward")
        columns = {name: Column(name, name, "VARCHAR") for name in names}
        types = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
        options = f", auto_detect=false, header=false, delim='|', columns={{{types}}}"
        return Scan((file,), "read_csv", options, columns)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formats with one more entry."""
    monkeypatch.setitem(FORMATS, "bars", Bars())
    monkeypatch.setitem(SUFFIXES, ".bars", "bars")


def test_no_two_formats_share_a_suffix() -> None:
    assert len(SUFFIXES) == sum(len(format.suffixes) for format in FORMATS.values())
    assert all(suffix.startswith(".") for suffix in SUFFIXES)


@pytest.mark.usefixtures("bars")
@pytest.mark.parametrize(("name", "options"), [("a.bars", {}), ("a.x", {"format": "bars"})])
def test_a_new_format_is_a_class_and_an_entry(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text("A|1\nB|0\nA|0\n")
    found = read_logs(file, arm="arm", reward="reward", **options)
    assert {label: arm.n for label, arm in found.arms.items()} == {"A": 2, "B": 1}
    file.write_text("A|1\nB|x\nB|1\nB|0\n")
    rejected = read_logs(file, arm="arm", reward="reward", allow_rejects=True, **options)
    first = rejected.examples[0]
    assert (first.reason, first.line, first.value) == ("reward_not_number", 2, "x")


def test_an_unknown_suffix_is_told_the_formats(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("arm,reward\nA,1\n")
    with pytest.raises(InvalidInput, match=r"or give format: csv, parquet, jsonl$"):
        read_logs(tmp_path / "a.dat", arm="arm", reward="reward")
