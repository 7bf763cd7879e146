"""Who is safe and who is best, on losses made up for the purpose."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor.planning.contenders import Contender, Given
from driftanchor.planning.safe_choice import SafeChoice, cold_baseline, safe_choice

GIVEN: dict[str, Given] = {
    "ts": "nothing",
    "guarded-anchor-ts-cold": "nothing",
    "hybrid-ts": "trust",
    "log-best": "trust",
    "min-ucb": "promise",
    "guarded-anchor-ts": "promise",
}
WHO = {label: Contender(None, given, "") for label, given in GIVEN.items()}
SPREAD = np.linspace(-5, 5, 101)


def lost(**means: float) -> dict[str, np.ndarray]:
    """100 lost by all but these, a little more or less in each world."""
    named = {label.replace("_", "-"): mean for label, mean in means.items()}
    return {label: named.get(label, 100.0) + SPREAD for label in WHO}


def judged(expected: dict[str, float], bad: dict[str, float] | None = None) -> SafeChoice:
    return safe_choice(lost(**expected), [lost(**(bad or {}))], WHO)


def test_the_baseline_is_the_better_way_without_logs() -> None:
    assert cold_baseline(lost(ts=90.0), WHO) == "ts"
    assert cold_baseline(lost(guarded_anchor_ts_cold=90.0), WHO) == "guarded-anchor-ts-cold"


def test_the_best_is_the_safe_rule_that_loses_least() -> None:
    found = judged({"hybrid_ts": 20.0, "min_ucb": 50.0, "guarded_anchor_ts": 80.0})
    assert (found.best, found.bolder, found.uses_logs) == ("hybrid-ts", None, True)


def test_a_rule_that_a_bad_case_ruins_is_named_but_not_chosen() -> None:
    found = judged({"hybrid_ts": 20.0, "min_ucb": 50.0}, {"hybrid_ts": 201.0, "min_ucb": 199.0})
    assert (found.best, found.bolder) == ("min-ucb", "hybrid-ts")
    assert [found.safety[x].safe for x in ("hybrid-ts", "min-ucb")] == [False, True]
    assert found.safety["hybrid-ts"].worst == pytest.approx(201)


def test_what_a_tie_costs_is_measured_by_what_is_usual() -> None:
    bad = dict.fromkeys(("ts", "guarded_anchor_ts_cold"), 10.0) | {"hybrid_ts": 150.0}
    assert judged({"hybrid_ts": 20.0}, bad).best == "hybrid-ts"


def test_every_bad_case_counts() -> None:
    bad = [lost(), lost(hybrid_ts=500.0), lost(hybrid_ts=90.0)]
    found = safe_choice(lost(hybrid_ts=20.0), bad, WHO)
    assert found.safety["hybrid-ts"].worst == pytest.approx(500)
    assert not found.uses_logs


def test_a_long_tail_is_not_safe() -> None:
    expected = lost(min_ucb=50.0)
    expected["min-ucb"][:7] = 300.0
    found = safe_choice(expected, [lost()], WHO)
    assert found.safety["min-ucb"].long_tail
    assert (found.best, found.bolder) == (found.baseline, "min-ucb")


@pytest.mark.parametrize(("mean", "best"), [(24.0, "guarded-anchor-ts"), (26.0, "hybrid-ts")])
def test_the_default_rule_is_preferred_if_it_saves_almost_as_much(mean: float, best: str) -> None:
    assert judged({"hybrid_ts": 20.0, "guarded_anchor_ts": mean}).best == best


@pytest.mark.parametrize(("mean", "best"), [(24.0, "min-ucb"), (26.0, "hybrid-ts")])
def test_a_rule_that_heeds_bounds_is_preferred_to_blind_trust(mean: float, best: str) -> None:
    assert judged({"hybrid_ts": 20.0, "min_ucb": mean, "guarded_anchor_ts": 60.0}).best == best


def test_to_save_little_is_to_go_without() -> None:
    assert not judged({"hybrid_ts": 96.0}).uses_logs
    noisy = lost()
    noisy["hybrid-ts"] = 90.0 + 400 * np.tile([-1.0, 1.0], 51)[:101]
    assert safe_choice(noisy, [lost()], WHO).best == "ts"


def test_a_rule_that_never_learns_is_never_recommended() -> None:
    found = judged({"log_best": 0.0})
    assert (found.uses_logs, found.bolder) == (False, None)
