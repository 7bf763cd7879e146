"""Chances that are kept are those that would be computed."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor import TS, Learner
from driftanchor.core.check import Floats
from driftanchor.core.win_chances import Laws
from driftanchor.live import kept_chances
from driftanchor.live.decide import situation
from driftanchor.live.kept_chances import KeptChances
from driftanchor.live.propensities import propensities


def laws(*means: float) -> Laws:
    return Laws(*(np.array([x + i for x in means]) for i in range(6)))


class Counted:
    """Counts how often it computes."""

    times = 0

    def __call__(self, some: Laws) -> Floats:
        self.times += 1
        return np.array([some.mean * self.times])


@pytest.fixture(autouse=True)
def few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_chances, "FEW", 0)


def test_the_same_laws_are_computed_once_and_others_again() -> None:
    kept, compute = KeptChances(), Counted()
    for means, times in (
        ((1.0, 2.0), 1),
        ((1.0, 2.0), 1),
        ((1.0, 2.5), 2),
        ((1.0,), 3),
        ((1.0,), 3),
    ):
        kept.start()
        found = kept.chances(laws(*means), compute)
        assert compute.times == times
        assert found.shape == (1, len(means))


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_chances, "LARGEST", 3)
    kept, compute = KeptChances(), Counted()
    for _ in range(2):
        kept.start()
        kept.chances(laws(1.0, 2.0), compute)
        kept.chances(laws(1.0, 2.0), compute)
    assert compute.times == 3  # the second of a question is one too many


def test_few_laws_of_several_questions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_chances, "FEW", 50)
    monkeypatch.setattr(kept_chances, "MOST_KNOWN", 2)
    kept, times = KeptChances(), list[float]()

    def compute(some: Laws) -> Floats:
        times.append(some.mean[0])
        return np.array([[some.mean[0]]])

    asked = Laws(*([0.0] for _ in range(6)))
    for mean in (1.0, 2.0, 1.0, 2.0, 3.0, 1.0):
        asked.mean[0] = mean  # whoever asks may use its lists again
        kept.start()
        assert kept.chances(asked, compute).tolist() == [[mean]]
    assert times == [1.0, 2.0, 3.0, 1.0]
    compiled = laws(1.0)
    for mean in (1.0, 2.0, 1.0):  # and whoever compiles its arrays
        compiled.mean[0] = mean
        assert kept.chances(compiled, compute).tolist() == [[mean]]
    assert times[4:] == [1.0, 2.0]


def test_nothing_is_kept_for_another_number_of_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    for few in (0, 50):
        monkeypatch.setattr(kept_chances, "FEW", few)
        kept, compute = KeptChances(), Counted()
        for arms, times in ((2, 1), (2, 1), (3, 2), (2, 3)):
            learner = Learner(TS(), arms=[str(i) for i in range(arms)], seed=1)
            evidence, _ = situation(learner.terms, learner.state, 1)
            kept.start()
            kept.room(evidence, 0, np.zeros, np.zeros)
            kept.chances(laws(1.0, 2.0), compute)
            assert compute.times == times


def test_a_campaign_of_rewards_has_the_same_propensities() -> None:
    kept, learner = KeptChances(), Learner(TS(), arms=["A", "B", "C"], seed=1)
    for i in range(12):
        seen = situation(learner.terms, learner.state, i + 1)
        with_kept, alone = propensities(TS(), *seen, None, kept), propensities(TS(), *seen)
        assert with_kept is not None
        assert alone is not None
        assert with_kept.tolist() == alone.tolist()
        if i % 3 == 0:
            learner.update("A", 0.1 * i)
