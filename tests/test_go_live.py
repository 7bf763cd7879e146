"""The commands of the page "Go live" run as they stand there, and print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from campaign_commands import run

from benchmarks import example_log
from benchmarks.pages import readme

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "go-live.md"
ID = re.compile(r"\b[0-9a-f]{32}\b")


def steps() -> list[tuple[list[str], str]]:
    """Each command of the page in order, with what is shown below it."""
    blocks = re.findall(
        r"^```console\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    found = []
    for block in blocks:
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            typed = re.match(r"(?:.*\\\n)*.*\n", step)
            assert typed is not None
            found.append((readme.words(typed[0]), step[typed.end() :]))
    return [(words[1:], shown) for words, shown in found if words[0] == "driftanchor"]


@pytest.mark.usefixtures("in_own_folder")
def test_the_page_can_be_followed_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # as wide as the blocks of the page
    example_log.write_file(Path(readme.LOGS))
    given = ""
    for words, shown in steps():
        Path("rewards.csv").write_text(f"decision,reward\n{given},1\n{given},1\n")
        done = run(*(given if word == "ID" else word for word in words))
        assert done.exit_code == 0, (words, done.stderr)
        given = (ID.findall(done.stdout) or [given])[0]
        printed = ID.sub("ID", done.stderr + done.stdout)
        if shown.strip():
            assert lines(printed) == lines(shown), words
    assert Path("decisions.parquet").exists()


def lines(text: str) -> list[str]:
    """The lines without blanks at their ends and without rules, whose length ids change."""
    kept = (line.rstrip() for line in text.splitlines())
    return [line for line in kept if line and set(line) - {"─", " "}]


def test_the_page_shows_the_commands() -> None:
    named = {tuple(words[:2]) for words, _ in steps()}
    assert {("campaign", "create"), ("campaign", "tell"), ("store", "backup")} <= named
    assert len(steps()) >= 12
