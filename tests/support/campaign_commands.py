"""Campaigns by commands, in the folder of a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from driftanchor.cli.main import app

LOGS = ("logs.csv", "--arm", "ad", "--reward", "won", "--bias-bound", "0.1")


def run(*words: str, text: str | None = None) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, list(words), input=text, prog_name="driftanchor")


def said(*words: str, text: str | None = None) -> Any:
    """The JSON that a command prints; it must end well."""
    done = run(*words, "--json", text=text)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def new(name: str = "c", *words: str) -> None:
    """A campaign of two arms without logs, whose rewards are from 0 to 1."""
    done = run(
        "campaign", "create", name, "--arms", "A,B", "--range", "0", "1", "--seed", "1", *words
    )
    assert done.exit_code == 0, done.stderr


def asked(name: str = "c", *words: str) -> Any:
    """A decision."""
    return said("campaign", "ask", name, *words)


def refused(code: int, message: str, *words: str, text: str | None = None) -> None:
    """A command must end with a code and one line on stderr that says this, and print nothing."""
    done = run(*words, text=text)
    assert (done.exit_code, done.stdout) == (code, ""), done.stderr
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("error: ")
    assert message in lines[-1]


def write_logs() -> None:
    """A file of logs: 120 rows of two ads over a month."""
    rows = [f"2026-01-{1 + i // 4:02},{'AB'[i % 2]},{int(i % 3 == 0)}" for i in range(120)]
    Path("logs.csv").write_text("\n".join(["at,ad,won", *rows]) + "\n")
