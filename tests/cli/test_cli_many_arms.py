"""Tables of many arms are short, and say where the rest is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftanchor.cli.main import app
from driftanchor.render.table import MOST_ROWS

MANY = MOST_ROWS + 20


def out(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture
def rows(tmp_path: Path) -> str:
    """A file in which the last arms have the most rewards."""
    path = tmp_path / "logs.csv"
    names = ("x", "y")
    lines = [
        f"arm{i},{(i + k) % 2},{week}"
        for i in range(MANY)
        for week in names
        for k in range(2 + (i >= 20))
    ]
    path.write_text("\n".join(["arm,won,week", *lines]))
    return str(path)


@pytest.mark.parametrize("command", ["logs", "shift"])
def test_the_largest_arms_are_shown_and_json_has_all(command: str, rows: str) -> None:
    by = ("--by", "week") if command == "shift" else ()
    asked = (command, rows, "--arm", "arm", "--reward", "won", *by)
    told = out(*asked)
    shown = [line.split()[0] for line in told.splitlines() if line.startswith("  arm")]
    assert len(shown) == MOST_ROWS + 1  # and the heading
    assert not {f"arm{i}" for i in range(20)} & set(shown)
    note = f"the {MOST_ROWS} arms with the most rewards, of {MANY}: --json has all of them"
    assert note in told
    assert len(json.loads(out(*asked, "--json"))["arms"]) == MANY


def test_theory_of_many_arms_is_short_and_quick() -> None:
    asked = ("theory", "--online", "0.6,0.5*20000", "--offline", "same", "--offline-pulls", "9")
    told = out(*asked).splitlines()
    assert f"the {MOST_ROWS} arms that come first, of 20,000: --json has all of them" in told
    assert len(told) < MOST_ROWS + 20
