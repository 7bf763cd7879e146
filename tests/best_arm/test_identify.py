"""Errors stay below δ while the promise holds, logs spare pulls, and compiled runs are the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import Bandit, Identification, InvalidInput, Law, identify, random_bandit
from driftanchor.best_arm.identify import rules_for
from driftanchor.simulation import instance_of

if TYPE_CHECKING:
    from conftest import RunPython

TWO = [0.8, 0.3]


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
        found = identify(bandit, delta=delta, runs=runs, seed=5)
        for rule in ("lucb-h", "lucb"):
            assert found.stopped(rule) == 1.0
            assert below(found.error(rule).value, runs, delta)
    pulls = {rule: x["mean"] for rule, x in found.summary().items()}
    assert pulls["lucb-h"] < 0.5 * pulls["lucb"]  # of the logs that fit


def test_a_promise_that_does_not_hold_may_be_wrong_far_more_often() -> None:
    bad = Bandit(TWO, [0.3, 0.8], 2_000, bias_bound=0.0)
    found = identify(bad, delta=0.05, runs=400, seed=5)
    assert found.rules == ("lucb-h", "lucb")
    assert found.error("lucb-h").low > 0.15
    assert below(found.error("lucb").value, 400, 0.05)


def test_coins_have_half_a_sigma_at_most() -> None:
    coins = Bandit(TWO, TWO, 100, bias_bound=0.05, reward="bernoulli")
    found = identify(coins, delta=0.2, runs=300, seed=1)
    as_wide = identify(Bandit(TWO, noise=0.5), delta=0.2, runs=300, seed=1)
    means = [x.summary()["lucb"]["mean"] for x in (found, as_wide)]
    assert means[0] == pytest.approx(means[1], rel=0.15)
    assert below(found.error("lucb-h").value, 300, 0.2)


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
    found = identify(bandit, runs=6, threads=2, **effort)
    slow = identify(bandit, runs=6, engine="interpreted", **effort)
    assert found.pulls.tobytes() == slow.pulls.tobytes()
    assert isinstance(found.best, np.ndarray)
    assert len(set(found.best.tolist())) > 1
    for run, best in enumerate(found.best.tolist()):
        one = instance_of(bandit, seed=3, run=run)
        assert best == one.online.argmax()
        alone = identify(one, runs=run + 1, engine="interpreted", **effort)
        assert alone.rules == found.rules
        assert alone.pulls[:, run].tolist() == found.pulls[:, run].tolist()
        assert alone.answers[:, run].tolist() == found.answers[:, run].tolist()


def test_errors_in_random_bandits_stay_below_delta() -> None:
    """The best arm differs from run to run: a rule that is right in each is not called wrong."""
    delta, runs = 0.2, 1_000
    bandit = random_bandit(Law.normal(0.0, 1.0), 4, 2_000, bias=Law.uniform(-0.8, 0.8))
    found = identify(bandit, delta=delta, runs=runs, seed=5, most_pulls=20_000)
    for rule in ("lucb-h", "lucb"):
        assert found.stopped(rule) > 0.8
        assert below(found.error(rule).value, runs, delta)
    assert found.error("trusting").low > 0.05


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
    found = identify(Bandit([0.1, 0.9], noise=0.1), runs=3, engine="interpreted")
    assert isinstance(found, Identification)
    assert (found.best, found.runs, found.delta, found.radius) == (1, 3, 0.05, "anytime")
    assert np.array_equal(found.answers, [[1, 1, 1]])
