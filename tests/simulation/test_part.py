from __future__ import annotations

import numpy as np
import pytest

from driftanchor import Bandit
from driftanchor.simulation.run import parts, play


@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_pieces_are_the_runs_in_order(chunk: int) -> None:
    bandit = Bandit([0.6, 0.5])
    (whole,) = parts("ts", bandit, horizon=20, runs=7, seed=1, checkpoints=2, engine="interpreted")
    pieces = list(whole.cut(chunk))
    assert [run for piece in pieces for run in range(7)[piece.rows]] == list(range(7))
    assert max(piece.runs for piece in pieces) == min(chunk, 7)
    for array in (0, 1):
        together = np.concatenate([play(piece)[array] for piece in pieces])
        assert np.array_equal(together, play(whole)[array])
