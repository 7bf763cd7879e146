"""Result: statistics by hand, and files that are whole or not there."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import (
    TS,
    Bandit,
    DriftanchorError,
    InvalidInput,
    Result,
    UnknownName,
    simulate,
)

if TYPE_CHECKING:
    from conftest import RunPython

SIGNATURES = {".png": b"\x89PNG\r\n", ".pdf": b"%PDF-", ".svg": b"<?xml", ".PNG": b"\x89PNG\r\n"}


def result(regret: Any, names: tuple[str, ...] = ("a",)) -> Result:
    """A result with this regret, by (policy, run, checkpoint)."""
    lost = np.array(regret, np.float64)
    rounds = np.arange(1, lost.shape[2] + 1) * 10
    return Result(names, rounds, lost, np.zeros((*lost.shape[:2], 2), np.int64), 0, "none", 1e9)


HUNDRED = result(np.arange(101.0).reshape(1, 101, 1))
TWO = result([[[1.0, 2.5], [0.1, 0.3]], [[4.0, 5.0], [0.0, 1e-300]]], ("ts", "x, y"))


def test_the_statistics_by_hand() -> None:
    # 0, 1, …, 100: variance with n − 1 is 101·102/12 = 858.5
    assert HUNDRED.summary() == {
        "a": {
            "mean": 50.0,
            "se": pytest.approx(math.sqrt(858.5 / 101)),
            "median": 50.0,
            "q90": pytest.approx(90.0),
            "q99": pytest.approx(99.0),
            "max": 100.0,
        }
    }


def test_the_statistics_are_of_the_last_checkpoint_of_each_policy() -> None:
    summary = TWO.summary()
    assert list(summary) == ["ts", "x, y"]
    assert summary["ts"]["mean"] == pytest.approx(1.4)
    assert summary["x, y"]["max"] == 5.0
    assert TWO.final("x, y").tolist() == [5.0, 1e-300]
    assert (TWO.horizon, TWO.runs) == (20, 2)


def test_a_single_run_has_no_standard_error() -> None:
    assert math.isnan(result([[[3.0]]]).summary()["a"]["se"])


def test_an_unknown_policy_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="unknown policy 'tss'; did you mean 'ts'"):
        TWO.final("tss")


def test_csv_holds_every_number_to_the_bit(tmp_path: Path) -> None:
    path = tmp_path / "regret.csv"
    named = result(TWO.regret, ("ts", 'x, "y" ∞'))
    named.to_csv(path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["policy", "run", "round", "regret"]
    assert [(row["policy"], int(row["run"]), int(row["round"])) for row in rows[:5]] == [
        ("ts", 0, 10),
        ("ts", 0, 20),
        ("ts", 1, 10),
        ("ts", 1, 20),
        ('x, "y" ∞', 0, 10),
    ]
    assert [float(row["regret"]) for row in rows] == named.regret.ravel().tolist()


@pytest.mark.parametrize("suffix", list(SIGNATURES))
def test_plots_are_images_of_the_kind_asked_for(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"regret{suffix}"
    TWO.plot(path)
    assert path.read_bytes().startswith(SIGNATURES[suffix])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_plots_of_one_run_one_checkpoint_no_regret_and_many_policies(tmp_path: Path) -> None:
    result([[[0.0]]]).plot(tmp_path / "one.png")
    names = tuple(f"policy {i}" for i in range(12))
    result(np.zeros((12, 2, 3)), names).plot(tmp_path / "many.svg")
    for name in names:
        assert name in (tmp_path / "many.svg").read_text()


def test_a_dollar_in_a_name_is_a_dollar(tmp_path: Path) -> None:
    path = tmp_path / "dollar.svg"
    result([[[1.0]]], (r"$\oops$",)).plot(path)  # as mathematics it could not be drawn
    assert r"$\oops$" in path.read_text()


def test_a_simulation_plots_and_writes_itself(tmp_path: Path) -> None:
    bandit = Bandit([0.5, 0.4])
    real = simulate({"ts": TS()}, bandit, horizon=30, runs=3, engine="interpreted")
    real.plot(str(tmp_path / "real.png"))
    real.to_csv(str(tmp_path / "real.csv"))
    assert len((tmp_path / "real.csv").read_text().splitlines()) == 1 + 3 * 30


@pytest.mark.parametrize("name", ["regret.gif", "regret", "regret.csv", ".png"])
def test_a_plot_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"plot file must end in .*\.png, .*, got '.*{name}'"):
        TWO.plot(tmp_path / name)
    assert not list(tmp_path.iterdir())


def write(kind: str, path: Path) -> None:
    {"csv": TWO.to_csv, "png": TWO.plot}[kind](path)


@pytest.mark.parametrize("kind", ["csv", "png"])
def test_a_place_that_cannot_be_written_is_named_and_left_as_it_was(
    kind: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / f"folder.{kind}").mkdir()
    for place in (f"missing/x.{kind}", f"file/x.{kind}", f"folder.{kind}", f"x\0y.{kind}"):
        with pytest.raises(InvalidInput, match="cannot write '"):
            write(kind, tmp_path / place)
    with pytest.raises(InvalidInput, match="cannot write '/proc/x"):
        write(kind, Path(f"/proc/x.{kind}"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", f"folder.{kind}"]
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("kind", ["csv", "png"])
def test_what_breaks_while_writing_leaves_the_old_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / f"x.{kind}"
    path.write_text("old")
    monkeypatch.setattr("matplotlib.backends.backend_agg.FigureCanvasAgg.print_png", full)
    monkeypatch.setattr(csv, "writer", full)
    with pytest.raises(DriftanchorError, match=r"cannot write '.*': .*No space left"):
        write(kind, path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "old"


def test_a_new_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old" * 10_000)
    TWO.to_csv(path)
    assert path.read_text().startswith("policy,run,round,regret")


def test_without_matplotlib_plotting_names_the_extra(run_python: RunPython) -> None:
    told = run_python("""
import sys
sys.modules["matplotlib"] = None
import driftanchor as da
result = da.simulate("ts", da.Bandit([0.5]), horizon=2, runs=1, engine="interpreted")
try:
    result.plot("x.png")
except da.MissingExtra as error:
    print(error)
""")
    assert (
        told == 'plotting needs matplotlib: in a clone of driftanchor, run pip install ".[plot]"\n'
    )


def test_formulas_are_only_left_when_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="escape_formulas must be True or False, got ''"):
        TWO.to_csv(tmp_path / "a.csv", escape_formulas="")  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir())
