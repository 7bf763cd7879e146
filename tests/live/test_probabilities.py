"""The probabilities a learner states are those with which it decides."""

import math
from collections import Counter
from typing import Any

import pytest

from driftanchor import (
    UCB,
    AnchorTS,
    ArtificialReplay,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
)

LOGS = OfflineData.from_summary({"A": (20, 0.5), "B": (20, 0.4), "C": (5, 0.6)})
SEEN = (["A", "B", "C", "A"], [0.5, 0.6, 0.1, 0.7])


def learner(policy: Policy, seed: int = 1) -> Learner:
    made = Learner(policy, offline=LOGS, bias_bound=0.1, seed=seed)
    made.update(*SEEN)
    return made


def test_they_are_how_often_learners_with_other_seeds_pull() -> None:
    """600 learners against 4,000 draws: 4.5 standard errors, false alarm 2e-5 for the three."""
    told = learner(AnchorTS()).probabilities(draws=4_000)
    pulled = Counter(learner(AnchorTS(), seed).pull() for seed in range(600))
    assert sum(told.values()) == pytest.approx(1.0)
    assert 0.05 < told["A"] < 0.95
    for arm, p in told.items():
        sd = math.sqrt(p * (1 - p) * (1 / 600 + 1 / 4_000))
        assert abs(pulled[arm] / 600 - p) < 4.5 * sd


def test_asking_changes_nothing() -> None:
    asked, unasked = learner(AnchorTS()), learner(AnchorTS())
    assert asked.probabilities(draws=50) == asked.probabilities(draws=50)
    assert asked.to_json() == unasked.to_json()
    assert [asked.pull() for _ in range(20)] == [unasked.pull() for _ in range(20)]


def test_a_policy_that_remembers_forgets_what_it_was_asked() -> None:
    replay = learner(ArtificialReplay())
    before = replay.to_json()
    assert sum(replay.probabilities(draws=20).values()) == pytest.approx(1.0)
    assert replay.to_json() == before


def test_a_guard_pull_has_probability_one() -> None:
    pupil = Learner(GuardedAnchorTS(noise=0.5), arms=["A", "B"], seed=3)
    pupil.update(["A", "B"], [1.0, 0.0])
    for _ in range(300):
        told = pupil.probabilities(draws=40)
        arm = pupil.pull()
        if pupil.explain().guard:
            assert told[arm] == 1.0
            return
        pupil.update(arm, {"A": 1.0, "B": 0.5}[arm])
    pytest.fail("no guard pull in 300 rounds")


def test_what_draws_nothing_is_sure() -> None:
    assert sorted(learner(UCB()).probabilities(draws=5).values()) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"draws": 0}, "draws must be between 1 and 1e+07, got 0"),
        ({"exclude": ["Z"]}, "unknown arm 'Z'"),
        ({"exclude": ["A", "B", "C"]}, "exclude leaves no arm to play"),
    ],
)
def test_what_cannot_be_asked_is_told(words: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        learner(AnchorTS()).probabilities(**words)
    assert message in str(caught.value)
