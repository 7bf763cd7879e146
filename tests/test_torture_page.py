"""What `make torture` writes into its page, and the memory that it measures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.pages import render
from benchmarks.torture import __main__ as torture
from benchmarks.torture import memory, page
from benchmarks.torture.campaign_kills import Outcome as Kills
from benchmarks.torture.children import Outcome
from benchmarks.torture.memory import Peak


def test_the_counts_are_those_that_were_found() -> None:
    files = render.block(page.of_logs(Counter({"read": 1_200, "refused": 7}), 2, 5))
    assert "| read | 1,200 |\n| refused | 7 |\n| **the two readers differ** | 2 |" in files
    assert files.endswith("| all, seed 5 | 1,209 |")
    failures = ("case 1 of seed 5: a: takes 12 s", "case 2 of seed 5: b: KeyError")
    junk = render.block(page.of_junk(Outcome(300, (12.3, "a `b`"), failures), 5))
    assert "300 cases of seed 5: 2 failed, of which 1 took more than 10 s" in junk
    assert "took 12.3 s of the processor:\n\n```text\na 'b'\n```" in junk
    table = render.block(page.of_memory([Peak("a file", 2_900, "50MB", 7_000_000, "refused")]))
    assert "| a file | 2.9 KB | 50 MB | 7 MB | refused |" in table


def test_kills_and_requests_have_a_row_for_each() -> None:
    found = Kills(kills=100, acknowledged=20_000, lost=["x"], doubled=2, slowest=1.26)
    table = render.block(page.of_kills({"a server": found}))
    assert "| a server | 100 | 20,000 | 1 | 2 | 1.3 s |" in table
    tried = render.block(page.of_requests({"with a key": Outcome(5_000, (0.0, ""), ("x",))}, 3))
    assert "requests of seed 3" in tried
    assert "| with a key | 5,000 | 1 |" in tried


def test_other_blocks_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evidence").mkdir()
    there = tmp_path / page.NAME
    there.write_text("<!-- measured:one -->\n<!-- end -->\n<!-- measured:two -->\n<!-- end -->\n")
    monkeypatch.setattr(render, "MEASURED", tmp_path)
    monkeypatch.setattr(render, "DOCS", tmp_path)
    render.save(page.FILE, {"one": {"kind": "text", "text": "1"}})
    page.write({"two": {"kind": "text", "text": "2"}})
    assert render.load()["one"]["text"] == "1"
    assert there.read_text().split() == [
        *("<!--", "measured:one", "-->", "1", "<!--", "end", "-->"),
        *("<!--", "measured:two", "-->", "2", "<!--", "end", "-->"),
    ]


def test_a_short_run_does_not_change_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "write", lambda blocks: pytest.fail("it was written"))
    monkeypatch.setattr("sys.argv", ["torture", "logs", "--files", "3", "--seed", "4"])
    assert torture.main() == 0
    assert capsys.readouterr().out.startswith("3 files: ")


def test_a_file_is_read_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = memory.hostile_files(tmp_path, 0.001)
    assert len(every) == 12
    monkeypatch.setattr(memory, "hostile_files", lambda folder, scale: every[:1])
    said: list[str] = []
    (found,) = memory.measure(progress=said.append)
    assert found.outcome == "2 rows used, 3,000 rejected"
    assert found.size == every[0][0].stat().st_size
    assert 0 <= found.peak < 400e6
    assert len(said) == 1
