"""Result: statistics by hand, comparisons with honest intervals, complete files or none."""

from __future__ import annotations

import csv
import dataclasses
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
    Law,
    Result,
    UnknownName,
    random_bandit,
    simulate,
)
from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.render.numbers import interval, rounded
from driftanchor.simulation import ENGINES
from driftanchor.simulation.result import Difference, DrawnGaps, drawn_gaps

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


MAX_REGRET = 400.0
RNG = np.random.default_rng(2)
SHARED = RNG.normal(100, 30, 400)
FINALS = np.stack([SHARED + RNG.normal(0, 1, 400), SHARED + 5, 3 * RNG.exponential(9, 400)])


def three(engine: str = "thinned", runs: int = 400) -> Result:
    regret = FINALS[:, :runs, None]
    pulls = np.zeros((3, runs, 2), np.int64)
    return Result(("a", "b", "c"), np.array([10]), regret, pulls, 0, engine, MAX_REGRET)


def test_a_mean_difference_is_the_mean_of_paired_differences() -> None:
    difference = three().compare("a", "b")
    pairs = FINALS[0] - FINALS[1]
    assert (difference.first, difference.second) == ("a", "b")
    assert (difference.statistic, difference.runs) == ("mean", 400)
    assert difference.estimate == pytest.approx(pairs.mean())
    assert (difference.low, difference.high) == bounded_mean_interval(
        pairs, -MAX_REGRET, MAX_REGRET, 1 - 0.95
    )
    back = three().compare("b", "a")
    assert [back.low, back.high] == pytest.approx([-difference.high, -difference.low])
    wider = three().compare("a", "b", level=0.99)
    assert wider.low < difference.low < difference.high < wider.high


def test_quantiles_are_compared_too() -> None:
    for statistic, quantile in {"median": 0.5, "q90": 0.9, "q99": 0.99}.items():
        difference = three().compare("a", "c", statistic=statistic)
        one, other = np.quantile(FINALS[[0, 2]], quantile, axis=1)
        assert difference.estimate == pytest.approx(one - other)
        assert difference.low < difference.estimate < difference.high


@pytest.mark.parametrize("engine", ENGINES)
def test_it_says_whether_policies_met_the_same_rewards(engine: str) -> None:
    difference = three(engine).compare("a", "b")
    assert difference.paired == ENGINES[engine].paired
    shared = "the same rewards" if difference.paired else "the same logs and other rewards"
    assert str(difference).endswith(f" at 95 %, 400 runs with {shared}")


