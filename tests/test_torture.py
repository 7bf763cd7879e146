"""A short run of what `make torture` tries, and that it would notice a reader that is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.torture import logs, plain_reader
from benchmarks.torture.log_writer import Case, write
from benchmarks.torture.plain_reader import Refused


def test_damaged_logs_are_refused_or_add_up() -> None:
    outcomes, failures = logs.torture(seed=1, numbers=range(24))
    assert failures == {}
    assert min(outcomes["refused"], outcomes["read"], outcomes["read, some rows rejected"]) > 2


def test_a_file_follows_from_its_seed_and_number(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    made = [write(tmp_path / folder, 5, number) for folder in ("a", "b") for number in range(9)]
    for one, other in zip(made[:9], made[9:], strict=True):
        assert (one.damage, one.path.read_bytes()) == (other.damage, other.path.read_bytes())


def plain(path: Path, content: bytes, format: str = "csv") -> tuple[int, dict[str, int]]:
    path.write_bytes(content)
    found = plain_reader.read(path, format)
    return found.rejected, dict(found.n)


def test_the_plain_reader_knows_quotes(tmp_path: Path) -> None:
    head = b"arm,reward,note\nA,1,x\n"
    path = tmp_path / "a.csv"
    assert plain(path, head + b'B,0,"two\nlines, ""x"""\n') == (0, {"A": 1, "B": 1})
    assert plain(path, head + b'B,0,"open\nA,1,x\nA,1,x\n') == (3, {"A": 1})
    assert plain(path, head + b'B,0,"open\nA,1,closed"\nA,1,x\n') == (2, {"A": 2})
    assert plain(path, head + b'B,"0"x,y\n\nB,0\nB,0,x,\n') == (2, {"A": 1, "B": 1})
    assert plain(path, head + b"arm,reward,note\r\nA,nan,x\rA,1_0,x") == (3, {"A": 1})
    for content in (head + b"\0", b"arm,note\nA,1\n", b"", b"arm,reward\n", b"\xff\xfea"):
        with pytest.raises(Refused):
            plain(path, content)


def test_the_plain_reader_knows_json(tmp_path: Path) -> None:
    rows = [{"arm": "A", "reward": 1}, {"arm": "A", "reward": "true"}, {"arm": 7, "reward": None}]
    text = "\n".join(map(json.dumps, rows)) + '\n\n{"arm": "A", "arm": "A", "reward": 1}\n{'
    assert plain(tmp_path / "a.jsonl", text.encode(), "jsonl") == (3, {"A": 2})


def test_a_difference_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"arm,reward\nA,1\nB,0\n"))
    case = Case(path, "csv", ())
    assert logs.compare(case) == ("read", "")
    monkeypatch.setattr(plain_reader, "number", lambda text: 2.0)
    assert logs.compare(case)[1].startswith("sum of 'A': 2.0 and 1.0")
    monkeypatch.setattr(plain_reader, "LONGEST_LABEL", 0)
    assert "plain reader refused: no row can be used, ours read 2 rows" in logs.compare(case)[1]
