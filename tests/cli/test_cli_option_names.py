from __future__ import annotations

import warnings

import pytest
import typer

from driftanchor.cli import option_names, output
from driftanchor.cli.main import app

PLAN = typer.main.get_command(app).commands["plan"]  # type: ignore[attr-defined]
OPTIONS = {"reward_range": "--range", "noise": "--noise", "bias_bound": "--bias-bound"}


def test_the_options_of_a_command_are_known() -> None:
    found = option_names.options_of(PLAN.params)
    assert (found["reward_range"], found["bias_bound"]) == ("--range", "--bias-bound")
    assert "files" not in found


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("give a reward_range", "give a --range"),
        ("bias_bound and reward_range differ", "--bias-bound and --range differ"),
        ("the noise of a reward", "the noise of a reward"),  # a plain word
        ("unknown bias_bound 'x'", "unknown bias_bound 'x'"),
        ("column 'reward_range' is missing", "column 'reward_range' is missing"),
        ("the folder my/reward_range", "the folder my/reward_range"),
        ("save(bias_bound=3)", "save(bias_bound=3)"),
        ("give noise='low'", "give --noise low"),
        ("with reward_range (--range)", "with --range"),
        ("with noise (--noise)", "with --noise"),
    ],
)
def test_arguments_become_options(message: str, shown: str) -> None:
    assert option_names.with_options(message, OPTIONS) == shown


@pytest.mark.filterwarnings("always")
def test_warnings_name_the_options_of_the_command_that_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for within in (True, False):
        with (
            option_names.command(PLAN.params if within else []),
            output.plain_warnings(quiet=False),
        ):
            warnings.warn("give a reward_range", stacklevel=1)
    assert capsys.readouterr().err == ("warning: give a --range\nwarning: give a reward_range\n")
