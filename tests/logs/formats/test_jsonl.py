from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftanchor import RejectedRows, read_logs
from driftanchor.logs import sandbox
from driftanchor.logs.formats import Lines
from driftanchor.logs.formats.jsonl import Jsonl, KeySurvey
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.query import LogQuery

GOOD = [json.dumps({"arm": "AB"[i % 2], "reward": i % 3}) for i in range(12_000)]


def written(path: Path, content: str) -> LogFile:
    path.write_text(content, newline="")
    return LogFile(path.name, path, "jsonl", "")


def test_the_columns_are_the_wanted_keys_or_some_if_one_is_missing(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", '{"arm": 1, "x": 1}\n[2]\n{"b/c~d": {"e": 3}, "arm": 4}\n')
    with sandbox.connect([file.path], "400MB") as connection:
        found = Jsonl().scan(connection, file, LogQuery(arm="arm", reward="b/c~d"))
        unknown = Jsonl().scan(connection, file, LogQuery(arm="arm", reward="y"))
    assert list(found.columns) == ["arm", "b/c~d"]
    assert list(unknown.columns) == ["arm", "b/c~d", "x"]
    assert found.columns["b/c~d"].sql == "json->>'/b~1c~0d'"


@pytest.mark.parametrize(
    "line",
    [
        '{"arm": "A", "reward": 1, "reward": 0}',
        '{"reward": 1, "arm": "A", "reward": 1}',
        '{"arm": "A", "reward": 1, "rew\\u0061rd": 0}',
        '{"arm": "A", "arm": "B", "reward": 1}',
    ],
)
def test_a_key_that_an_object_has_twice_is_rejected_wherever(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for place in (1, 11_000):
        path.write_text("\n".join([*GOOD[:place], line, *GOOD[place:]]))
        summary = read_logs(path, arm="arm", reward="reward")
        assert summary.provenance.rows_rejected == (("line_repeats_key", 1),)
        assert (summary.provenance.rows_used, summary.examples[0].line) == (12_000, place + 1)
    path.write_text(f"{GOOD[0]}\n{line}\n")
    with pytest.raises(RejectedRows, match=r"line_repeats_key 1 \(.*a\.jsonl:2\)"):
        read_logs(path, arm="arm", reward="reward")


@pytest.mark.parametrize(
    "line",
    [
        '{"arm": "A", "reward": 1, "x": {"arm": "B", "reward": 2}}',
        '{"arm": "\\"arm\\" \\"arm\\"", "reward": 1}',
        '{"arm": "A", "reward": 1, "note": "\\"reward\\", \\"reward\\""}',
        '{"arm": "A", "reward": 1, "x": 1, "x": 2}',
    ],
)
def test_what_only_looks_like_a_key_twice_is_read(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{GOOD[1]}\n{line}\n")
    assert read_logs(path, arm="arm", reward="reward").provenance.rows_used == 2


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", '{"arm": 1}\n\n \t\nno json\r\n[1]\n')
    query = LogQuery(arm="arm", reward="x")
    assert list(Jsonl().lines(file, query)) == [
        Lines(1, [b'{"arm": 1}']),
        Lines(4, [b"no json"]),
        Lines(5, [b"[1]"]),
    ]
    assert list(Jsonl().numbers(file, query)) == [{"reward": ""}]


def test_every_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [*GOOD[:300], "  ", '{"arm": "A", "reward": 1}{"arm": "A", "reward": 1}', "", "{"]
    for end in ("\n", "\r\n", "\r"):
        path.write_text(end.join(lines), newline="")
        summary = read_logs(path, arm="arm", reward="reward")
        assert summary.provenance.rows_used == 300
        assert summary.provenance.rows_rejected == (("line_not_json", 2),)
        assert [example.line for example in summary.examples] == [302, 304]


def test_an_object_that_is_too_long_is_one_line_less(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = json.dumps({"arm": "A", "reward": 1, "x": "y" * 17_000_000})
    path.write_text("\n".join([*GOOD[:300], long, *GOOD[:300]]))
    summary = read_logs(path, arm="arm", reward="reward")
    assert summary.provenance.rows_used == 600
    assert [(e.reason, e.line) for e in summary.examples] == [("line_too_long", 301)]


@pytest.mark.parametrize("size", [1, 5, 64, 1_000])
@pytest.mark.parametrize(
    ("lines", "unique"),
    [
        (['{"arm": "A", "reward": 1}', '{"arm": "B", "reward": 1}'], True),
        (['{"arm": "A", "reward": 1}', '{"arm": "B", "reward": 1, "reward": 2}'], False),
        (['{"arm": "arm"}', '{"arm": "B", "x": "reward"}'], False),  # one has to look
        (['{"arm": "A", "reward": 1}', '{"arm": "B", "rew\\u0061rd": 1}'], False),
    ],
)
def test_keys_are_counted_wherever_a_piece_ends(lines: list[str], unique: bool, size: int) -> None:
    found = KeySurvey(["arm", "reward"])
    text = "\n".join(lines).encode()
    for i in range(0, len(text), size):
        found.add(text[i : i + size])
    found.end()
    assert (found.unique, found.lines) == (unique, 2)
