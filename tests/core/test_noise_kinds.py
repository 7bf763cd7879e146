"""The kinds of noise that a policy may ask for, and what becomes of the others."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from driftanchor import ArmEvidence, Bandit, Draws, InvalidInput, Learner, Policy, Round, simulate
from driftanchor.core.noise import (
    NotDrawn,
    Stream,
    keyed_stream,
    normal,
    normal_and_coin,
    nothing,
    one_normal,
    two_normals,
    uniform,
    wrapping,
)


@pytest.fixture(autouse=True)
def _words_wrap() -> Iterator[None]:
    with wrapping():
        yield


def test_each_kind_of_draw_takes_its_numbers_in_order() -> None:
    def fresh() -> Stream:
        return keyed_stream(0, "kinds", 0)

    stream = fresh()
    first, second = normal(stream), normal(stream)
    stream = fresh()
    normal(stream)
    coin = uniform(stream)
    kinds = {"on": first, "hyb": second, "coin": coin}
    asked: dict[Callable[[Stream], Draws], list[str]] = {
        nothing: [],
        one_normal: ["on"],
        two_normals: ["on", "hyb"],
        normal_and_coin: ["on", "coin"],
    }
    for draw, given in asked.items():
        drawn = draw(fresh())
        assert list(drawn) == [kinds[kind] for kind in given]
        for kind, value in kinds.items():
            if kind in given:
                assert getattr(drawn, kind) == value
            else:
                with pytest.raises(NotDrawn, match=f"policy reads z.{kind}, which its draw does"):
                    getattr(drawn, kind)


@dataclass(frozen=True, kw_only=True)
class Greedy(Policy):
    """Flips a coin that it did not ask for: NaN or 0 in its place would never show."""

    name = "greedy"
    formula = "none"
    source = "this test"

    @staticmethod
    def draw(stream: Stream) -> Draws:
        return one_normal(stream)

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return z.on if arm.pulls < 3 or z.coin < 0.5 else arm.total / arm.pulls


@pytest.mark.parametrize("engine", ["interpreted", "every-round"])
def test_noise_that_was_not_asked_for_is_an_error(engine: str) -> None:
    said = "policy 'mine' reads z.coin, which its draw does not ask for: write draw = "
    with pytest.raises(InvalidInput, match=said + r"staticmethod\(normal_and_coin\), or a draw"):
        simulate({"mine": Greedy()}, Bandit([0.5, 0.4]), horizon=20, runs=1, engine=engine)


def test_a_live_decision_says_it_too() -> None:
    learner = Learner(Greedy(), arms=["A", "B"], seed=1)
    learner.update(["A", "A", "A", "B", "B", "B"], [1.0] * 6)
    with pytest.raises(NotDrawn, match=r"policy reads z\.coin"):
        learner.pull()


def test_the_error_is_the_same_in_another_process() -> None:
    for error in (NotDrawn("hyb"), NotDrawn("on", "mine")):
        assert str(pickle.loads(pickle.dumps(error))) == str(copy.copy(error)) == str(error)