def test_it_reads_as_one_line() -> None:
    difference = three().compare("a", "b", level=0.5)
    ends = interval(difference.low, difference.high)
    shown = f"mean regret of a − b: {rounded(difference.estimate)} ({ends}) at 50 %, 400 runs"
    assert repr(difference) == f"<Difference: {shown} with the same rewards>"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("a", "d"), {}, "unknown policy 'd'"),
        (("a", "a"), {}, "second is 'a' twice: name two policies"),
        (("a", "b"), {"statistic": "mode"}, "unknown statistic 'mode'; did you mean"),
        (("a", "b"), {"level": 1}, "level must be at most 1, got 1"),
        (("a", "b"), {"level": 0}, "level must be greater than 0, got 0"),
    ],
)
def test_an_impossible_comparison_is_refused(
    arguments: tuple[str, str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        three().compare(*arguments, **options)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """200 experiments of 40 runs at 90 %: at most 20 misses expected; 42 have probability 1e-6."""
    bandit = Bandit([0.5, 0.4])
    many = simulate(["ts", "ucb"], bandit, horizon=20, runs=8_000, seed=3, engine="every-round")
    truth = many.compare("ts", "ucb").estimate
    held = 0
    for part in np.split(many.regret, 200, axis=1):
        one = dataclasses.replace(many, regret=part)
        difference = one.compare("ts", "ucb", level=0.9)
        held += difference.low < truth < difference.high
    assert held > 200 - 42
    with pytest.raises(UnknownName):
        many.compare("ts", "moss")


def compared(law: Law, runs: int, **options: Any) -> tuple[Difference, Difference]:
    """Compare TS with UCB by the gaps of each run, and by the range of the law."""
    bandit = random_bandit(law, 10)
    full = simulate(["ts", "ucb"], bandit, horizon=1_000, runs=runs, seed=1, checkpoints=1)
    ranged = dataclasses.replace(full, drawn=None)
    return full.compare("ts", "ucb", **options), ranged.compare("ts", "ucb", **options)


def test_normal_means_are_compared_by_the_gaps_of_each_run() -> None:
    """The support is 28 standard deviations wide; no run has such a gap."""
    few, ranged = compared(Law.normal(0, 1), 500)
    assert few.estimate == ranged.estimate
    assert few.low < few.estimate < few.high
    assert few.high - few.low < 0.25 * (ranged.high - ranged.low)
    many, ranged = compared(Law.normal(0, 1), 5_000)
    assert ranged.low < 0 < ranged.high
    assert many.low < many.high < 0
    few, ranged = compared(Law.normal(0, 1), 100, statistic="q99")
    assert few.high - few.low < 0.3 * (ranged.high - ranged.low)


def test_wide_gaps_are_compared_by_the_range_of_the_law() -> None:
    difference, ranged = compared(Law.uniform(0, 1), 200)
    assert (difference.low, difference.high) == (ranged.low, ranged.high)


def test_the_interval_by_gaps_holds_the_truth_as_often_as_it_says() -> None:
    """200 experiments of 40 runs at 90 %: at most 20 misses expected; 42 have probability 1e-6."""
    bandit = random_bandit(Law.normal(0, 1), 3)
    effort: dict[str, Any] = {"horizon": 20, "runs": 8_000, "seed": 3, "engine": "every-round"}
    many = simulate(["ts", "ucb"], bandit, **effort)
    truth, gaps, held = many.compare("ts", "ucb").estimate, many.drawn, 0
    assert gaps is not None
    for i in range(200):
        runs = slice(40 * i, 40 * i + 40)
        part = gaps._replace(best=gaps.best[runs], worst=gaps.worst[runs])
        one = dataclasses.replace(many, regret=many.regret[:, runs], drawn=part)
        difference = one.compare("ts", "ucb", level=0.9)
        held += difference.low < truth < difference.high
    assert held > 200 - 42


LAWS = [Law.normal(3, 2), Law.uniform(-1, 1), Law.beta(40, 60), Law.beta(1, 1)]


def gaps_of(law: Law, arms: int, runs: int = 20_000) -> DrawnGaps:
    gaps = drawn_gaps(random_bandit(law, arms, common_shift=0.1), 7, runs, compiled=True)
    assert gaps is not None
    return gaps


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("arms", [2, 9])
def test_hedges_bound_the_gaps_and_have_the_stated_mean(law: Law, arms: int) -> None:
    """20,000 runs and 16 means, each within 5.5 standard errors: false alarm 1e-6."""
    gaps = gaps_of(law, arms)
    hedges, means = gaps.hedges()
    assert (hedges >= gaps.best - gaps.worst).all()
    errors = hedges.std(axis=1) / np.sqrt(20_000)
    assert (np.abs(hedges.mean(axis=1) - means) <= 5.5 * errors + 1e-9).all()
    assert (hedges.std(axis=1) < 0.6 * np.std(gaps.best - gaps.worst)).all()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_few_gaps_exceed_a_quantile(law: Law) -> None:
    """20,000 gaps: 5 standard deviations above 1 − q, false alarm 1e-5 for all."""
    gaps = gaps_of(law, 5)
    for q in (0.5, 0.9, 0.99):
        share = float((gaps.best - gaps.worst > gaps.quantile(q)).mean())
        assert share <= 1 - q + 5 * np.sqrt(q * (1 - q) / 20_000)
        assert gaps.quantile(q) <= law.support[1] - law.support[0]


def test_means_that_do_not_vary_have_no_gap() -> None:
    assert gaps_of(Law.normal(1, 0), 3, runs=4).quantile(0.9) == 0.0
    assert simulate("ts", random_bandit(Law.normal(1, 0), 2), horizon=5, runs=2).drawn is not None
