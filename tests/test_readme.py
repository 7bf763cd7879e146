"""The commands of the README run as they stand there, one after the other."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftanchor.cli.main import app

README = Path(__file__).parents[1] / "README.md"
MADE = """
COPY (
    SELECT timestamp '2026-01-05' + interval (i * 151) second AS at,
        if(hash(i) % 2 = 0, 'blue', 'green') AS variant,
        (hash(3 * i) % 100 < if(hash(i) % 2 = 0, 12, 9))::INT AS converted
    FROM range(20000) t(i)
) TO 'last.parquet'
"""


def commands() -> list[list[str]]:
    """Every line of the README that calls the command."""
    lines = re.findall(r"^\$ driftanchor (.+)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    return [shlex.split(line) for line in lines]


def test_the_readme_has_the_commands() -> None:
    first = {words[0] for words in commands()}
    assert first == {"simulate", "policies", "reproduce", "theory", "logs", "shift", "plan"}


def test_they_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as connection:
        connection.execute(MADE)
    for words in commands():
        effort = ["--worlds", "40"] if words[0] == "plan" else []  # to save time
        done = CliRunner().invoke(app, [*words, *effort])
        assert done.exit_code == 0, f"{words}: {done.output}"
    assert (tmp_path / "plan.html").is_file()
    assert (tmp_path / "out/smoke/report.html").is_file()
