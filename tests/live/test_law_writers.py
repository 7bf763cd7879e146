"""Compiled propensities take the place of interpreted ones, and are the same."""

from __future__ import annotations

import pytest

from driftanchor import AnchorTS, ArtificialReplay, OfflineData, Terms
from driftanchor.live import background, law_writers
from driftanchor.live.decider import Decider
from driftanchor.live.law_writers import LawWriters
from driftanchor.live.propensities import propensities
from driftanchor.live.state import State
from driftanchor.live.state_events import Rewarded


def test_writers_are_compiled_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_writers, "ENOUGH", 6)
    terms = Terms.declare(AnchorTS(noise=0.5), arms=["A", "B", "C"], seed=1)
    decider = Decider(terms, State.start(terms.arms))
    decider.apply(Rewarded((0, 1, 2), (0.5, 0.75, 0.25)))
    evidence, now = decider.situation(1)
    writers = LawWriters(terms.policy)
    assert writers.compiled(evidence, now) is None
    assert writers.compiled(evidence, now) is None  # asked for, not ready
    background.finish()
    ready = writers.compiled(evidence, now)
    assert ready is not None
    plain = propensities(terms.policy, evidence, now)
    quick = propensities(terms.policy, evidence, now, ready)
    assert plain is not None
    assert quick is not None
    assert quick.tolist() == pytest.approx(plain.tolist(), abs=1e-12)


def test_arms_that_move_together_are_compiled_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(law_writers, "compile_once", lambda key, _: asked.append(key))
    logs = OfflineData.from_summary({"A": (50, 0.5, 0.2), "B": (50, 0.4, 0.2)})
    together = Terms.declare(offline=logs, seed=1, relative_bound=0.1)
    apart = Terms.declare(offline=logs, seed=1, bias_bound=0.1)
    for terms, decisions in ((together, 25), (apart, 1_000)):
        decider = Decider(terms, State.start(terms.arms, terms.policy.memory))
        writers = LawWriters(terms.policy)
        asked.clear()
        for _ in range(decisions - 1):
            assert writers.compiled(*decider.situation(1)) is None
        assert not asked
        writers.compiled(*decider.situation(1))
        assert len(asked) == 1


def test_a_policy_without_a_law_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(law_writers, "compile_once", lambda key, _: asked.append(key))
    terms = Terms.declare(ArtificialReplay(), arms=["A", "B"], seed=1)
    evidence, now = Decider(terms, State.start(terms.arms)).situation(1)
    writers = LawWriters(terms.policy)
    writers.compile_early(evidence, now)
    assert writers.compiled(evidence, now) is None
    assert not asked
