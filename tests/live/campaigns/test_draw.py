"""Floors, and how often each arm is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from driftanchor import TS, Settings, Terms
from driftanchor.live.campaigns.draw import draw, explain, floors_of
from driftanchor.live.decide import Decider
from driftanchor.live.state import State
from driftanchor.live.state_events import Rewarded

if TYPE_CHECKING:
    from conftest import Chance

TERMS = Terms.declare(TS(noise=0.5), arms=["A", "B", "C"], seed=4)


def test_floors_belong_to_arms_that_can_be_played() -> None:
    settings = Settings(floor=0.1, control={"B": 0.3})
    on = np.array([True, True, True])
    assert floors_of(TERMS, settings, on).tolist() == [0.1, 0.3, 0.1]
    assert floors_of(TERMS, settings, np.array([True, False, True])).tolist() == [0.1, 0.0, 0.1]
    assert floors_of(TERMS, Settings(floor=0.6), on).sum() == pytest.approx(1.0)


def test_arms_are_drawn_as_often_as_the_propensities_say(chance: Chance) -> None:
    """2,000 decisions on the same evidence; a right program fails with a probability of 1e-6."""
    state = State.start(TERMS.arms)
    decider = Decider(TERMS, state)
    decider.apply(Rewarded((0, 1, 2), (0.5, 0.9, 0.2)))
    settings = Settings(floor=0.05, control={"C": 0.2})
    first = draw(decider, settings)
    counts = np.zeros(3)
    for number in range(2_000):
        state.decisions = number
        counts[draw_column(decider, settings)] += 1
    chance.fits(counts, 2_000 * first.probabilities, false_alarm=1e-6)
    assert first.probabilities.sum() == pytest.approx(1.0)
    assert first.propensity == first.probabilities[first.event.column]
    assert (first.probabilities >= [0.05, 0.05, 0.2]).all()


def draw_column(decider: Decider, settings: Settings) -> int:
    """The column of the next decision, without its propensities, which take long."""
    state = decider.state.frozen()
    return TERMS.arms.column(explain(decider.terms, state, settings).arm)


def test_explanations_are_of_the_decision_that_was_drawn() -> None:
    decider = Decider(TERMS, State.start(TERMS.arms))
    settings = Settings(floor=0.2)
    reasons = []
    for _ in range(30):
        state = decider.state.frozen()
        drawn = draw(decider, settings, ["B"], waits=False)
        explained = explain(TERMS, state, settings, ["B"])
        assert TERMS.arms.column(explained.arm) == drawn.event.column != 1
        assert not drawn.event.waits
        reasons.append("for its floor" in explained.reason)
        decider.apply(drawn.event)
    assert 3 < sum(reasons) < 25
    assert decider.state.pending_count == 0
