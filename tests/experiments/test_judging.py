from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.experiments import claims, judging
from driftanchor.experiments.judging import JudgedClaim
from driftanchor.experiments.outcome import Outcome, Outcomes

CELL = "a/gap=0.3"
MOST = 50.0


def outcome(final: Sequence[float], most: float = MOST) -> Outcome:
    """An outcome with these final regrets."""
    values = np.array(final, dtype=np.float64)
    return Outcome(values, values[:, None], np.ones((len(values), 2), dtype=np.int64), most)


def entry(holds: str, more: str = "", name: str = "x") -> str:
    return f'[[claim]]\nid = "{name}"\nsays = "s"\nplace = "p"\nholds = {holds}\n{more}\n'


def judge(holds: str, outcomes: Outcomes, more: str = f'cells = ["{CELL}"]') -> JudgedClaim:
    (judgement,) = judging.judge(claims.parse(entry(holds, more), "c.toml"), outcomes)
    return judgement


@pytest.fixture
def normal() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.fixture
def world(normal: np.random.Generator) -> Outcomes:
    """A policy `low` of mean 10 and one `high` of mean 20, 4,000 runs of noise 2."""
    return {
        (CELL, "low"): outcome(normal.normal(10, 2, 4_000).tolist()),
        (CELL, "high"): outcome(normal.normal(20, 2, 4_000).tolist()),
    }


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ("low < high", "holds"),
        ("high < low", "fails"),
        ("high > low", "holds"),
        ("low > high", "fails"),
        ("low < 0.5*high", "inconclusive"),
        ("low < 0.7*high", "holds"),
        ("low < 0.3*high", "fails"),
        ("low < 12", "holds"),
        ("low < 8", "fails"),
        ("low < 10", "inconclusive"),
        ("high - low > 8", "holds"),
        ("high - low > low + 5", "fails"),
    ],
)
def test_a_claim_gets_the_verdict_of_its_numbers(world: Outcomes, holds: str, verdict: str) -> None:
    assert judge(f'["{holds}"]', world).verdict == verdict


def test_too_few_runs_are_inconclusive() -> None:
    few = {(CELL, "low"): outcome([5, 15, 9]), (CELL, "high"): outcome([30, 12, 22])}
    assert judge('["low < high"]', few).verdict == "inconclusive"
    one = {(CELL, "low"): outcome([5]), (CELL, "high"): outcome([300])}
    alone = judge('["low < high"]', one)
    assert alone.verdict == "inconclusive"
    assert alone.findings[0].runs == 1


def test_differences_are_paired(normal: np.random.Generator) -> None:
    shared = normal.normal(25, 5, 2_000)
    outcomes = {
        (CELL, "a"): outcome((shared + normal.normal(0, 0.1, 2_000)).tolist()),
        (CELL, "b"): outcome((shared + 0.3 + normal.normal(0, 0.1, 2_000)).tolist()),
    }
    assert judge('["a < b"]', outcomes).verdict == "holds"
    apart = {**outcomes, (CELL, "b"): outcome(outcomes[CELL, "b"].final[::-1].tolist())}
    assert judge('["a < b"]', apart).verdict == "inconclusive"


def test_intervals_are_those_of_bounded_means(world: Outcomes) -> None:
    (finding,) = judge('["low < high"]', world).findings
    difference = world[CELL, "low"].final - world[CELL, "high"].final
    assert finding.estimate == pytest.approx(difference.mean())
    assert (finding.low, finding.high) == bounded_mean_interval(difference, -MOST, MOST, 0.05)


def test_an_interval_widens_with_the_number_of_comparisons(world: Outcomes) -> None:
    alone = judge('["low < high"]', world).findings[0]
    among = judge('["low < high", "high > low", "low < 99", "high < 99"]', world).findings
    same = next(finding for finding in among if finding.text.startswith("low < high"))
    assert same.estimate == alone.estimate
    assert same.high - same.low > alone.high - alone.low


def test_the_worst_comparison_is_the_claims_and_comes_first(world: Outcomes) -> None:
    judgement = judge('["low < 99", "low < 10", "high < 8", "high < 30"]', world)
    assert [finding.verdict for finding in judgement.findings] == [
        "fails",
        "inconclusive",
        "holds",
        "holds",
    ]
    assert judgement.verdict == "fails"
    assert judgement.findings[2].text.startswith("high < 30")
    said = judgement.to_json()
    assert said["comparison"] == f"high < 8  [{CELL}]"
    assert said["interval"][0] < said["estimate"] < said["interval"][1]
    assert len(said["comparisons"]) == 4


