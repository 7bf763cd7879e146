from __future__ import annotations

import sys
from pathlib import Path

import pytest

from driftanchor.errors import InvalidInput, UnknownName
from driftanchor.experiments import spec

SMALL = (Path(__file__).parent / "small.toml").read_text(encoding="utf-8")
BASE = """\
title = "x"
policies = ["ts"]
horizon = 50
runs = 2
"""


def sweep(text: str) -> str:
    return f"{BASE}[[sweep]]\n{text}\n"


def test_cells_are_every_combination_with_readable_ids() -> None:
    experiment = spec.parse(SMALL, "some/where/small.toml")
    assert [cell.id for cell in experiment.cells] == [
        "small/gap=0.3/coverage=uniform",
        "small/gap=0.3/coverage=optimal",
        "small/gap=0.1/coverage=uniform",
        "small/gap=0.1/coverage=optimal",
    ]
    first = experiment.cells[0]
    assert first.varied == {"gap": 0.3, "coverage": "uniform"}
    assert first.bandit.offline_pulls.tolist() == [10, 10, 10]
    assert {label: policy.name for label, policy in first.policies.items()} == {
        "ts": "ts",
        "careful | <b>": "anchor-ts",
    }
    assert experiment.checkpoints == (20, 40, 60)


def test_a_file_without_a_sweep_is_one_cell() -> None:
    (cell,) = spec.parse(BASE, "my.toml").cells
    assert (cell.id, dict(cell.varied)) == ("my", {})


def test_a_list_in_an_id_is_short() -> None:
    text = sweep("fixed.arms = 2\nvary.coverage = [[0.25, 0.75]]\nvary.gap = [1.0]")
    assert spec.parse(text, "my.toml").cells[0].id == "my/coverage=0.25,0.75/gap=1"


def test_runs_and_horizon_can_be_overridden() -> None:
    experiment = spec.parse(SMALL, "small.toml").resized(runs=1, horizon=2)
    assert (experiment.runs, experiment.curve_runs, experiment.horizon) == (1, 1, 2)
    assert experiment.checkpoints == (1, 2)


def test_checkpoints_end_with_the_horizon() -> None:
    experiment = spec.parse(f"{BASE}checkpoints = [10, 40, 20]\n", "my.toml")
    assert experiment.checkpoints == (10, 20, 40, 50)
    assert experiment.resized(runs=None, horizon=30).checkpoints == (10, 20, 30)  # as was asked


