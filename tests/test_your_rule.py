"""The tutorial for researchers: its files and commands, in an empty folder, at a small size."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_lines import replacing
from typer.testing import CliRunner

from driftanchor.cli.main import app
from driftanchor.policies import outside

PAGE = (Path(__file__).parents[1] / "docs" / "learn" / "your-rule.md").read_text(encoding="utf-8")
SMALLER = {  # to save time: the numbers on the page are those of the sizes that stand there
    "runs = 500": 'runs = 2\nengine = "interpreted"',
    "horizon = 5_000": "horizon = 30",
    'runs=2_000, engine="thinned"': 'runs=3, engine="interpreted"',
    "horizon=5_000": "horizon=30",
}
pytestmark = pytest.mark.usefixtures("little_drawn")


def files() -> dict[str, str]:
    """The files of the page: each begins with its name."""
    blocks = re.findall(r"^```\w+\n# (\w+\.\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return dict(blocks)


def commands() -> list[list[str]]:
    lines = re.findall(r"^\$ driftanchor ((?:.*\\\n)*.+)$", PAGE, re.MULTILINE)
    return [shlex.split(line.replace("\\\n", " ")) for line in lines]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a reader who has written all files; what was imported is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in files().items():
        for full, small in SMALLER.items():
            text = text.replace(full, small)
        (tmp_path / name).write_text(text, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("power_ucb", None)


def test_the_page_has_its_files_and_commands() -> None:
    assert list(files()) == ["power_ucb.py", "duel.toml", "compare.py"]
    assert [words[0] for words in commands()] == ["simulate", "reproduce"]
    assert all(text in PAGE for text in SMALLER)
    assert len(tomllib.loads(files()["duel.toml"])["policies"]) == 2 + 10


def test_a_rule_of_ones_own_runs_by_name_beside_others(folder: Path) -> None:
    simulate, reproduce = commands()
    small = ["--runs", "2", "--horizon", "30", "--engine", "interpreted", "--json"]
    shown = CliRunner().invoke(app, replacing(*simulate, *small))
    assert shown.exit_code == 0, shown.output
    assert list(json.loads(shown.stdout)["policies"])[:2] == ["power-ucb", "all logs"]
    refused = CliRunner().invoke(app, [word for word in reproduce if word != "--allow-import"])
    assert refused.exit_code == 2
    assert "add --allow-import" in refused.stderr
    judged = CliRunner().invoke(app, [*reproduce, "--json"])
    assert judged.exit_code == 0, judged.output
    claims = json.loads(judged.stdout)["claims"]
    assert [(claim["id"], claim["place"]) for claim in claims] == [
        ("logs-help", "duel.toml"),
        ("safe", "duel.toml"),
        ("best", "duel.toml"),
    ]
    for claim in claims:
        assert f"| {claim['says']} |" in PAGE
    assert (folder / "duel" / "report.html").is_file()


def test_two_rules_are_compared_run_by_run(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    runpy.run_path("compare.py")
    mean, tail = capsys.readouterr().out.splitlines()
    assert mean.startswith("mean regret of power-ucb − ucb: ")
    assert tail.startswith("q99 regret of power-ucb − ucb: ")
    assert (folder / "regret.png").is_file()


def test_the_entry_point_is_one_that_is_looked_for() -> None:
    block = PAGE.rpartition("```toml\n")[2].partition("```")[0]
    offered = tomllib.loads(block)["project"]["entry-points"]
    assert offered == {outside.GROUP: {"power-ucb": "power_ucb:PowerUCB"}}
