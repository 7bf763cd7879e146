"""Savings at shifts: what is played, and what is not played again."""

import numpy as np

from driftanchor.core.offline import OfflineData
from driftanchor.planning.contenders import RULE, RULE_COLD, contenders
from driftanchor.planning.promise import promised
from driftanchor.planning.reward_law import COINS, law_of
from driftanchor.planning.saved_by_shift import Point, Savings
from driftanchor.planning.scenes import Scene, Stage, scene_of
from driftanchor.planning.worlds import Worlds

LOGS = OfflineData.from_summary({"A": (900, 0.5, 0.25), "B": (900, 0.2, 0.16)})


def test_more_worlds_leave_the_first_ones_as_they_are_and_nothing_is_played_twice() -> None:
    promise = promised(0.05, None, LOGS).promise
    truth = Worlds.draw(LOGS, law_of(LOGS, "bernoulli", COINS), promise, 6, 0)
    who, _ = contenders(LOGS, COINS, None)
    stage = Stage(who, horizon=50, seed=0, threads=1)
    played: list[tuple[Point, slice]] = []

    def scene(point: Point, part: slice) -> Scene:
        played.append((point, part))
        one = {point.label: who[point.label]}
        return scene_of(
            lambda given, logs: truth.part(part).moved(point.shift, given, logs),
            promise,
            one,
            part.start,
        )

    def fresh() -> Savings:
        return Savings(stage, scene, (RULE_COLD, 1.0))

    at = {(RULE, 1.0): 0.1}
    stepwise = fresh()
    first = stepwise.ask(at, 2)[RULE, 1.0]
    later = stepwise.ask(at, 6)[RULE, 1.0]
    assert (first.size, later.size) == (2, 6)
    assert np.array_equal(first, later[:2])
    assert np.array_equal(later, fresh().ask(at, 6)[RULE, 1.0])
    assert [part for point, part in played if point.label == RULE] == [
        slice(0, 2),
        slice(2, 6),
        slice(0, 6),
    ]
    before = len(played)
    assert np.array_equal(stepwise.ask(at, 6)[RULE, 1.0], later)
    assert len(played) == before
    assert list(stepwise.known((RULE, 1.0), [0.0, 0.1])) == [0.1]