def test_own_files_are_read_by_path(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    assert spec.load(str(file)).name == "small"
    with pytest.raises(InvalidInput, match="cannot read"):
        spec.load(str(tmp_path / "none.toml"))
    with pytest.raises(UnknownName, match="did you mean 'fig1'"):
        spec.load("fig11")


def test_the_paper_is_there() -> None:
    paper = {name: spec.load(name) for name in spec.paper_experiments()}
    assert list(paper)[:3] == ["fig1", "fig2", "fig7"]
    assert {"tails", "misspecified", "bernoulli", "location"} <= set(paper)
    assert [len(paper[name].cells) for name in ("fig1", "fig2", "fig7")] == [6, 60, 8]
    for experiment in paper.values():
        assert experiment.title
        assert experiment.about
        assert experiment.curve_runs <= experiment.runs


def test_fig2_tests_v_from_the_true_bias_on() -> None:
    cells = {cell.id: cell for cell in spec.load("fig2").cells}
    bandit = cells["fig2/bias_bound_at_least=0.2/coverage=uniform"].bandit
    assert bandit.bias_bound.round(9).tolist() == [0.3] + [0.2] * 9


def test_logs_that_moved_together() -> None:
    text = sweep("fixed = { arms = 2, reward_scale = 2.0, delta = 0.1 }\n")
    text += "vary.relative_bound = [inf, 0.125]\nvary.common_shift = [0.0, -1.0]\n"
    cells = {cell.id: cell.bandit for cell in spec.parse(text, "my.toml").cells}
    levels = cells["my/relative_bound=inf/common_shift=-1"]
    assert levels.online.round(9).tolist() == [-0.4, -1.0]
    assert levels.bias_bound.round(9).tolist() == [1.8, 2.0]  # the truth: −1 ± δ, twice
    assert not levels.is_relative
    moved = cells["my/relative_bound=0.125/common_shift=-1"]
    assert moved.relative_bound.tolist() == [0.25, 0.25]
    assert moved.bias_bound.tolist() == [float("inf")] * 2
    assert moved.common_shift == -2.0
    both = spec.parse(sweep("fixed = { bias_bound = 0.2, relative_bound = 0.1 }"), "my.toml")
    assert both.cells[0].bandit.bias_bound.tolist() == [0.2] * 10


NAMED = Path(__file__).with_name("named_sweeps.toml").read_text(encoding="utf-8")


def test_names_and_parameters_of_sweeps() -> None:
    experiment = spec.parse(NAMED, "mine.toml")
    assert [cell.id for cell in experiment.cells] == [
        "mine/plain/arms=2",
        "mine/plain/arms=3",
        "mine/coins/reward=bernoulli",
    ]
    assert [cell.group for cell in experiment.cells] == ["plain", "plain", "coins"]
    assert [cell.policies["quick"].noise for cell in experiment.cells] == [1.0, 1.0, 0.5]
    assert experiment.cells[2].policies["quick"].parameters()["c"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{ noise = 0.5 }", "3", "mine.toml, line 13: parameters = 3: write a table"),
        ("{ noise = 0.5 }", "{ nois = 0.5 }", "did you mean 'noise'"),
        ('"coins"', "7", "mine.toml, line 11: name = 7: give a text"),
        ('["bernoulli"]', '["student"]\nvary.shape = ["stairs"]', "unknown shape 'stairs'"),
        ('["bernoulli"]', '["student"]\nvary.delay = [-1]', "delay must be between 0 and"),
    ],
)
def test_what_is_wrong_in_a_sweep_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        spec.parse(NAMED.replace(old, new), "mine.toml")
    assert message in str(caught.value)


def test_a_ladder_goes_down_in_equal_steps() -> None:
    text = NAMED.replace("vary.arms = [2, 3]", 'vary.arms = [4]\nvary.shape = ["ladder"]')
    online = spec.parse(text, "mine.toml").cells[0].bandit.online
    assert online.tolist() == pytest.approx([0.8, 0.7, 0.6, 0.5])


@pytest.mark.parametrize(
    ("savings", "message"),
    [
        ("3", "savings = 3: write a table"),
        ('{ varry = ["gap"] }', "unknown key of savings 'varry'; did you mean 'vary'?"),
        ('{ vary = ["gapp"] }', "vary = ['gapp']: give a list of settings"),
        ('{ place = "first" }', "place must be a whole number"),
    ],
)
def test_a_bad_entry_of_savings_is_named(savings: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        spec.parse(f"savings = {savings}\n{SMALL}", "my.toml")
    assert message in str(caught.value)


def test_the_papers_files_are_read_once() -> None:
    assert spec.load("fig1").cells is spec.load("fig1", runs=3).cells


def test_code_is_imported_only_with_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths start from the folder of the file, and a label is the name of the policy."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "leave.py").write_text(
        "from driftanchor import TS\nclass Mine(TS):\n    name = 'mine'\n", encoding="utf-8"
    )
    file = str(tmp_path / "my.toml")
    text = BASE.replace('"ts"', '"ts", { policy = "leave.py:Mine", noise = 2.0 }')
    with pytest.raises(InvalidInput) as caught:
        spec.parse(text, file)
    assert f"{file}, line 2: policies = {{'policy': 'leave.py:Mine'" in str(caught.value)
    assert "this runs Python code, which may do anything you may" in str(caught.value)
    assert "leave" not in sys.modules
    (cell,) = spec.parse(text, file, allow_import=True).cells
    assert [policy.noise for policy in cell.policies.values()] == [1.0, 2.0]
    assert list(cell.policies) == ["ts", "mine"]
    with pytest.raises(InvalidInput, match=r"line 2: policies = .*: there is no file "):
        spec.parse(text.replace("leave.py", "nix.py"), file, allow_import=True)
