"""What commands show: no text of users commands a terminal, breaks JSON, or has no end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli import output
from driftanchor.cli.main import app

ODD = "a\x1b[31m\x07\udcff"
SHOWN = r"a\x1b[31m\x07\udcff"
SMALL = ("--horizon", "5", "--runs", "2", "--engine", "interpreted")
ROWS = "".join(f"{'AB'[i % 2]},{i % 3},{i % 4}\n" for i in range(40))
EXPERIMENT = r"""
engine = "interpreted"
title = "a\u001b[31m"
policies = [{ policy = "ts", label = "a\u001b[31m" }]
runs = 2
horizon = 5
[[sweep]]
name = "\u001b[31m"
"""


@pytest.fixture(autouse=True)
def _beside_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "numba", None)  # nothing here is long enough to compile
    Path("mine.toml").write_text(EXPERIMENT, encoding="utf-8")
    Path("logs.csv").write_text(f"arm,won,\x1b[31mred\n{ROWS}", encoding="utf-8")


def invoke(*arguments: str) -> Result:
    done = CliRunner().invoke(app, list(arguments))
    shown = done.stdout + done.stderr
    assert not any(sign in shown for sign in "\x1b\x07\udcff"), shown
    return done


def test_labels_on_a_terminal_and_in_files_are_written_as_escapes() -> None:
    files = ("--csv", f"{ODD}.csv", "--plot", f"{ODD}.svg")
    done = invoke("simulate", *SMALL, "--policy", f"{ODD}=ts", *files)
    assert done.exit_code == 0
    assert f"\n  {SHOWN} " in done.stdout
    assert done.stderr.splitlines()[-1].endswith(f"{SHOWN}.svg")
    assert r"a" "\x1b[31m\x07" r"\udcff,0,1," in Path(f"{ODD}.csv").read_text(encoding="utf-8")
    assert SHOWN in Path(f"{ODD}.svg").read_text(encoding="utf-8")


def test_labels_in_json_are_strict_json() -> None:
    done = invoke("simulate", *SMALL, "--policy", f"{ODD}=ts", "--json")
    label = "a\x1b[31m\x07" r"\udcff"
    assert list(json.loads(done.stdout)["policies"]) == [label]
    assert label.encode()  # no half of a character


@pytest.mark.usefixtures("little_drawn")
def test_texts_of_experiments_are_shown_as_escapes() -> None:
    done = invoke("reproduce", "mine.toml", "--out", ODD)
    assert (done.exit_code, "\x1b" in done.stdout) == (0, False)
    for report in ("report.html", "report.md"):
        assert "\x1b" not in Path(ODD, report).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logs", "logs.csv", "--arm", "x", "--reward", "won"), r"known: arm, won, \x1b[31mred"),
        (("logs", "logs.csv", "--arm", "arm", "--reward", ODD), SHOWN),
        (("logs", f"{ODD}.csv", "--arm", "x", "--reward", "won"), f"no file matches '{SHOWN}.csv'"),
        (("reproduce", f"{ODD}.toml"), f"the name of '{SHOWN}.toml' is not UTF-8"),
        (("simulate", f"--{ODD}"), f"--{SHOWN}"),
        ((f"{ODD}",), SHOWN),
    ],
)
def test_messages_show_text_of_users_as_escapes(arguments: tuple[str, ...], message: str) -> None:
    done = invoke(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_logs_whose_name_is_not_text_are_refused() -> None:
    Path("logs.csv").rename("\udcff.csv")
    done = invoke("logs", "\udcff.csv", "--arm", "arm", "--reward", "won")
    assert (done.exit_code, done.stdout) == (2, "")
    assert r"the name of '\udcff.csv' is not UTF-8: rename" in done.stderr


@pytest.mark.filterwarnings("ignore:Numba is not installed")
def test_a_page_and_saved_data_may_have_names_that_are_not_text() -> None:
    saved = ("--save", "\udcff.json", "--range", "0", "2")
    assert invoke("logs", "logs.csv", "--arm", "arm", "--reward", "won", *saved).exit_code == 0
    small = ("--horizon", "5", "--worlds", "2", "--bias-bound", "0.1", "-q")
    done = invoke("plan", "\udcff.json", *small, "--page", "\udcff.html")
    assert (done.exit_code, done.stderr) == (0, "")
    assert Path("\udcff.html").stat().st_size > 0


def test_a_message_has_an_end_and_keeps_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("error: unknown " + "x" * 100_000 + "; did you mean y?")
    said = capsys.readouterr().err
    assert len(said) < 2_100
    assert said.startswith("error: unknown xxx")
    assert said.endswith("xxx; did you mean y?\n")


def test_a_message_of_a_long_option_has_an_end() -> None:
    done = invoke("simulate", "--online", "0.5," * 50_000 + "x")
    assert (done.exit_code, len(done.stderr) < 2_100) == (2, True)
    assert "must be a number, got 'x'" in done.stderr
