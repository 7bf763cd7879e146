"""`driftanchor identify` shows what `identify` measures."""

from __future__ import annotations

import csv
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import driftanchor as da
from driftanchor.cli.main import app

SMALL = ("--runs", "4", "--engine", "interpreted", "--noise", "0.3")
WORLD = ("--online", "0.9,0.1", "--offline", "0.5,0.5", "--offline-pulls", "20")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["identify", *arguments])


def report(*arguments: str) -> Any:
    done = invoke(*SMALL, "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_json_says_what_the_function_measures() -> None:
    said = report(*WORLD, "--delta", "0.2", "--radius", "paper", "--seed", "5")
    bandit = da.Bandit([0.9, 0.1], 0.5, 20, noise=0.3)
    found = da.identify(bandit, delta=0.2, radius="paper", runs=4, seed=5, engine="interpreted")
    assert said["rules"] == found.summary()
    assert said["bandit"]["bias_bound"] == pytest.approx([0.4, 0.4])
    assert {key: said[key] for key in ("best", "bounds_hold", "delta", "radius", "runs")} == {
        "best": "1",
        "bounds_hold": True,
        "delta": 0.2,
        "radius": "paper",
        "runs": 4,
    }
    assert (said["seed"], said["most_pulls"], said["version"]) == (5, 1_000_000, da.__version__)


def test_without_options_it_is_the_papers_biased_setting() -> None:
    said = report("--most-pulls", "12")
    assert said["bandit"]["offline"] == da.Bandit.paper(biased=True).offline.tolist()
    assert list(said["rules"]) == ["lucb-h", "lucb", "trusting"]
    assert said["rules"]["lucb"]["stopped"] == 0.0


def test_the_table_is_for_people() -> None:
    done = invoke(*SMALL, *WORLD)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "pulls until the best arm is known, δ = 0.05, 4 runs, seed 0"
    names = [line.split()[0] for line in lines if line.split()]
    assert [name for name in names if name in ("lucb-h", "lucb", "trusting")] == [
        *("lucb-h", "lucb", "trusting")
    ]
    assert "does not hold" not in done.stdout
    assert "2 arms, online means 0.9,0.1" in done.stderr


def test_a_bound_that_does_not_hold_and_runs_that_do_not_stop_are_named() -> None:
    done = invoke(*SMALL, *WORLD, "--bias-bound", "0.1", "--most-pulls", "6")
    assert "The bias bound of arm 1 is 0.1 and its mean has moved by 0.4" in done.stdout
    assert "Runs that did not stop count with 6 pulls." in done.stdout
    assert report(*WORLD, "--bias-bound", "0.1")["bounds_hold"] is False


def test_quiet_says_nothing_and_a_file_has_every_run(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    done = invoke(*SMALL, *WORLD, "--quiet", "--csv", str(file))
    assert (done.exit_code, done.stderr) == (0, "")
    with file.open(newline="", encoding="utf-8") as rows:
        assert len(list(csv.DictReader(rows))) == 3 * 4


def test_the_documented_defaults_are_the_functions() -> None:
    done = CliRunner().invoke(app, ["identify", "--help"], env={"COLUMNS": "200"})
    shown = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    parameters = inspect.signature(da.identify).parameters
    for name in ("delta", "radius", "runs", "seed", "most_pulls", "engine"):
        assert f"[default: {parameters[name].default}]" in shown, name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--delta x", "--delta must be a number, got 'x'"),
        ("--delta 1", "--delta must be at most 0.5, got 1"),
        ("--radius wide", "--radius: unknown radius 'wide'; known: anytime, paper"),
        ("--most-pulls 2", "--most-pulls must be between 10 and 1e+12, got 2"),
        ("--online 0.5,0.5", "--online has equal best arms, 1, 2: no number of pulls"),
        ("--reward student", "--reward is 'student': its tails are too heavy"),
        ("--csv /nowhere/x.csv", "--csv cannot write '/nowhere/x.csv'"),
        ("--noise 2 --reward bernoulli", "--noise '2' is not for bernoulli rewards"),
    ],
)
def test_bad_values_are_named_with_their_option(arguments: str, message: str) -> None:
    done = invoke(*arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}")
    assert done.stderr.count("\n") == 1
