"""Errors stay below δ while the promise holds, logs spare pulls, and compiled runs are the same."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import (
    Bandit,
    Identification,
    InvalidInput,
    Law,
    UnknownName,
    identify,
    random_bandit,
)
from driftanchor.best_arm.identify import rules_for
from driftanchor.core.stats.intervals import wilson
from driftanchor.simulation import instance_of

if TYPE_CHECKING:
    from conftest import RunPython

TWO = [0.8, 0.3]
PULLS = np.array([[10, 12, 14, 20], [30, 30, 40, 50]])
ANSWERS = np.array([[0, 1, 0, -1], [0, 0, 0, 0]])
RESULT = Identification(("lucb-h", "lucb"), PULLS, ANSWERS, 0, 0.1, "anytime", 20, 3)


def below(errors: float, runs: int, delta: float) -> bool:
    """Whether so few errors are as δ allows: a false alarm of 1e-6 where the rate is δ itself."""
    return errors * runs < runs * delta + 4.9 * math.sqrt(runs * delta * (1 - delta))


def test_interpreted_and_compiled_runs_are_equal_to_the_bit() -> None:
    bandit = Bandit([0.9, 0.5, 0.2], [0.6, 0.5, 0.4], [30, 9, 0], [0.3, 0.1, 0.0], noise=0.4)
    for radius in ("anytime", "paper"):
        effort: dict[str, Any] = {"runs": 5, "seed": 3, "radius": radius}
        fast = identify(bandit, engine="compiled", **effort)
        slow = identify(bandit, engine="interpreted", **effort)
        assert fast.pulls.tobytes() == slow.pulls.tobytes()
        assert fast.answers.tobytes() == slow.answers.tobytes()


def test_errors_stay_below_delta_while_the_promise_holds_and_good_logs_spare_pulls() -> None:
    """In the worst way: the logs of both arms are off by V and say that the other is better."""
    delta, runs = 0.3, 1_500
    worst = Bandit(TWO, [0.45, 0.65], 400, bias_bound=0.35)
    fit = Bandit(TWO, TWO, 400, bias_bound=0.02)
    for bandit in (worst, fit):
        result = identify(bandit, delta=delta, runs=runs, seed=5)
        for rule in ("lucb-h", "lucb"):
            assert result.stopped(rule) == 1.0
            assert below(result.error(rule).value, runs, delta)
    pulls = {rule: x["mean"] for rule, x in result.summary().items()}
    assert pulls["lucb-h"] < 0.5 * pulls["lucb"]  # of the logs that fit


def test_a_promise_that_does_not_hold_may_be_wrong_far_more_often() -> None:
    bad = Bandit(TWO, [0.3, 0.8], 2_000, bias_bound=0.0)
    result = identify(bad, delta=0.05, runs=400, seed=5)
    assert result.rules == ("lucb-h", "lucb")
    assert result.error("lucb-h").low > 0.15
    assert below(result.error("lucb").value, 400, 0.05)


def test_coins_have_half_a_sigma_at_most() -> None:
    coins = Bandit(TWO, TWO, 100, bias_bound=0.05, reward="bernoulli")
    result = identify(coins, delta=0.2, runs=300, seed=1)
    as_wide = identify(Bandit(TWO, noise=0.5), delta=0.2, runs=300, seed=1)
    means = [x.summary()["lucb"]["mean"] for x in (result, as_wide)]
    assert means[0] == pytest.approx(means[1], rel=0.15)
    assert below(result.error("lucb-h").value, 300, 0.2)


def test_observed_rewards_have_half_their_range() -> None:
    pools = Bandit.resampling([[0.0, 2.0, 2.0], [0.0, 0.0, 2.0]])
    assert identify(pools, runs=5, delta=0.2, engine="interpreted").stopped("lucb") == 1.0


def test_run_by_run_rules_meet_the_same_rewards() -> None:
    """Logs of which nothing is promised: then both rules do the same, but for ties."""
    same = identify(Bandit(TWO, TWO, 9, bias_bound=math.inf), runs=4, engine="interpreted")
    assert same.pulls[0].tolist() == same.pulls[1].tolist()
    assert same.answers[0].tolist() == same.answers[1].tolist()


def test_threads_change_nothing_and_runs_are_the_first_of_more() -> None:
    bandit = Bandit(TWO, TWO, 30, bias_bound=0.1, noise=0.3)
    one = identify(bandit, runs=40, seed=9, threads=1)
    many = identify(bandit, runs=40, seed=9, threads=3)
    few = identify(bandit, runs=7, seed=9)
    assert one.pulls.tobytes() == many.pulls.tobytes()
    assert one.pulls[:, :7].tolist() == few.pulls.tolist()
    assert identify(bandit, runs=7, seed=8).pulls.tolist() != few.pulls.tolist()


@pytest.mark.parametrize("bias_bound", [None, 0.4])
@pytest.mark.parametrize("bias", [None, Law.uniform(-0.3, 0.3)])
def test_each_run_of_a_random_bandit_is_a_run_in_the_bandit_that_it_draws(
    bias: Law | None, bias_bound: float | None
) -> None:
    bandit = random_bandit(Law.normal(0.0, 2.0), 3, 20, bias_bound, noise=0.3, bias=bias)
    effort: dict[str, Any] = {"seed": 3, "delta": 0.1, "most_pulls": 2_000}
    result = identify(bandit, runs=6, threads=2, **effort)
    slow = identify(bandit, runs=6, engine="interpreted", **effort)
    assert result.pulls.tobytes() == slow.pulls.tobytes()
    assert isinstance(result.best, np.ndarray)
    assert len(set(result.best.tolist())) > 1
    for run, best in enumerate(result.best.tolist()):
        one = instance_of(bandit, seed=3, run=run)
        assert best == one.online.argmax()
        alone = identify(one, runs=run + 1, engine="interpreted", **effort)
        assert alone.rules == result.rules
        assert alone.pulls[:, run].tolist() == result.pulls[:, run].tolist()
        assert alone.answers[:, run].tolist() == result.answers[:, run].tolist()


def test_errors_in_random_bandits_stay_below_delta() -> None:
    """The best arm differs from run to run: a rule that is right in each is not called wrong."""
    delta, runs = 0.2, 1_000
    bandit = random_bandit(Law.normal(0.0, 1.0), 4, 2_000, bias=Law.uniform(-0.8, 0.8))
    result = identify(bandit, delta=delta, runs=runs, seed=5, most_pulls=20_000)
    for rule in ("lucb-h", "lucb"):
        assert result.stopped(rule) > 0.8
        assert below(result.error(rule).value, runs, delta)
    assert result.error("trusting").low > 0.05


def test_which_rules_are_compared() -> None:
    assert rules_for(Bandit(TWO)) == ["lucb"]
    assert rules_for(Bandit(TWO, TWO, 5)) == ["lucb-h", "lucb"]
    assert rules_for(Bandit(TWO, TWO, [5, 0], [0.0, 0.3])) == ["lucb-h", "lucb"]
    assert rules_for(Bandit(TWO, TWO, 5, 0.1)) == ["lucb-h", "lucb", "trusting"]


def test_progress_counts_the_runs_of_all_rules() -> None:
    said: list[tuple[int, int]] = []
    bandit = Bandit(TWO, TWO, 5, 0.1, noise=0.1)
    identify(
        bandit,
        runs=20,
        engine="interpreted",
        threads=1,
        progress=lambda done, total: said.append((done, total)),
    )
    assert said[-1] == (60, 60)
    assert [done for done, _ in said] == sorted({done for done, _ in said})


@pytest.mark.parametrize(
    ("bandit", "message"),
    [
        ("paper", "bandit must be a Bandit, got 'paper'"),
        (Bandit([0.5]), "online has one arm: give two or more"),
        (
            Bandit([0.5, 0.2, 0.5]),
            "online has equal best arms, 1, 3: no number of pulls shows which is best; "
            "change one of the means",
        ),
        (Bandit(TWO, reward="student"), "reward is 'student': its tails are too heavy"),
        (Bandit(TWO, delay=2), "has late rewards: identify pulls one by one"),
        (Bandit(TWO, TWO, 9, relative_bound=0.1), "relative_bound is given, and LUCB-H knows no"),
    ],
)
def test_worlds_without_an_answer_are_refused(bandit: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        identify(bandit)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0}, "delta must be greater than 0, got 0"),
        ({"delta": 0.7}, r"delta must be at most 0\.5, got 0\.7"),
        ({"radius": "any"}, "unknown radius 'any'; did you mean 'anytime'"),
        ({"runs": 0}, "runs must be between 1 and 1e.07, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"most_pulls": 1}, "most_pulls must be between 2 and 1e.12, got 1"),
        ({"threads": 0}, "threads must be between 1 and 4096, got 0"),
        ({"engine": "events"}, "unknown engine 'events'; known: auto, compiled, interpreted"),
        ({"progress": 3}, "progress must be a function, got 3"),
    ],
)
def test_unusable_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        identify(Bandit(TWO), **arguments)


def test_without_numba_it_warns_and_gives_the_same_numbers(run_python: RunPython) -> None:
    told = run_python("""
