"""Errors end in one line and an exit code, in groups of commands too."""

import re

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app
from driftanchor.errors import DriftanchorError
from driftanchor.simulation import run


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})


def plain(text: str) -> str:
    """Text without colours, which typer forces on some build servers."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def raiser(error: BaseException) -> object:
    def simulate(*_: object, **__: object) -> None:
        raise error

    return simulate


def test_an_unknown_option_is_wrong_usage() -> None:
    done = invoke("simulate", "--bananas")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--bananas" in plain(done.stderr)


def test_our_errors_end_in_one_line_and_their_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "simulate", raiser(DriftanchorError("no\nluck")))
    done = invoke("simulate")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "error: no luck\n")


def test_unexpected_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ZeroDivisionError("a defect")
    monkeypatch.setattr(run, "simulate", raiser(error))
    assert invoke("simulate").exception is error


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "simulate", raiser(KeyboardInterrupt()))
    done = invoke("simulate")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_pipe_that_breaks_elsewhere_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "simulate", raiser(BrokenPipeError(32, "Broken pipe")))
    done = invoke("simulate")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "error: [Errno 32] Broken pipe\n"


def test_too_little_memory_is_a_failure_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "simulate", raiser(MemoryError()))
    done = invoke("simulate")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "error: there is not enough memory for this: ask for less\n"


def test_errors_name_the_option_of_a_command_in_a_group() -> None:
    words = ("campaign", "create", "c", "--arms", "A,B", "--floor", "2")
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --floor must be between 0 and 1, got 2")