def test_quantiles_tell_what_means_hide(normal: np.random.Generator) -> None:
    usual = normal.normal(10, 1, 2_000)
    stuck = np.where(np.arange(2_000) % 50 == 0, 1000.0, usual)
    outcomes = {
        (CELL, "steady"): outcome(normal.normal(15, 1, 2_000).tolist(), 1000.0),
        (CELL, "rash"): outcome(stuck.tolist(), 1000.0),
    }
    cells = f'cells = ["{CELL}"]'
    assert judge('["rash < steady"]', outcomes).verdict != "holds"
    for statistic, verdict in {"median": "holds", "q90": "holds", "q99": "fails"}.items():
        more = f'{cells}\nstatistic = "{statistic}"'
        assert judge('["rash < steady"]', outcomes, more).verdict == verdict, statistic


def test_a_quantile_beyond_all_runs_is_inconclusive() -> None:
    runs = {
        (CELL, "a"): outcome(list(range(200)), 1000.0),
        (CELL, "b"): outcome(list(range(500, 700)), 1000.0),
    }
    for statistic, verdict in {"q90": "holds", "q99": "inconclusive"}.items():
        more = f'cells = ["{CELL}"]\nstatistic = "{statistic}"'
        assert judge('["a < b"]', runs, more).verdict == verdict


def test_differences_of_differences_span_cells() -> None:
    noise = np.linspace(-1, 1, 500)
    outcomes = {
        (cell, policy): outcome((noise * scale + mean).tolist())
        for cell, policy, mean, scale in [
            ("e/n=1", "a", 10, 1.0),
            ("e/n=1", "b", 30, 1.1),
            ("e/n=2", "a", 10, 0.9),
            ("e/n=2", "b", 15, 1.0),
        ]
    }
    more = 'each.n = ["1"]\neach.other = ["2"]'
    text = '["b@e/n={n} - a@e/n={n} > b@e/n={other} - a@e/n={other}"]'
    judgement = judge(text, outcomes, more)
    assert judgement.verdict == "holds"
    assert judgement.findings[0].estimate == pytest.approx(15)
    assert judgement.findings[0].text == "b@e/n=1 - a@e/n=1 > b@e/n=2 - a@e/n=2"


def test_more_runs_are_asked_for_only_where_they_may_decide_a_claim(world: Outcomes) -> None:
    def asked(holds: str) -> set[str]:
        return {policy for _, policy in judging.undecided([judge(holds, world)])}

    assert asked('["low < high"]') == set()
    assert asked('["low < 10", "low < high"]') == {"low"}
    assert asked('["low < 0.5*high"]') == {"low", "high"}
    assert asked('["low < 10", "high < low"]') == set()  # it fails already


def test_a_pattern_stands_for_every_cell() -> None:
    outcomes = {
        (f"e/n={n}", policy): outcome([mean, mean + 1, mean + 2] * 10)
        for n in (1, 2, 3)
        for policy, mean in (("a", 20.0), ("b", 45.0 if n < 3 else 0.0))
    }
    judgement = judge('["a < b"]', outcomes, 'cells = ["e/*"]')
    assert judgement.verdict == "fails"
    assert judgement.findings[0].text == "a < b  [e/n=3]"
    assert len(judgement.findings) == 3


def test_two_patterns_are_compared_cell_by_cell() -> None:
    means = {("a", "ts"): (1.0, 20.0, 3.0), ("b", "ucb"): (30.0, 40.0, 50.0)}
    outcomes = {
        (f"{place}/n={n}", policy): outcome(np.full(500, values[n - 1]).tolist())
        for (place, policy), values in means.items()
        for n in (1, 2, 3)
    }
    judgement = judge('["ts@a/* < ucb@b/*"]', outcomes, "")
    assert judgement.verdict == "holds"
    assert {finding.text: finding.estimate for finding in judgement.findings} == {
        "ts@a/n=1 < ucb@b/n=1": -29.0,
        "ts@a/n=2 < ucb@b/n=2": -20.0,
        "ts@a/n=3 < ucb@b/n=3": -47.0,
    }
    told = claims.parse(entry('["ts@a/* < ucb@b/*"]'), "c.toml")
    assert judging.judge(told, outcomes, cells=["a/n=4", "b/n=4"]) == []


def test_a_claim_is_left_out_when_one_of_its_cells_was_not_run() -> None:
    told = claims.parse(entry('["a < b"]', 'cells = ["e/*"]'), "c.toml")
    ran = {("e/n=1", "a"): outcome([1, 2]), ("e/n=1", "b"): outcome([1, 2])}
    assert len(judging.judge(told, ran)) == 1
    assert judging.judge(told, ran, cells=["e/n=1", "e/n=2"]) == []
    assert judging.judge(told, {("e/n=1", "a"): outcome([1, 2])}) == []
    assert judging.judge(told, {}) == []
