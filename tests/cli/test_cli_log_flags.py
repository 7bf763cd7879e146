"""Every command that reads logs takes every log option, from the one table."""

from __future__ import annotations

import json
from pathlib import Path
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


SPOILT = "3 of 403 rows were not used: 2 without a reward, 1 whose time cannot be read"
COUNTS = {"reward_missing": 2, "time_unreadable": 1}
COLUMNS = ("--arm", "ad", "--reward", "won", "--time", "at")
EFFORT = ("--horizon", "30", "--worlds", "2")


def write_spoilt() -> None:
    """Logs of two ads over four weeks, in which three rows cannot be used."""
    rows = [f"2026-01-{1 + i // 15:02},{'AB'[i % 2]},{int(i % 3 == 0)}" for i in range(400)]
    rows += ["2026-01-05,A,", "2026-01-05,B,", "31/12/25,A,1"]
    Path("logs.csv").write_text("\n".join(["at,ad,won", *rows]) + "\n")


@pytest.mark.usefixtures("in_own_folder")
@pytest.mark.parametrize(
    "words",
    [
        ("plan", "logs.csv", *COLUMNS, "--bias-bound", "0.1", *EFFORT),
        ("replay", "logs.csv", *COLUMNS, "--split", "2026-01-15", *EFFORT),
        ("campaign", "create", "c", "logs.csv", *COLUMNS, "--bias-bound", "0.1"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_tells_which_rows_were_not_used(words: tuple[str, ...]) -> None:
    write_spoilt()
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.stderr
    assert f"note: {SPOILT}\n" in done.stderr
    told = json.loads(done.stdout)
    assert (told["rows_read"], told["rows_rejected"]) == (403, COUNTS)


@pytest.mark.usefixtures("in_own_folder")
def test_a_campaign_remembers_which_rows_were_not_used() -> None:
    write_spoilt()
    create = ("campaign", "create", "c", "logs.csv", *COLUMNS, "--bias-bound", "0.1")
    done = CliRunner().invoke(app, [*create, "--quiet"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"logs: {SPOILT}\n" in CliRunner().invoke(app, ["campaign", "show", "c"]).stdout
    told = json.loads(CliRunner().invoke(app, ["campaign", "show", "c", "--json"]).stdout)
    assert (told["rows_read"], told["rows_rejected"]) == (403, COUNTS)


@pytest.mark.usefixtures("in_own_folder")
def test_saved_offline_data_remember_it_too() -> None:
    write_spoilt()
    CliRunner().invoke(app, ["logs", "logs.csv", *COLUMNS, "--save", "offline.json"])
    plan = ("plan", "offline.json", "--bias-bound", "0.1", *EFFORT)
    assert f"note: {SPOILT}\n" in CliRunner().invoke(app, plan).stderr


@pytest.mark.usefixtures("in_own_folder")
def test_the_page_of_a_plan_has_it() -> None:
    write_spoilt()
    plan = ("plan", "logs.csv", *COLUMNS, "--bias-bound", "0.1", *EFFORT, "--page", "p.html")
    assert CliRunner().invoke(app, plan).exit_code == 0
    assert SPOILT in Path("p.html").read_text()


@pytest.mark.usefixtures("in_own_folder")
def test_nothing_is_said_where_all_rows_were_used() -> None:
    Path("logs.csv").write_text("ad,won\n" + "A,1\nB,0\nA,0\nB,1\n" * 9)
    create = ("campaign", "create", "c", "logs.csv", *COLUMNS[:4], "--bias-bound", "0.1", "--json")
    done = CliRunner().invoke(app, create)
    assert "not used" not in done.stderr
    assert json.loads(done.stdout)["rows_rejected"] == {}
    assert "logs:" not in CliRunner().invoke(app, ["campaign", "show", "c"]).stdout
    CliRunner().invoke(app, ["campaign", "create", "bare", "--arms", "A,B", "--range", "0", "1"])
    told = json.loads(CliRunner().invoke(app, ["campaign", "show", "bare", "--json"]).stdout)
    assert "rows_read" not in told
