from __future__ import annotations

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("simulate --horizon 5 --horizon 6", "--horizon"),
        ("simulate --horizon=5 --runs 2 --horizon 5", "--horizon"),
        ("simulate --quiet -q", "--quiet"),
        ("simulate -qq", "--quiet"),
        ("logs a.csv --arm a --range 0 1 --reward-range 0 2", "--range"),
        ("shift a.csv --arm a --by b --coverage 0.9 --coverage 0.5", "--coverage"),
        ("plan a.json --horizon 9 --page a.html --page b.html", "--page"),
        ("policies --json --json", "--json"),
    ],
)
def test_an_option_given_twice_is_refused_by_name(line: str, option: str) -> None:
    done = invoke(*line.split())
    message = f"error: {option} is given 2 times: give it once\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)


def test_options_that_may_repeat_do() -> None:
    two = ("--policy", "ts", "--policy", "ucb")
    small = ("--runs", "1", "--horizon", "5", "--engine", "interpreted")
    assert invoke("simulate", *two, *small).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("simulate", "--coverage", ""), "--coverage"),
        (("simulate", "--csv", ""), "--csv"),
        (("simulate", "--policy", ""), "--policy"),
        (("shift", "a.csv", "--arm", "a", "--by", "b", "--coverage="), "--coverage"),
        (("reproduce", "fig1", "--out", ""), "--out"),
        (("plan", "a.json", "--horizon", "9", "--page", ""), "--page"),
        (("logs", "a.csv", "--arm", "a", "--range", "", "1"), "--range"),
        (("logs", "a.csv", "--arm", "a", "--where", ""), "--where"),
    ],
)
def test_an_empty_value_is_refused_by_name(arguments: tuple[str, ...], name: str) -> None:
    done = invoke(*arguments)
    message = f"error: {name} is empty: give a value, or leave the option out\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize("arguments", [("logs", "", "--arm", "a"), ("reproduce", "fig1", "")])
def test_an_empty_argument_is_refused(arguments: tuple[str, ...]) -> None:
    done = invoke(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(" is empty: give a value\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("simulate --bananas 1", "No such option: --bananas"),
        ("logs a.csv", "Missing option '--arm'"),
        ("logs --arm a", "Missing argument 'FILE...'"),
        ("simulate --horizon", "Option '--horizon' requires an argument"),
        ("simulate 5", "Got unexpected extra argument(s) (5)"),
        ("policies --json=1", "Option '--json' does not take a value"),
    ],
)
def test_wrong_usage_is_one_line_that_says_where_to_look(line: str, message: str) -> None:
    done = invoke(*line.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}; '")
    assert done.stderr.endswith(f"{line.split()[0]} --help' shows what there is\n")
    assert done.stderr.count("\n") == 1
