from __future__ import annotations

import csv
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_lines import replacing
from typer.testing import CliRunner, Result

import driftanchor as da
from driftanchor.cli.main import app
from driftanchor.policies import POLICIES
from driftanchor.render.figure import SUFFIXES
from driftanchor.simulation import COVERAGES, ENGINES, LAWS, STATISTICS, cover
from driftanchor.simulation.run import simulate

SMALL = ("--horizon", "40", "--runs", "3", "--engine", "interpreted")
TWO = ("--policy", "ts", "--policy", "ucb")
ONE = ("--policy", "ts")
ONLY_COINS = ("beta-ts", "kl-ucb")


@pytest.fixture(autouse=True)
def _inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, replacing(*arguments))


def report(*arguments: str) -> Any:
    done = invoke("simulate", *SMALL, "--json", *arguments)
    assert done.exit_code == 0, done.stderr

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    return json.loads(done.stdout, parse_constant=refuse)


def test_without_options_it_is_the_papers_biased_setting_with_every_policy_for_it() -> None:
    said = report()
    paper = da.Bandit.paper(biased=True)
    assert list(said["policies"]) == [name for name in POLICIES if name not in ONLY_COINS]
    assert said["bandit"] == {
        "online": paper.online.tolist(),
        "offline": paper.offline.tolist(),
        "offline_pulls": paper.offline_pulls.tolist(),
        "bias_bound": paper.bias_bound.tolist(),
        "relative_bound": ["inf"] * 10,
        "common_shift": 0.0,
        "reward": "gaussian",
        "noise": 1.0,
        "delay": 0,
        "batch": 1,
    }


def test_the_documented_defaults_are_the_functions() -> None:
    done = CliRunner().invoke(app, ["simulate", "--help"], env={"COLUMNS": "200"})
    shown = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    parameters = inspect.signature(simulate).parameters
    for name in ("horizon", "runs", "seed", "checkpoints", "engine"):
        assert f"[default: {parameters[name].default}]" in shown, name
    for word in (*ENGINES, *LAWS, *COVERAGES, *SUFFIXES):
        assert word in shown, word


def test_logs_that_moved_together() -> None:
    world = ("--online", "0.9,0.1", "--offline", "same", "--offline-pulls", "8")
    moved = (*world, "--relative-bound", "0.1,0.2", "--common-shift", "-1")
    said = report("--policy", "hybrid-ts", "--policy", "hierarchical-ts", *moved)
    bandit = da.Bandit([0.9, 0.1], [0.9, 0.1], 8, relative_bound=[0.1, 0.2], common_shift=-1.0)
    result = simulate(
        ["hybrid-ts", "hierarchical-ts"], bandit, horizon=40, runs=3, engine="interpreted"
    )
    assert said["policies"] == result.summary()
    assert said["bandit"]["online"] == bandit.online.tolist()
    assert said["bandit"]["offline"] == [0.9, 0.1]
    assert said["bandit"]["bias_bound"] == ["inf", "inf"]
    assert said["bandit"]["relative_bound"] == [0.1, 0.2]
    assert said["bandit"]["common_shift"] == -1
    done = invoke("simulate", *SMALL, "--policy", "hybrid-ts", *moved)
    assert "with means 0.9,0.1 before all arms moved by -1; bias bound inf*2" in done.stderr
    assert "relative bound 0.1,0.2" in done.stderr


def test_json_says_what_the_function_measures() -> None:
    said = report(*TWO, "--online", "0.9,0.1*2", "--seed", "7", "--checkpoints", "10,20")
    result = simulate(
        ["ts", "ucb"],
        da.Bandit(online=[0.9, 0.1, 0.1]),
        horizon=40,
        runs=3,
        seed=7,
        engine="interpreted",
    )
    assert said["policies"] == result.summary()
    assert all(tuple(numbers) == STATISTICS for numbers in said["policies"].values())
    assert {key: said[key] for key in ("horizon", "runs", "seed", "engine", "version")} == {
        "horizon": 40,
        "runs": 3,
        "seed": 7,
        "engine": "interpreted",
        "version": da.__version__,
    }
    assert said["checkpoints"] == [10, 20, 40]
    assert said["parameters"]["ucb"] == {"policy": "ucb", **da.UCB().parameters()}


def test_with_coins_every_policy_takes_part_and_otherwise_some_cannot() -> None:
    coins = report("--reward", "bernoulli", "--horizon", "3", "--runs", "1")
    assert list(coins["policies"]) == list(POLICIES)
    done = invoke("simulate", *SMALL, "--policy", "beta-ts")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "error: --policy 'beta-ts' is for rewards from 0 to 1, and gaussian rewards go from -inf "
        "to inf: give rewards in that range, or use a policy for all rewards, such as 'ts'\n"
    )