import sys, warnings
sys.modules["numba"] = None
import driftanchor as da
bandit = da.Bandit([0.9, 0.1], noise=0.2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(da.identify(bandit, runs=3).pulls.tolist())
print(len(caught), caught[0].filename, caught[0].message)
try:
    da.identify(bandit, runs=3, engine="compiled")
except da.MissingExtra as error:
    print(error)
""")
    pulls, warning, error = told.splitlines()
    assert pulls == str(identify(Bandit([0.9, 0.1], noise=0.2), runs=3).pulls.tolist())
    assert warning.startswith("1 <string> Numba is not installed, so runs are interpreted.")
    assert (
        error
        == 'compiled simulation needs numba: in a clone of driftanchor, run pip install ".[fast]"'
    )


def test_it_gives_an_identification() -> None:
    result = identify(Bandit([0.1, 0.9], noise=0.1), runs=3, engine="interpreted")
    assert isinstance(result, Identification)
    assert (result.best, result.runs, result.delta, result.radius) == (1, 3, 0.05, "anytime")
    assert np.array_equal(result.answers, [[1, 1, 1]])


def test_errors_and_stops_are_shares_of_all_runs() -> None:
    assert RESULT.stopped("lucb-h") == 0.75
    assert RESULT.error("lucb-h") == (0.25, *wilson(0.25, 4))
    assert RESULT.error("lucb") == (0.0, *wilson(0.0, 4))
    with pytest.raises(UnknownName, match="unknown rule 'lucbh'; did you mean 'lucb-h'"):
        RESULT.error("lucbh")


def test_the_summary_has_pulls_stops_and_errors() -> None:
    row = RESULT.summary()["lucb-h"]
    assert list(row) == [
        *("mean", "se", "median", "q90", "q99", "max", "stopped"),
        *("error", "error_low", "error_high"),
    ]
    assert (row["mean"], row["median"], row["max"], row["stopped"]) == (14.0, 13.0, 20.0, 0.75)
    assert row["se"] == pytest.approx(PULLS[0].std(ddof=1) / 2)


def test_it_is_a_line_a_table_and_a_frame() -> None:
    assert repr(RESULT) == (
        "<Identification: lucb-h, lucb: 4 runs, δ = 0.1, anytime radius, seed 3>"
    )
    assert list(RESULT.to_frame().columns) == ["rule", *RESULT.summary()["lucb"]]
    assert RESULT._repr_html_().startswith("<table><caption>Pulls until the best arm is known")
    single = Identification(("lucb",), PULLS[:1, :1], ANSWERS[:1, :1], 0, 0.1, "paper", 20, 3)
    assert single._columns()["se"] == [None]


def test_every_run_is_in_the_file(tmp_path: Path) -> None:
    RESULT.to_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert rows[1] == {"rule": "lucb-h", "run": "1", "pulls": "12", "answer": "2"}
    assert rows[3]["answer"] == ""
