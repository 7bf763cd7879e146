from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from two_months import NAMES, SAME, SPLIT, START, events, pyarrow

from driftanchor import Replay, replay
from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.logs.periods import read_periods
from driftanchor.planning.promises_kept import held_together
from driftanchor.planning.replay_prose import shift_table
from driftanchor.shift import suggest


@pytest.fixture(scope="module")
def helped() -> Replay:
    return replay(SAME, split=SPLIT, bias_bound=0.05, horizon=1000, worlds=16, **NAMES)


def test_logs_that_went_on_as_they_were_would_have_helped(helped: Replay) -> None:
    assert helped.decision == "use"
    best = helped.best_policy
    assert helped.verdict.startswith(
        f"The logs would have helped, with {best}: after 2026-02-01, about "
    )
    assert helped.safety[best].safe
    assert {helped.held(label) for label in "ABC"} == {"yes"}
    assert helped.notes[-1] == "V held for all arms with logs"
    assert helped.law.name == "bernoulli"


def test_logs_that_hide_the_best_arm_would_not() -> None:
    swapped = events({"A": 0.2, "B": 0.1}, {"A": 0.2, "B": 0.22}, n=6000)
    found = replay(swapped, split=SPLIT, bias_bound=0.0, horizon=1000, worlds=16, **NAMES)
    assert found.decision == "without"
    assert found.verdict.startswith("The logs would not have helped: after 2026-02-01, ")
    assert (found.held("A"), found.held("B")) == ("unclear", "no")
    assert found.notes[-1] == "V did not hold: B moved further"


def test_the_world_is_what_came_after(helped: Replay) -> None:
    past = helped.history
    later = [float(np.mean(SAME["won"].to_numpy()[4500 + 1500 * i :][:1500])) for i in range(3)]
    assert past.after.mean == pytest.approx(later)
    for logs in (True, False):
        bandit = past.bandit(1.0, helped.promise, logs)
        assert bandit.online == pytest.approx(later)
        assert bandit.offline_pulls.tolist() == ([1500] * 3 if logs else [0] * 3)
    still = past.bandit(0.0, helped.promise)
    assert still.online == pytest.approx(past.before.mean)
    twice = past.bandit(2.0, helped.promise)
    assert twice.online - past.before.mean == pytest.approx(2 * past.moved)


def test_json(helped: Replay) -> None:
    told = json.loads(json.dumps(helped.to_json(), allow_nan=False))
    assert told["split"] == "2026-02-01T00:00:00Z"
    assert told["declared"] is True
    assert set(told["shifts"]["A"]) == {"value", "low", "high", "held"}
    assert told["by_shift"]["shift"] == pytest.approx(
        [x * helped.history.largest for x in (0, 0.5, 1, 1.5, 2)]
    )
    assert told["provenance"]["filters"]["until"] == "2026-02-01T00:00:00Z"


def test_without_a_bound_policies_are_told_the_largest_shift() -> None:
    found = replay(SAME, split=SPLIT, worlds=2, horizon=20, **NAMES)
    assert not found.declared
    assert set(found.bias_bounds) == {found.history.largest}


def test_logs_of_which_nothing_is_promised_are_left_out() -> None:
    bounds = {"A": 0.1, "B": float("inf"), "C": 0.1}
    found = replay(SAME, split=SPLIT, bias_bound=bounds, worlds=2, horizon=20, **NAMES)
    assert "nothing is promised of B, so these logs are left out" in found.notes
    assert found.offline.n.tolist() == found.history.before.n.tolist() == [1500, 0, 1500]
    assert set(found.history.shifts) == {"A", "C"}
    assert shift_table(found).rows[1][-1] == "–"


