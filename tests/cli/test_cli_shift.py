"""`driftanchor shift`: tables for people, JSON for programs, a picture, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from driftanchor.cli.main import app

EVENTS = ("events.csv", "--arm", "variant", "--reward", "won", "--time", "at", "--by", "week")
COUNTS = ("tests.csv", "--arm", "page", "--count", "views", "--total", "clicks", "--by", "test")


@pytest.fixture(autouse=True)
def _beside_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    lines = ["at,variant,won"]
    for day in range(28):  # four ISO weeks, from Monday 5 January
        rate = 0.4 + 0.1 * (-1) ** (day // 7)
        for variant in "AB":
            won = rng.random(40) < rate
            lines += [f"{np.datetime64('2026-01-05') + day}T12:00,{variant},{int(x)}" for x in won]
    Path("events.csv").write_text("\n".join(lines))
    Path("tests.csv").write_text(
        "test,page,views,clicks\n"
        "t1,a,1000,50\nt1,b,1000,60\nt2,a,1000,80\nt2,b,900,70\nt10,a,1000,55\nt10,b,1000,40\n"
    )


def shift(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["shift", *arguments])


def test_tables_meaning_and_what_became_of_the_rows() -> None:
    done = shift(*EVENTS)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].split() == [
        "arm",
        "periods",
        "n",
        "mean",
        "moves",
        "by",
        "(sd)",
        "95",
        "%",
        "interval",
    ]
    assert lines[3].split()[:3] == ["A", "4", "1,120"]
    assert lines[5].split()[:4] == ["all", "arms", "4", "2,240"]
    assert sum("(suggested)" in line for line in lines) == 2
    assert any(line.split()[:4] == ["common", "to", "all", "arms"] for line in lines)
    assert any(line.split()[:3] == ["each", "arm's", "own"] for line in lines)
    assert max(len(line) for line in lines if "W =" in line and "new" not in line) <= 100
    assert "\nW = " in done.stdout
    assert "95 % of new weeks" in done.stdout
    assert "note: arms move together" in done.stdout
    assert lines[-1] == "2,240 rows read, 0 filtered, 0 rejected, 2,240 used"


@pytest.mark.filterwarnings("default")  # of one arm
def test_the_json_others_rely_on() -> None:
    done = shift(*COUNTS, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert 0.02 < told["suggested_bias_bound"] < 0.5
    assert told["periods"] == ["t1", "t10", "t2"]
    assert (told["by"], told["rows_read"], told["rows_rejected"]) == ("test", 6, {})
    assert told["provenance"]["columns"]["by"] == "test"
    assert told["coverage"] == 0.95
    assert 0 < told["suggested_relative_bound"] <= told["suggested_bias_bound"]
    for name in ("common_sd", "own_sd"):
        low, high = told[f"{name}_interval"]
        assert low <= told[name] <= high
    assert told["arms"]["a"]["n"] == 3_000
    less = json.loads(shift(*COUNTS, "--json", "--coverage", "0.8").stdout)
    assert less["suggested_bias_bound"] < told["suggested_bias_bound"]
    Path("tests.csv").write_text("test,page,views,clicks\nt1,b,90,5\nt2,b,90,9\n")
    some = json.loads(shift(*COUNTS, "--json", "--quiet").stdout)
    assert list(some["arms"]) == ["b"]
    assert (some["suggested_relative_bound"], some["own_sd"]) == ("inf", None)
    rows = [f"t{i},{x},90,{n}" for i, n in enumerate((5, 60)) for x in "ab"]
    Path("tests.csv").write_text("test,page,views,clicks\n" + "\n".join(rows))
    wild = json.loads(shift(*COUNTS, "--json").stdout)
    assert wild["suggested_bias_bound"] < 1  # a rate cannot move further
    assert any("allows no more" in note for note in wild["notes"])


def test_one_period_offers_the_scale() -> None:
    done = shift(*EVENTS, "--until", "2026-01-12")
    assert done.exit_code == 0
    assert "cannot be known" in done.stdout
    assert "very large" in done.stdout
    assert "256 rewards" in done.stdout
    told = json.loads(shift(*EVENTS, "--until", "2026-01-12", "--json").stdout)
    assert told["suggested_bias_bound"] == "inf"
    refused = shift(*EVENTS, "--until", "2026-01-12", "--plot", "x.svg")
    assert refused.exit_code == 2
    assert "no moves to draw" in refused.stderr


def test_the_picture_is_written(tmp_path: Path) -> None:
    done = shift(*EVENTS, "--plot", "moves.svg")
    assert (done.exit_code, done.stderr) == (0, f"wrote {tmp_path / 'moves.svg'}\n")
    assert Path("moves.svg").read_text().startswith("<?xml")


BAD = {
    "events.csv --arm variant --reward won --by week": "--by is 'week', and there is",
    "events.csv --arm variant --reward won --by land": "--by: 'events.csv' has no column 'land'",
    "events.csv --arm variant --reward won --time at --by day --coverage 1": (
        "--coverage must be between 0.5 and 0.999, got 1"
    ),
    "events.csv --arm variant --reward won --time at --by day --coverage x": (
        "--coverage must be a number, got 'x'"
    ),
    "events.csv --arm variant --reward won --time at --by day --plot x.gif": (
        "--plot must end in .png, .pdf, .svg"
    ),
    "events.csv --arm variant --reward at --by variant": "cannot be used",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_is_one_line(arguments: str) -> None:
    done = shift(*arguments.split())
    assert (done.exit_code, done.stdout) == (1 if "at --by variant" in arguments else 2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert BAD[arguments] in done.stderr


def test_the_page_shows_what_the_command_prints() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "choosing-v.md").read_text()
    csv, console = (
        page.partition(f"```{kind}\n")[2].partition("```\n")[0] for kind in ("csv", "console")
    )
    Path("weeks.csv").write_text(csv)
    command, _, output = console.partition("\n")
    words = command.removeprefix("$ driftanchor shift ").split()
    assert shift(*words).stdout.strip("\n") == output.strip("\n")
