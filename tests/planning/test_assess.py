"""What an assessment reports, on losses made up for the purpose."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from driftanchor import OfflineData
from driftanchor.core.stats.intervals import Estimate
from driftanchor.errors import InvalidInput
from driftanchor.planning.assess import USE, WITHOUT
from driftanchor.planning.compare import Compared
from driftanchor.planning.contenders import RULE, RULE_COLD, contenders
from driftanchor.planning.curve import Curve
from driftanchor.planning.plan import Plan
from driftanchor.planning.promise import promised
from driftanchor.planning.reward_law import RewardLaw
from driftanchor.planning.safe_choice import safe_choice

LOGS = OfflineData.from_summary({"A": (900, 0.5, 0.25), "B": (900, 0.4, 0.24)})
WHO, REASONS = contenders(LOGS, (0.0, 1.0), None)
NOISE = np.linspace(-5, 5, 101)


def assessment(means: dict[str, float], even: float = 0.02, **changes: Any) -> Plan:
    """Everyone loses 100 but for these; the same in the worst case and at all shifts."""
    lost = {label: means.get(label, 100.0) + NOISE for label in WHO}
    promise = promised(0.05, None, LOGS).promise
    shifts = Curve(np.array([0.0, 0.1]), (lost, lost))
    even_at = Estimate(even, 0.01, math.inf)
    compared = Compared(lost, lost, shifts, safe_choice(lost, lost), even_at)
    fields: dict[str, Any] = {"horizon": 1_000, "worlds": 101, "seed": 3, "notes": ("a note",)}
    return Plan(
        offline=LOGS,
        promise=promise,
        law=RewardLaw("bernoulli", 0.5, "as asked"),
        contenders=WHO,
        reasons=REASONS,
        compared=compared,
        theory={},
        **(fields | changes),
    )


def test_a_rule_that_saves_enough_is_used() -> None:
    found = assessment({RULE: 40.0, RULE_COLD: 90.0})
    assert (found.decision, found.best_policy, found.baseline) == (USE, RULE, RULE_COLD)
    assert found.cold_loss == pytest.approx(90.0)
    assert tuple(found.saved()) == pytest.approx((50.0, 50.0, 50.0))  # paired: no noise is left
    assert found.verdict.startswith(
        f"Use the logs, with {RULE}: about 40.0 rewards are lost in 1,000"
    )
    assert found.verdict == " ".join((found.answer, *found.details))


def test_where_nothing_is_saved_the_answer_is_to_go_without() -> None:
    found = assessment({})
    assert (found.decision, found.break_even_policy) == (WITHOUT, RULE)
    assert found.verdict.startswith("Do not use the logs: ")
    assert found.best_policy == found.baseline


@pytest.mark.parametrize(("even", "shift"), [(0.02, 0.02), (0.1, 0.1), (math.inf, 0.1)])
def test_a_break_even_is_no_further_than_was_tried(even: float, shift: float) -> None:
    found = assessment({RULE: 40.0}, even)
    assert (found.largest_shift, found.break_even_shift) == (0.1, shift)
    record = found.to_json()["break_even"]
    assert record == {"shift": shift, "low": 0.01, "high": 0.1, "reached": math.isfinite(even)}


def test_json_is_strict_and_has_every_contender() -> None:
    found = assessment({RULE: 40.0})
    record = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert list(record["policies"]) == list(record["safety"]) == list(WHO)
    assert record["policies"][RULE]["saved"]["value"] == pytest.approx(60.0)
    assert record["by_shift"]["shift"] == [0.0, 0.1]
    assert record["worst_case"] == pytest.approx({"A": -0.05, "B": 0.05})
    assert record["safety"][RULE] == {
        "safe": True,
        "ratio": pytest.approx(45 / 105, abs=0.01),
        "extra": pytest.approx({"value": -60.0, "low": -60.0, "high": -60.0}),
    }
    assert record["notes"] == ["a note"]


def test_the_table_has_a_row_for_each_contender() -> None:
    frame = assessment({RULE: 40.0}).to_frame()
    assert list(frame["policy"]) == list(WHO)
    row = list(WHO).index(RULE)
    assert (frame["mean"][row], frame["saved"][row], frame["safe"][row]) == (40.0, 60.0, True)


def test_what_an_unknown_policy_saved_is_asked_for_in_vain() -> None:
    found: Any = assessment({})
    labels: list[Any] = ["hybrid", 5, None, []]
    for label in labels:
        with pytest.raises(InvalidInput, match="label"):
            found.saved(label)
