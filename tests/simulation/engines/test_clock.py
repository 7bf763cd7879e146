"""Clock: regret is read at the checkpoints, also inside a block of rounds."""

import numpy as np
from driftanchor.simulation.engines.clock import advance, rounds_left, started
from driftanchor.simulation.engines.desk import lay_out
from driftanchor.simulation.engines.rewards import world_of

from driftanchor import TS, Bandit


def test_checkpoints_inside_a_block_are_read_as_if_rounds_were_single() -> None:
    world = world_of(Bandit([0.75, 0.5]))
    checkpoints, regret = np.array([1, 4, 5, 9, 12]), np.full(5, np.nan)
    desk, hands = lay_out(world, TS()), np.array([7, 7])
    clock = started(checkpoints, regret, hands)
    assert hands.tolist() == [0, 0]
    assert rounds_left(clock) == 12
    advance(TS(), world, desk, clock, 1, 3)
    assert regret[:1].tolist() == [0.25]
    assert np.isnan(regret[1:]).all()
    advance(TS(), world, desk, clock, 0, 4)
    advance(TS(), world, desk, clock, 1, 5)
    assert regret.tolist() == [0.25, 0.75, 0.75, 0.75 + 2 * 0.25, 0.75 + 5 * 0.25]
    assert desk.evidence.pulls.tolist() == [4, 8]
    assert rounds_left(clock) == 0
    assert hands.tolist() == [12, 5]