def test_arms_that_moved_together_broke_v_and_kept_w() -> None:
    rates = {"A": 0.3, "B": 0.2, "C": 0.1}
    lifted = events(rates, {label: rate + 0.2 for label, rate in rates.items()}, n=6000)
    options: dict[str, Any] = {"split": SPLIT, "horizon": 500, "worlds": 12, **NAMES}
    found = replay(lifted, bias_bound=0.06, relative_bound=0.05, **options)
    assert held_together(found.history, found.promise) == {
        "bias_bound": "no",
        "relative_bound": "yes",
    }
    assert found.notes[-2:] == (
        "V did not hold: A, B, C moved further",
        "W held: arms did not move further apart",
    )
    apart = replay(lifted, relative_bound=0.05, **options)
    assert not np.isfinite(apart.bias_bounds).any()
    assert apart.saved("hierarchical-ts").low > 0
    assert "within V" not in shift_table(apart).headings
    assert apart.declared
    # the worst case: the common move that happened, and A and B moved against the logs
    worst = apart.history.against_the_logs(apart.promise, apart.promise, 500, logs=True)
    moved = worst.online - apart.history.before.mean - apart.history.moved.mean()
    assert moved == pytest.approx([-0.05, 0.05, 0.0])


def test_means_that_did_not_move_at_all() -> None:
    days = [START + timedelta(days=31 * month) for month in (0, 1) for _ in range(400)]
    still = pyarrow.table({"ad": ["A", "B"] * 400, "won": [1.0, 0.0, 0.0, 0.0] * 200, "at": days})
    found = replay(still, split=SPLIT, horizon=300, worlds=20, **NAMES)
    assert (found.history.largest, found.by_shift.unit) == (0.0, 0.0)
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["break_even_shift"] == 0.0
    assert found.decision == "use"


def test_arms_that_moved_apart_broke_w() -> None:
    turned = events({"A": 0.3, "B": 0.2, "C": 0.1}, {"A": 0.2, "B": 0.3, "C": 0.1}, n=6000)
    found = replay(turned, split=SPLIT, relative_bound=0.01, horizon=500, worlds=5, **NAMES)
    assert found.to_json()["held"] == {"relative_bound": "no"}
    assert found.notes[-1] == "W did not hold: arms moved further apart"


def test_where_only_a_risk_would_have_paid_the_verdict_says_so() -> None:
    found = replay(SAME, split=SPLIT, bias_bound=0.3, horizon=1000, worlds=16, **NAMES)
    assert found.saved("hybrid-ts").low > 0  # nothing moved, but much was allowed
    assert not found.safety["hybrid-ts"].safe
    assert "hybrid-ts loses only " in found.verdict
    assert ", which is not safe." in found.verdict
    assert not found.verdict.startswith("The logs would not have helped")


def test_auto_is_what_the_part_before_the_split_suggests() -> None:
    rows: dict[str, list[Any]] = {"ad": [], "won": [], "at": [], "channel": []}
    rng = np.random.default_rng(1)
    for week in range(8):
        for label, rate in (("A", 0.3), ("B", 0.2)):
            rows["ad"] += [label] * 300
            rows["won"] += (1.0 * (rng.random(300) < rate + 0.05 * (week % 2))).tolist()
            rows["channel"] += ["Web" if week > 4 else "shop"] * 300
            rows["at"] += [START + timedelta(days=7 * week)] * 300
    logs = pyarrow.table(rows)
    options: dict[str, Any] = {"split": SPLIT, "by": "week", "horizon": 20, "worlds": 2, **NAMES}
    found = replay(logs, relative_bound="auto", **options)
    suggested = suggest(read_periods(logs, by="week", until=SPLIT, **NAMES), unit="week")
    assert set(found.relative_bounds) == {suggested.relative_bound}
    assert "estimated from 5 periods of the logs" in found.notes[0]
    side = replay(logs, relative_bound="auto", **{**options, "split": "channel = 'Web'"})
    assert side.relative_bounds.tolist() == found.relative_bounds.tolist()
    with pytest.raises(InvalidInput, match="relative_bound is 'auto' and the logs are not in per"):
        replay(logs, relative_bound="auto", **{**options, "by": None})


def test_the_horizon_is_what_came_after() -> None:
    few = events({"A": 0.3, "B": 0.2}, {"A": 0.3, "B": 0.2}, n=40)
    assert replay(few, split=SPLIT, worlds=2, **NAMES).horizon == 80


def test_a_long_horizon_is_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftanchor.planning.replay.LONGEST", 50)
    found = replay(SAME, split=SPLIT, worlds=2, **NAMES)
    assert found.horizon == 50
    assert found.notes[-1] == "50 rounds, not all 4,500: ask for a longer horizon"


