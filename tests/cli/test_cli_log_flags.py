"""Every command that reads logs takes every log option, from the one table."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from driftanchor.cli.log_flags import Files, takes_log_options
from driftanchor.cli.main import app
from driftanchor.core.log_options import LOG_OPTIONS, LogOptions, flags_of

COMMANDS = ("logs", "shift", "plan", "replay")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_there(command: str) -> None:
    group: Any = typer.main.get_command(app)
    parameters = {parameter.name: parameter for parameter in group.commands[command].params}
    for name, option in LOG_OPTIONS.items():
        assert tuple(parameters[name].opts) == flags_of(name)
        assert parameters[name].help.startswith(option.help)
        assert parameters[name].required == (name == "arm" and command != "plan")


def read(*typed: str) -> dict[str, Any]:
    """The options a command gets from what is typed."""
    got: list[dict[str, Any]] = []
    small = typer.Typer()

    @small.command()
    @takes_log_options(arm_needed=False)
    def command(files: Files, *, options: LogOptions) -> None:
        got.append(dict(options))

    done = CliRunner().invoke(small, ["a.csv", *typed], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return got[0]


def test_what_is_left_out_is_left_out() -> None:
    assert read() == {}
    assert read("--memory", "400MB") == {}


def test_text_becomes_what_reading_takes() -> None:
    typed = "--arm ad --reward-range 0 2.5 --max-rows 1e3 --arms B,\tA --allow-growth --since x"
    assert read(*typed.split(" ")) == {
        "arm": "ad",
        "reward_range": (0, 2.5),
        "max_rows": 1000,
        "arms": ["B", "A"],
        "allow_growth": True,
        "since": "x",
    }
