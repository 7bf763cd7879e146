"""Files that commands write: nothing that is read is written over, and nothing gets lost."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app, run

CSV = "at,ad,won\n" + "".join(
    f"2026-01-{1 + i // 8:02},{'AB'[i % 2]},{int(i % 3 == 0)}\n" for i in range(120)
)
EVENTS = ("--arm", "ad", "--reward", "won")
SMALL = ("--horizon", "5", "--worlds", "2", "--bias-bound", "0.1")
PLAN = ("plan", "logs.csv", *EVENTS, *SMALL)
REPLAY = ("replay", "logs.csv", *EVENTS, *SMALL, "--time", "at", "--split", "2026-01-09")
SHIFT = ("shift", "logs.csv", *EVENTS, "--time", "at", "--by", "day")
SIMULATE = ("simulate", "--policy", "ts", "--horizon", "5", "--runs", "2")
INTERPRETED = (*SIMULATE, "--engine", "interpreted")
EXPERIMENT = """
engine = "interpreted"
policies = [{ policy = "ts", label = "=1+1" }]
runs = 2
horizon = 5
"""
pytestmark = pytest.mark.usefixtures("little_drawn")


@pytest.fixture(autouse=True)
def _beside_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "numba", None)  # nothing here is long enough to compile
    Path("logs.csv").write_text(CSV)
    Path("mine.toml").write_text(EXPERIMENT)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        ("logs", "logs.csv", *EVENTS, "--save"),
        ("logs", "l*.csv", *EVENTS, "--save"),
        (*PLAN, "--page"),
        (*REPLAY, "--page"),
        (*SHIFT, "--plot"),
    ],
)
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_what_is_read_is_not_written_over(arguments: tuple[str, ...], link: object) -> None:
    suffix = {"--page": "html", "--plot": "svg"}.get(arguments[-1], "csv")
    assert callable(link)
    link("logs.csv", f"other.{suffix}")
    done = invoke(*arguments, f"./other.{suffix}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{arguments[-1]} would write over 'logs.csv', which is read, as '" in done.stderr
    assert Path("logs.csv").read_text() == CSV


def test_saved_offline_data_are_not_written_over() -> None:
    invoke("logs", "logs.csv", *EVENTS, "--save", "offline.json")
    saved = Path("offline.json").read_text()
    Path("page.html").symlink_to("offline.json")
    done = invoke("plan", "offline.json", *SMALL, "--page", "page.html")
    assert (done.exit_code, "--page would write over 'offline.json'" in done.stderr) == (2, True)
    assert Path("offline.json").read_text() == saved


@pytest.mark.parametrize("name", ["report.html", "results/mine.csv", "cells/x.npz", "claims.json"])
def test_experiment_files_are_not_written_over(name: str) -> None:
    for folder in ("results", "cells"):
        Path("out", folder).mkdir(parents=True)
    Path("out", name).symlink_to(Path("mine.toml").resolve())
    done = invoke("reproduce", "mine.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--out would write over 'mine.toml', which is read, as 'out/" in done.stderr
    assert Path("mine.toml").read_text() == EXPERIMENT


def test_two_outputs_do_not_share_a_file() -> None:
    Path("link.svg").symlink_to("a.svg")
    done = invoke(*SIMULATE, "--csv", "a.svg", "--plot", "link.svg")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--csv and --plot both name '" in done.stderr
    assert not Path("a.svg").exists()


def test_a_file_that_is_saved_again_keeps_its_mode() -> None:
    Path("offline.json").touch(0o600)
    assert invoke("logs", "logs.csv", *EVENTS, "--save", "offline.json").exit_code == 0
    assert Path("offline.json").stat().st_mode & 0o777 == 0o600
    assert json.loads(Path("offline.json").read_text())["kind"].startswith("driftanchor/")


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("logs", "logs.csv", *EVENTS, "--save", "a.json"), "a.json"),
        ((*PLAN, "--page", "a.html", "-q"), "a.html"),
        ((*REPLAY, "--page", "a.html", "--json", "-q"), "a.html"),
        ((*SHIFT, "--plot", "a.svg"), "a.svg"),
        ((*INTERPRETED, "--csv", "a.csv", "--plot", "a.svg"), "a.csv"),
        (("reproduce", "mine.toml", "-q"), "out/report.html"),
    ],
)
@pytest.mark.filterwarnings("ignore:Numba is not installed")
def test_files_are_written_although_nobody_reads_the_results(
    arguments: tuple[str, ...],
    file: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["driftanchor", *arguments])
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        with pytest.raises(SystemExit) as end:
            run()
    assert end.value.code == 141
    assert "rror" not in capsys.readouterr().err
    assert Path(file).stat().st_size > 0
    Path(file).unlink()
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as end:
            run()
    assert end.value.code == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "error: cannot write to stdout: No space left on device"
    assert Path(file).stat().st_size > 0


def test_a_result_is_shown_although_its_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("csv.writer", full)
    done = invoke(*INTERPRETED, "--csv", "a.csv", "--plot", "a.svg")
    assert done.exit_code == 1
    assert done.stdout.startswith("regret after 5 rounds")
    assert done.stderr.splitlines()[-1].endswith("a.csv': No space left on device")
    assert (Path("a.csv").exists(), Path("a.svg").exists()) == (False, True)


@pytest.mark.parametrize(("options", "cell"), [((), "'=1+1,"), (("--raw-csv",), "=1+1,")])
def test_formulas_are_escaped_in_csv_files_unless_asked_otherwise(
    options: tuple[str, ...], cell: str
) -> None:
    small = ("--policy", "=1+1=ts", *INTERPRETED[3:])
    assert invoke("simulate", *small, "--csv", "a.csv", *options).exit_code == 0
    assert Path("a.csv").read_text().splitlines()[1].startswith(cell)
    assert invoke("reproduce", "mine.toml", "--quiet", *options).exit_code == 0
    for file in ("results/mine.csv", "results/summary.csv"):
        assert f",{cell}" in Path("out", file).read_text().splitlines()[1]