def test_other_rewards_are_drawn_from_those_seen() -> None:
    sold = events({"A": 0.3, "B": 0.2}, {"A": 0.3, "B": 0.4}, n=200, money=True)
    found = replay(sold, split=SPLIT, worlds=4, horizon=50, **NAMES)
    past = found.history
    assert past.law.name == "resampled"
    assert past.rewards is not None
    later = sold["won"].to_numpy()[400:600]
    assert np.sort(past.rewards[0]) == pytest.approx(np.sort(later))
    assert past.bandit(1.0, found.promise).online == pytest.approx(past.after.mean)
    still = past.bandit(0.0, found.promise)
    assert still.online == pytest.approx(past.before.mean)
    assert "rewards are drawn anew from 400 of the 400 after the split" in found.notes


def test_counted_rows_are_coins_or_gaussian() -> None:
    day = [START, START, START + timedelta(days=31), START + timedelta(days=31)]
    counted = pyarrow.table(
        {"ad": ["A", "B", "A", "B"], "n": [900, 800, 700, 600], "k": [90, 40, 70, 60], "at": day}
    )
    columns: dict[str, Any] = {"arm": "ad", "count": "n", "total": "k", "time": "at"}
    found = replay(counted, split=SPLIT, worlds=2, horizon=50, **columns)
    assert found.law.name == "bernoulli"
    assert found.history.after.mean == pytest.approx([0.1, 0.1])
    moments = pyarrow.table(
        {"ad": ["A", "B"] * 2, "n": [90] * 4, "m": [5, 6, 7, 8], "v": [4, 4, 9, 9], "at": day}
    )
    columns = {"arm": "ad", "count": "n", "mean": "m", "variance": "v", "time": "at"}
    found = replay(moments, split=SPLIT, worlds=2, horizon=50, **columns)
    assert (found.law.name, found.law.noise) == ("gaussian", 3.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": None}, "time is missing: name the column of the times"),
        ({"split": None}, "split is missing"),
        (
            {"split": "soon"},
            "split must be a date or time such as 2026-01-31T12:00, or a filter such as "
            "\"channel = 'Web'\", got 'soon'; read as a filter: expected a comparison at its end",
        ),
        (
            {"split": "2027-01-01"},
            "split 2027-01-01T00:00:00Z leaves nothing on one side: the rows go from "
            "2026-01-02T00:00:00Z to 2026-02-02T00:24:59Z",
        ),
        ({"split": "2026-01-02"}, "split 2026-01-02T00:00:00Z leaves nothing on one side"),
        ({"arm": "add"}, "unknown column 'add'; did you mean 'ad'?"),
        ({"time": "att"}, "unknown column 'att'; did you mean 'at'?"),
        ({"arms": ["A"]}, "after the split there is one arm only, 'A'"),
        (
            {"bias_bound": float("inf")},
            "bias_bound must be finite for at least one arm with logs, got inf",
        ),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"logs": "no-such.csv"}, "cannot read 'no-such.csv': No such file"),
    ],
)
@pytest.mark.filterwarnings("ignore:the logs have one arm only")
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    given = {"logs": SAME, "split": SPLIT, "worlds": 2, **NAMES, **changes}
    with pytest.raises(InvalidInput) as error:
        replay(given.pop("logs"), **given)
    assert str(error.value).startswith(message)


def test_nothing_in_common_is_refused() -> None:
    moved = events({"A": 0.3, "B": 0.2}, {"C": 0.3, "D": 0.2}, n=5)
    with pytest.raises(
        InvalidInput, match="no arm is on both sides of the split: before the split A, B"
    ):
        replay(moved, split=SPLIT, **NAMES)


def test_totals_of_something_else_have_no_noise_to_draw(tmp_path: Path) -> None:
    file = tmp_path / "sums.csv"
    file.write_text("ad,n,sum,at\nA,10,55.5,2026-01-05\nB,10,44,2026-01-05\n"
                    "A,10,50.5,2026-02-05\nB,10,44,2026-02-05\n")  # fmt: skip
    columns: dict[str, Any] = {"arm": "ad", "count": "n", "total": "sum", "time": "at"}
    with pytest.raises(DriftanchorError, match="the logs have no variances"):
        replay(str(file), split=SPLIT, **columns)
