"""A suggestion that promises nothing of the logs at hand is warned of."""

import math
from typing import Any

import numpy as np
import pytest

from driftanchor import TS, Learner, OfflineData, Suggestion
from driftanchor.live.terms import Terms
from driftanchor.shift import suggest


def week(move: float, **rates: float) -> OfflineData:
    rates = rates or {"A": 0.5, "B": 0.3}
    return OfflineData.from_summary(
        {arm: (400, p + move, (p + move) * (1 - p - move)) for arm, p in rates.items()}
    )


@pytest.mark.parametrize("name", ["bias_bound", "relative_bound"])
def test_a_suggestion_from_one_period_is_warned_of(name: str) -> None:
    found = suggest({"W1": week(0.0)}, unit="week")
    options: dict[str, Any] = {name: found, "reward_range": (0, 1), "seed": 1}
    with pytest.warns(UserWarning, match=f"{name} is a Suggestion without a bound") as caught:
        made = Learner(offline=week(0.0), **options)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert (found.meaning if name == "bias_bound" else found.relative_meaning) in text
    assert text.endswith(f"Give {name} a number, or inf for no promise")
    assert not np.isfinite([made.bias_bounds, made.relative_bounds]).any()
    Learner(offline=week(0.0), **(options | {name: math.inf}))  # said so, no warning


def test_a_suggestion_with_a_bound_is_not() -> None:
    found = suggest({f"W{i}": week(x) for i, x in enumerate([0.0, 0.1, -0.1, 0.05])}, unit="week")
    terms = Terms.declare(offline=week(0.0), relative_bound=found, reward_range=(0, 1), seed=1)
    assert terms.relative_bounds.tolist() == [found.relative_bound] * 2


def found(moves: list[float], **rates: float) -> Suggestion:
    periods = {f"W{i}": week(x, **rates) for i, x in enumerate(moves)}
    return suggest(periods, unit="week")


MOVES = [0.0, 0.1, -0.1, 0.05]


@pytest.mark.parametrize("name", ["bias_bound", "relative_bound"])
def test_a_suggestion_from_other_arms_is_warned_of(name: str) -> None:
    logs = OfflineData.from_summary({"A": (400, 0.5, 0.25), "X": (400, 0.3, 0.2), "Y": (0,)})
    options: dict[str, Any] = {name: found(MOVES), "reward_range": (0, 1), "seed": 1}
    with pytest.warns(UserWarning, match=f"{name} is a Suggestion from other arms") as caught:
        made = Learner(offline=logs, **options)
    assert "it saw ['A', 'B'], and never ['X']." in str(caught[0].message)
    assert caught[0].filename == __file__
    assert np.isfinite([made.bias_bounds, made.relative_bounds]).any()
    Learner(offline=logs, **(options | {name: getattr(options[name], name)}))  # meant: no warning


def test_a_suggestion_for_an_arm_that_is_added_becomes_a_number() -> None:
    pupil = Learner(TS(noise=0.5), offline=week(0.0), bias_bound=0.1, seed=1)
    seen: Any = found(MOVES, A=0.5, D=0.4)
    nothing: Any = found([0.0], A=0.5, F=0.4)
    pupil.add_arm("D", (9, 0.4), bias_bound=seen)
    assert pupil.bias_bounds.tolist() == [0.1, 0.1, seen.bias_bound]
    with pytest.warns(UserWarning, match="Suggestion from other arms") as caught:
        pupil.add_arm("E", (9, 0.4), bias_bound=seen)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="Suggestion without a bound"):
        pupil.add_arm("F", (9, 0.4), bias_bound=nothing)
    assert Learner.from_json(pupil.to_json()).state == pupil.state
