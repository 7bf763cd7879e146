from __future__ import annotations

from pathlib import Path

from driftanchor.logs import sandbox
from driftanchor.logs.formats.base import Place, Scan
from driftanchor.logs.formats.jsonl import Jsonl
from driftanchor.logs.log_file import LogFile


def scan(path: Path, content: str) -> Scan:
    path.write_text(content)
    with sandbox.connect([path], "400MB") as connection:
        return Jsonl().scan(connection, LogFile(path.name, path, "jsonl", ""), "arm")


def test_the_columns_are_all_keys_of_the_objects(tmp_path: Path) -> None:
    found = scan(tmp_path / "a.jsonl", '{"arm": 1}\n[2]\n{"b/c~d": {"e": 3}, "arm": 4}\n')
    assert list(found.columns) == ["arm", "b/c~d"]
    assert found.columns["b/c~d"].sql == "json->>'/b~1c~0d'"


def test_a_key_that_an_object_has_twice_is_ambiguous(tmp_path: Path) -> None:
    found = scan(tmp_path / "a.jsonl", '{"arm": 1, "x": 1}\n{"x": 1, "arm": 2, "x": 2}\n')
    types = {name: column.type for name, column in found.columns.items()}
    assert types == {"arm": "VARCHAR", "x": "ambiguous"}


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    found = scan(tmp_path / "a.jsonl", '{"arm": 1}\n\nno json\n')
    assert list(Jsonl().places(found, ())) == [Place(1, 1, 1), Place(3, 3, 2)]