def test_one_run_has_no_standard_error_and_infinity_is_a_word() -> None:
    said = report(*ONE, "--runs", "1", "--bias-bound", "inf")
    assert said["policies"]["ts"]["se"] is None
    assert said["bandit"]["bias_bound"] == ["inf"] * 10


def test_every_part_of_the_bandit_can_be_set() -> None:
    arguments = ["--online", "2,1*2", "--offline", "1.5", "--offline-pulls", "5*2,0"]
    late = ["--delay", "3", "--batch", "2", "--reward", "student"]
    late += ["--relative-bound", "0.5", "--common-shift", "1"]
    world = report(*ONE, *arguments, "--bias-bound", "1,2,inf", "--noise", "0.5", *late)["bandit"]
    assert world == {
        "online": [3, 2, 2],
        "offline": [1.5] * 3,
        "offline_pulls": [5, 5, 0],
        "bias_bound": [1, 2, "inf"],
        "relative_bound": [0.5, 0.5, 0.5],
        "common_shift": 1,
        "reward": "student",
        "noise": 0.5,
        "delay": 3,
        "batch": 2,
    }


def test_unbiased_logs_and_coverage() -> None:
    arguments = ["--offline", "same", "--offline-total", "1000", "--coverage", "suboptimal"]
    world = report(*ONE, *arguments, "--reward", "bernoulli")["bandit"]
    assert world["offline"] == world["online"]
    assert world["bias_bound"] == [0] * 10
    assert world["offline_pulls"] == cover(1000, 10, "suboptimal")
    assert world["reward"] == "bernoulli"


@pytest.mark.parametrize("none", [[], ["--offline-pulls", "0"], ["--offline-total", "0"]])
def test_other_online_means_come_without_logs(none: list[str]) -> None:
    done = invoke("simulate", *SMALL, *ONE, "--online", "0.9,0.1", *none)
    assert done.exit_code == 0
    assert "; no logs\n" in done.stderr


def test_other_means_with_logs_have_200_of_each_arm() -> None:
    world = report(*ONE, "--online", "0.9,0.1", "--offline", "same")["bandit"]
    assert world["offline_pulls"] == [200, 200]


def test_a_policy_can_take_part_twice_under_a_label() -> None:
    said = report("--policy", "min-ucb", "--policy", "wide=min-ucb:radius=cheung-lyu")
    assert list(said["policies"]) == ["min-ucb", "wide"]
    assert said["parameters"]["wide"]["policy"] == "min-ucb"
    assert said["parameters"]["wide"]["radius"] == "cheung-lyu"


def test_quiet_says_nothing_and_shows_the_same_data() -> None:
    loud, quiet = invoke("simulate", *SMALL, *TWO), invoke("simulate", *SMALL, *TWO, "--quiet")
    assert quiet.stdout == loud.stdout
    assert (quiet.exit_code, quiet.stderr) == (0, "")


def test_the_table_keeps_the_order_and_marks_the_lowest_mean() -> None:
    arguments = [*SMALL, "--online", "0.9,0.1", "--noise", "0.1"]
    good = "[bold]good=ts:noise=0.1"
    done = invoke("simulate", *arguments, "--policy", "ucb", "--policy", good)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["policy", "mean", "±", "se", "median", "q90", "q99", "max"] in rows
    names = [row[0] for row in rows if row and row[0] in ("ucb", "[bold]good")]
    assert names == ["ucb", "[bold]good"]
    assert [row[0] for row in rows if "*" in row] == ["[bold]good", "*"]


def test_one_policy_is_compared_with_nobody() -> None:
    done = invoke("simulate", *SMALL, *ONE, "--runs", "1")
    assert "*" not in done.stdout
    assert "–" in done.stdout


def test_files_are_written(tmp_path: Path) -> None:
    done = invoke("simulate", *SMALL, *TWO, "--csv", "r.csv", "--plot", "r.svg", "--json")
    assert done.exit_code == 0, done.stderr
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 40
    last = [float(row["regret"]) for row in rows if row["policy"] == "ts" and row["round"] == "40"]
    mean = json.loads(done.stdout)["policies"]["ts"]["mean"]
    assert sum(last) / 3 == pytest.approx(mean)
    assert "<svg" in (tmp_path / "r.svg").read_text(encoding="utf-8")


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "there" / "r.csv")
    assert invoke("simulate", *SMALL, *ONE, "--csv", "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "there" / "r.csv").is_file()


def test_threads_and_engine_change_no_number() -> None:
    slow = report(*ONE)
    quick = report(*ONE, "--engine", "every-round", "--threads", "2")
    assert quick["engine"] == "every-round"
    assert quick["policies"] == slow["policies"]
