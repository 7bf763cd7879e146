"""The commands of the README run as they stand there, one after the other."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import example_log
from benchmarks.pages import readme
from driftanchor.cli.main import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
pytestmark = pytest.mark.usefixtures("little_drawn")


def commands() -> list[list[str]]:
    """Every line of the README that calls the command."""
    text = README.read_text(encoding="utf-8")
    lines = re.findall(r"^\$ driftanchor ((?:.*\\\n)*.+)$", text, re.MULTILINE)
    return [readme.words(line) for line in lines]


def test_the_readme_has_the_commands() -> None:
    first = {words[0] for words in commands()}
    assert first == {
        *("simulate", "policies", "reproduce", "theory", "logs", "shift", "plan", "campaign")
    }


def test_both_pages_show_the_same_verdict() -> None:
    blocks = {readme.BLOCK.findall(page.read_text(encoding="utf-8"))[0] for page in readme.PAGES}
    assert len(blocks) == 1


def test_they_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example_log.write_file(tmp_path / readme.LOGS)
    verdict = README.read_text(encoding="utf-8").partition("--horizon 10000\n")[2]
    for words in commands():
        shown = words == readme.command()
        worlds = "10" if shown else "2"  # to save time
        effort = ["--worlds", worlds] if words[0] == "plan" else []
        done = CliRunner().invoke(app, [*words, *effort])
        assert done.exit_code == 0, f"{words}: {done.output}"
        if shown:  # the numbers are those of more worlds, the choice is not
            assert done.stdout.startswith(verdict.partition(": about ")[0])
    assert (tmp_path / "plan.html").is_file()
    assert (tmp_path / "out/smoke/report.html").is_file()


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("−4.2 (−5.7 to −2.7)", "upworthy.md"),
        ("51 pairs", "upworthy.md"),
        ("223", "benchmarks.md"),
    ],
)
def test_numbers_quoted_from_the_evidence_stand_there(text: str, page: str) -> None:
    assert text in README.read_text(encoding="utf-8")
    assert text in (ROOT / "docs" / "evidence" / page).read_text(encoding="utf-8")


def test_the_number_of_checks_of_the_engines_stands_there() -> None:
    page = (ROOT / "docs" / "reference" / "engines.md").read_text(encoding="utf-8")
    assert "2,268 checks" in README.read_text(encoding="utf-8")
    assert "30,000 runs of each engine, 2,268 checks" in page
