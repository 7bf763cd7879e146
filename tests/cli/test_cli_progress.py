"""What people see of a long command where stderr is no terminal."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli import progress
from driftanchor.cli.main import app
from driftanchor.cli.progress import CellProgress, RunLines, doing, heartbeat

EXPERIMENT = """
engine = "interpreted"
policies = ["ts", "ucb"]
runs = 2
horizon = 20
[[sweep]]
vary.gap = [0.3, 0.1]
"""
LOGS = "arm,reward\n" + "A,1\nA,0\nB,0\nB,1\n" * 9
pytestmark = pytest.mark.usefixtures("little_drawn")


@pytest.fixture(autouse=True)
def _inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(EXPERIMENT, encoding="utf-8")
    Path("logs.csv").write_text(LOGS, encoding="utf-8")


def invoke(*arguments: str) -> Result:
    done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.stderr
    return done


def test_reproduce_prints_a_line_for_each_finished_cell() -> None:
    lines = invoke("reproduce", "mine.toml").stderr.splitlines()
    times = [re.sub(r"\d+:\d\d", "0:00", line) for line in lines]
    assert times[0].startswith("mine/gap=0.3 done, ")
    assert times[1] == "mine/gap=0.1 done, 100 % of all after 0:00"
    assert invoke("reproduce", "mine.toml").stderr == "report: out/report.html\n"


def test_reproduce_is_silent_when_quiet() -> None:
    assert invoke("reproduce", "mine.toml", "--quiet").stderr == ""


def test_plan_prints_a_line_for_each_quarter() -> None:
    arguments = ("plan", "logs.csv", "--arm", "arm", "--reward", "reward", "--bias-bound", "0.1")
    size = ("--horizon", "20", "--worlds", "2")
    lines = invoke(*arguments, *size).stderr.splitlines()
    early = [line for line in lines if " runs done after " not in line]
    assert early[0].startswith("ts without the logs: loses ")
    assert any(line.startswith("guarded-anchor-ts with the logs: loses ") for line in early)
    shares = [line.partition(" runs done after ")[0] for line in lines if line not in early]
    assert [share.partition(" of ")[0] for share in shares] == ["25 %", "50 %", "75 %", "100 %"]
    assert invoke(*arguments, *size, "--quiet").stderr == ""


def test_a_quarter_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = RunLines(at_most=True)
    for done in range(1, 9):
        lines(done, 8)
    assert [line[:4] for line in capsys.readouterr().err.splitlines()] == [
        "25 %",
        "50 %",
        "75 %",
        "100 ",
    ]


def test_the_time_of_each_experiment_is_kept() -> None:
    cells = CellProgress(None, lines=False)
    cells.step("a/x=1 ts", 1, 4)
    cells.step("b/x=1 ts", 4, 4)
    assert list(cells.seconds) == ["a", "b"]
    assert cells.summary() == "took a 0:00, b 0:00 (minutes:seconds)"


def test_long_work_is_not_silent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "FIRST_PAUSE", 0.001)
    said = threading.Event()
    lines = RunLines("compiling or running ts", now=lambda: 0.0)

    def message() -> str:
        said.set()
        return lines.message()

    with heartbeat(message, quiet=False):
        assert said.wait(60)
    printed = capsys.readouterr().err.splitlines()
    assert set(printed) == {"compiling or running ts, 0:00 so far"}


def test_quiet_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.enumerate()
    with heartbeat(lambda: "at work", quiet=True):
        assert threading.enumerate() == before
    assert capsys.readouterr().err == ""


def test_a_line_says_how_far_the_work_is_and_how_long_it_will_take() -> None:
    times = iter((0.0, 10.0, 100.0))
    lines = RunLines(now=lambda: next(times))
    lines(1, 101)  # too early to tell
    assert lines.message() == "1 of 101 runs done after 0:10"
    lines(50, 150)
    assert lines.message() == "50 of 150 runs done after 1:40, about 3:20 left"
    cells = CellProgress(None, lines=False)
    assert cells.message() == "compiling or running the first cells, 0:00 so far"
    cells.step("a/x=1 ts", 1, 4)
    assert cells.message() == "25 % of all done after 0:00"
    cells.step("a/x=2 ts", 4, 4)
    assert cells.message().startswith("judging claims, drawing figures or writing the report")


def test_more_runs_are_told_apart_from_those_of_the_beginning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cells = CellProgress(None, lines=True)
    cells.step("a/x=1 ts", 4, 4)
    cells.more(3)
    assert cells.message() == "0 % of more runs for 3 claims done after 0:00"
    cells.step("a/x=1 ts", 1, 2)
    cells.finished("a/x=1")
    assert capsys.readouterr().err == "a/x=1 done, 50 % of more runs for 3 claims after 0:00\n"
    cells.more(1)
    assert cells.message() == "0 % of more runs for 1 claim done after 0:00"


def test_no_time_is_estimated_while_the_number_of_runs_is_not_known() -> None:
    times = iter((0.0, 100.0))
    lines = RunLines(at_most=True, now=lambda: next(times))
    lines.done, lines.total = 90, 100
    assert lines.message() == "90 of at most 100 runs done after 1:40"


def test_names_do_not_command_the_terminal() -> None:
    assert "\x1b" not in doing(0, 1, ["\x1b[31m"], compiling=True)
