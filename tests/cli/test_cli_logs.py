"""`driftanchor logs`: tables for people, JSON for programs, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftanchor import OfflineData
from driftanchor.cli.main import app

CSV = """variant,reward,land,at,views,clicks,mean,spread
A,1,DE,2026-01-01T10:00,100,10,0.1,0.09
B,0,DE,2026-01-02T10:00,200,30,0.15,0.13
A,0,FR,2026-01-03T10:00,300,20,0.07,0.06
B,1,DE,2026-01-04T10:00,400,40,0.1,0.09
A,1,[b]FR[/b],2026-01-05T10:00,100,10,0.1,0.09
"""
EVENTS = ("logs.csv", "--arm", "variant", "--reward", "reward")


@pytest.fixture(autouse=True)
def _beside_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs.csv").write_text(CSV)


def logs(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["logs", *arguments])


def test_the_table_and_what_became_of_the_rows() -> None:
    done = logs(*EVENTS, "--time", "at")
    assert (done.exit_code, done.stderr) == (0, "")
    head, rule, first, second, blank, rows = done.stdout.strip("\n").split("\n")
    assert head.split() == ["arm", "n", "mean", "variance", "95", "%", "interval", "first", "last"]
    assert first.split()[:4] == ["A", "3", "0.666667", "0.333333"]
    assert first.endswith("0.20766 to 0.93851   2026-01-01 10:00:00   2026-01-05 10:00:00")
    assert second.split()[:3] == ["B", "2", "0.5"]
    assert (blank, rule.strip("─ ")) == ("", "")
    assert rows == "5 rows read, 0 filtered, 0 rejected, 5 used"


def test_the_json_others_rely_on() -> None:
    done = logs(*EVENTS, "--where", "land = 'DE' or land = 'FR'", "--until", "2026-01-04", "--time",
                "at", "--range", "0", "1", "--arms", "B, A", "--json")  # fmt: skip
    assert (done.exit_code, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert list(told["arms"]) == ["B", "A"]
    assert told["arms"]["A"] | {"interval": 0} == {
        "n": 2,
        "mean": 0.5,
        "variance": 0.5,
        "interval": 0,
        "first": "2026-01-01T10:00:00Z",
        "last": "2026-01-03T10:00:00Z",
    }
    assert told["arms"]["B"] == {
        "n": 1,
        "mean": 0.0,
        "variance": None,
        "interval": None,
        "first": "2026-01-02T10:00:00Z",
        "last": "2026-01-02T10:00:00Z",
    }
    assert (told["rows_read"], told["rows_filtered"]) == (5, 2)
    assert (told["rows_used"], told["rows_rejected"], told["rejected_examples"]) == (3, {}, [])
    assert told["provenance"]["sources"][0]["name"] == "logs.csv"


def test_counted_rows() -> None:
    clicks = logs("logs.csv", "--arm", "variant", "--count", "views", "--total", "clicks", "--json")
    assert json.loads(clicks.stdout)["arms"]["B"]["mean"] == pytest.approx(70 / 600)
    asked = ("--count", "views", "--mean", "mean", "--variance", "spread", "--json")
    means = logs("logs.csv", "--arm", "variant", *asked)
    assert json.loads(means.stdout)["arms"]["B"]["n"] == 600


def test_saved_offline_data_load_again(tmp_path: Path) -> None:
    done = logs(*EVENTS, "--save", "offline.json")
    assert (done.exit_code, done.stderr) == (0, f"wrote {tmp_path / 'offline.json'}\n")
    saved = OfflineData.from_json(json.loads(Path("offline.json").read_text()))
    assert dict(zip(saved.arms, saved.n.tolist(), strict=True)) == {"A": 3, "B": 2}
    assert saved.provenance is not None
    assert logs(*EVENTS, "--save", "offline.json", "--quiet").stderr == ""


def test_rejected_rows_end_in_exit_code_1_and_name_their_lines() -> None:
    Path("logs.csv").write_text(CSV + "B,[red]abc,DE,,,,,\nA\n")
    done = logs(*EVENTS)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: 2 of 7 rows of 'logs.csv' cannot be used: ")
    assert "line_ragged 1 (logs.csv:8 'A')" in done.stderr
    assert "reward_not_number 1 (logs.csv:7 '[red]abc')" in done.stderr
    assert done.stderr.endswith("fix them, or leave them out with --allow-rejects\n")
    done = logs(*EVENTS, "--allow-rejects")
    assert done.exit_code == 0
    assert done.stdout.endswith(
        "7 rows read, 0 filtered, 2 rejected, 5 used\n"
        "rejected: line_ragged 1 (logs.csv:8 'A')\n"
        "rejected: reward_not_number 1 (logs.csv:7 '[red]abc')\n"
    )
    told = json.loads(logs(*EVENTS, "--allow-rejects", "--json").stdout)
    assert told["rows_rejected"] == {"line_ragged": 1, "reward_not_number": 1}
    assert told["rejected_examples"][1] == {
        "reason": "reward_not_number",
        "file": "logs.csv",
        "line": 7,
        "row": None,
        "value": "[red]abc",
    }


@pytest.mark.filterwarnings("default")
def test_oddities_are_told_on_stderr_and_in_the_json() -> None:
    done = logs(*EVENTS, "--arms", "A", "--json")
    warning = "the logs have one arm only, 'A': there is nothing to choose"
    assert done.stderr == f"warning: {warning}\n"
    assert json.loads(done.stdout)["warnings"] == [warning]
    assert logs(*EVENTS, "--arms", "A", "--quiet").stderr == ""


BAD = {
    "missing.csv --arm a --reward r": "cannot read 'missing.csv': No such file or directory",
    "logs.csv --arm variants --reward reward": "--arm: 'logs.csv' has no column 'variants'",
    "logs.csv --arm variant --reward rewards": "--reward: 'logs.csv' has no column 'rewards'",
    "logs.csv --arm variant": "name the column of reward, or those of count and total",
    "logs.csv --arm variant --reward reward --since x": "--since must be a date or time",
    "logs.csv --arm variant --reward reward --since 2026-01-01": "--since needs time",
    "logs.csv --arm variant --reward reward --where x": "--where is not understood",
    "logs.csv --arm variant --reward reward --range 1 0": "--range must rise, got (1, 0)",
    "logs.csv --arm variant --reward reward --range 0 x": "--range must be a number, got 'x'",
    "logs.csv --arm variant --reward reward --max-rows 0": "--max-rows must be at least 1, got 0",
    "logs.csv --arm variant --reward reward --max-rows x": "--max-rows must be a number, got 'x'",
    "logs.csv --arm variant --reward reward --max-rows 3": "--max-rows is 3, and",
    "logs.csv --arm variant --reward reward --memory 0": "--memory must be text such as '400MB'",
    "logs.csv --arm variant --reward reward --format x": "--format: unknown format 'x'",
    "logs.csv --arm variant --reward reward --arms A,C": "--arms: unknown arm in the logs 'C'",
    "logs.csv --arm variant --reward reward --arms A,A": "--arms has the label 'A' twice",
    "logs.csv --arm variant --reward reward --time no": "--time: 'logs.csv' has no column",
    "logs.csv --arm variant --reward reward --where no=1": "--where: 'logs.csv' has no column",
    "logs.csv --arm variant --reward reward --until x": "--until must be a date or time",
    "logs.csv --arm variant --reward reward --root /x": "outside the allowed folder '/x'",
    "logs.csv --arm variant --reward reward --save no/x.json": "--save cannot write 'no/x.json'",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_is_one_line_and_exit_code_2(arguments: str) -> None:
    done = logs(*arguments.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert BAD[arguments] in done.stderr


@pytest.mark.parametrize("module", ["duckdb", "narwhals"])
def test_a_missing_package_names_its_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    done = logs(*EVENTS)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f'needs {module}: in a clone of driftanchor, run pip install ".[logs]"' in done.stderr


def test_the_process_leaves_nothing_on_stderr() -> None:
    command = [sys.executable, "-m", "driftanchor", "logs", *EVENTS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_shows_what_the_command_prints() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "logs.md").read_text()
    csv, console = (
        page.partition(f"```{kind}\n")[2].partition("```\n")[0] for kind in ("csv", "console")
    )
    Path("last_test.csv").write_text(csv)
    command, _, output = console.partition("\n")
    words = command.removeprefix("$ driftanchor logs ").split()
    assert logs(*words).stdout.strip("\n") == output.strip("\n")


@pytest.mark.filterwarnings("default")
def test_pooled_and_stratified_means_and_which_are_used() -> None:
    rows = [
        f"{ad},{int(i % 10 < rate)},{land}"
        for land, rate, shares in (("DE", 1, (900, 100)), ("FR", 5, (100, 900)))
        for ad, n in zip("AB", shares, strict=True)
        for i in range(n)
    ]
    Path("logs.csv").write_text("\n".join(["variant,reward,land", *rows]) + "\n")
    done = logs(*EVENTS, "--by", "land")
    assert done.stderr.startswith("warning: pooled over all rows, 'B' has the mean 0.46")
    head, _, first, second, _, why, read = done.stdout.strip("\n").split("\n")
    assert head.split()[-4:] == ["pooled", "n", "pooled", "mean"]
    assert first.split()[:3] == ["A", "360", "0.3"]
    assert first.split()[-2:] == ["1,000", "0.14"]
    assert second.split()[-2:] == ["1,000", "0.46"]
    assert why == (
        "arms are compared within values of 'land' (2 in all), because the arms' shares of the "
        "rows differ between values of 'land'; n is the effective number of rewards"
    )
    assert read == "2,000 rows read, 0 filtered, 0 rejected, 2,000 used"
    told = json.loads(logs(*EVENTS, "--by", "land", "--json").stdout)["strata"]
    assert (told["within"], told["count"], told["used"]) == (["land"], 2, "stratified")
    assert told["pooled"]["B"] == {"n": 1000, "mean": pytest.approx(0.46)}
    assert told["stratified"]["B"] == {"n": 360, "mean": pytest.approx(0.3)}
    assert json.loads(logs(*EVENTS, "--json").stdout)["strata"] is None
    same = logs("logs.csv", "--arm", "land", "--reward", "reward", "--by", "land")
    assert "never appear together in any of the values of 'land'" in same.stderr
