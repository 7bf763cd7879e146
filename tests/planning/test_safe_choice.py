"""The recommendation, on losses made up for the purpose."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor.planning.safe_choice import (
    BASELINE,
    SafeChoice,
    ratio_in_most_worlds,
    safe_choice,
)

WHO = (
    *("ts", BASELINE, "hybrid-ts", "log-best", "hierarchical-ts", "min-ucb", "anchor-ts"),
    "guarded-anchor-ts",
)
SPREAD = np.linspace(-5, 5, 101)


def lost(**means: float) -> dict[str, np.ndarray]:
    """100 lost by all but these, a little more or less in each world."""
    named = {label.replace("_", "-"): mean for label, mean in means.items()}
    return {label: named.get(label, 100.0) + SPREAD for label in WHO}


def judged(expected: dict[str, float], worst: dict[str, float] | None = None) -> SafeChoice:
    return safe_choice(lost(**expected), lost(**(worst or {})))


def test_the_baseline_is_the_default_rule_without_logs_even_if_ts_is_better() -> None:
    found = judged({"ts": 10.0, "guarded_anchor_ts": 80.0})
    assert (found.best, BASELINE) == ("guarded-anchor-ts", "guarded-anchor-ts-cold")


def test_the_default_rule_is_recommended_where_no_other_is_better() -> None:
    found = judged({"guarded_anchor_ts": 80.0, "hybrid_ts": 80.0, "anchor_ts": 76.0})
    assert (found.best, found.uses_logs, found.bolder) == ("guarded-anchor-ts", True, None)


def test_another_rule_takes_its_place_if_it_is_better_and_no_worse_in_the_worst_case() -> None:
    expected = {"min_ucb": 50.0, "guarded_anchor_ts": 80.0}
    assert judged(expected, {"min_ucb": 104.0}).best == "min-ucb"
    found = judged(expected, {"min_ucb": 106.0})
    assert (found.best, found.bolder) == ("guarded-anchor-ts", "min-ucb")
    assert found.safety["min-ucb"].safe


def test_a_difference_within_the_paired_interval_changes_nothing() -> None:
    expected = lost(min_ucb=74.0, guarded_anchor_ts=80.0)
    assert safe_choice(expected, lost()).best == "min-ucb"
    expected["min-ucb"] = 74.0 + 50 * np.tile([-1.0, 1.0], 51)[:101]
    assert safe_choice(expected, lost()).best == "guarded-anchor-ts"
    worst = lost()
    worst["min-ucb"] = 100.0 + 50 * np.tile([-1.0, 1.0], 51)[:101]
    assert safe_choice(lost(min_ucb=50.0, guarded_anchor_ts=80.0), worst).best != "min-ucb"


def test_differences_are_paired_world_by_world() -> None:
    """Losses vary by 300 between worlds, and their difference is always 10."""
    worlds = np.linspace(0, 300, 101)
    expected = {label: 100 + worlds for label in WHO}
    expected["guarded-anchor-ts"] = 80 + worlds
    expected["anchor-ts"] = 60 + worlds
    assert safe_choice(expected, expected).best == "anchor-ts"


def test_blind_trust_must_beat_the_rules_that_read_the_bounds() -> None:
    expected = {"hybrid_ts": 20.0, "min_ucb": 24.0, "guarded_anchor_ts": 60.0}
    assert judged(expected).best == "min-ucb"
    assert judged({**expected, "min_ucb": 26.0}).best == "hybrid-ts"


def test_a_rule_that_the_worst_case_ruins_is_named_but_not_recommended() -> None:
    found = judged({"hybrid_ts": 20.0, "min_ucb": 50.0}, {"hybrid_ts": 201.0, "min_ucb": 199.0})
    assert [found.safety[x].safe for x in ("hybrid-ts", "min-ucb")] == [False, True]
    assert (found.uses_logs, found.best, found.bolder) == (False, BASELINE, "hybrid-ts")
    assert found.safety["hybrid-ts"].extra.value == pytest.approx(101)


def test_a_default_rule_that_the_worst_case_ruins_is_not_recommended() -> None:
    found = judged({"guarded_anchor_ts": 50.0}, {"guarded_anchor_ts": 201.0})
    assert (found.rule, found.uses_logs, found.best) == ("guarded-anchor-ts", False, BASELINE)


def test_a_rule_that_saves_little_is_not_worth_the_logs() -> None:
    assert not judged({"guarded_anchor_ts": 96.0}).uses_logs
    noisy = lost()
    noisy["guarded-anchor-ts"] = 90.0 + 400 * np.tile([-1.0, 1.0], 51)[:101]
    assert safe_choice(noisy, lost()).best == BASELINE


def test_a_rule_that_never_learns_is_never_recommended() -> None:
    found = judged({"log_best": 0.0})
    assert (found.uses_logs, found.bolder) == (False, None)


def test_the_ratio_is_that_of_each_world_and_not_of_two_quantiles() -> None:
    """Both lose the same amounts, but in opposite worlds."""
    cold = np.arange(1.0, 101.0)
    mine = cold[::-1].copy()
    assert np.quantile(mine, 0.95) == np.quantile(cold, 0.95)
    ratio = ratio_in_most_worlds(mine, cold)
    assert ratio == pytest.approx(95 / 6)
    assert (mine <= ratio * cold).sum() == 95
    expected = {label: cold for label in WHO} | {"anchor-ts": mine}
    assert safe_choice(expected, expected).safety["anchor-ts"].ratio == ratio


def test_a_world_without_any_loss_has_a_ratio() -> None:
    assert ratio_in_most_worlds(np.zeros(20), np.zeros(20)) == 0.0
    assert ratio_in_most_worlds(np.ones(20), np.zeros(20)) == np.inf
