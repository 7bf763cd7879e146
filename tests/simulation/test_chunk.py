"""Chunk: what `simulate` was asked for, cut into pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stray_policies import Stray

from driftanchor import TS, ArmEvidence, Bandit, InvalidInput, simulate
from driftanchor.simulation.chunk import Chunk, play, rounds_to_read


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_chunks_are_the_runs_in_order(size: int) -> None:
    bandit = Bandit([0.6, 0.5])
    whole = Chunk.all_runs(
        "ts", TS(), bandit, horizon=20, runs=7, seed=1, checkpoints=2, engine="interpreted"
    )
    pieces = list(whole.cut(size))
    assert [run for piece in pieces for run in range(7)[piece.rows]] == list(range(7))
    assert max(piece.runs for piece in pieces) == min(size, 7)
    for array in (0, 1):
        together = np.concatenate([play(piece)[array] for piece in pieces])
        assert np.array_equal(together, play(whole)[array])


@given(st.integers(1, 10**12), st.integers(1, 300))
def test_checkpoints_are_the_ceilings_of_even_steps(horizon: int, count: int) -> None:
    count_used = min(count, horizon)
    expected = [-(-i * horizon // count_used) for i in range(1, count_used + 1)]
    assert rounds_to_read(count, horizon).tolist() == expected


class Swapped(NamedTuple):
    """Not what TS calls its belief."""

    sd: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class Confused(TS):
    """Believes another tuple than it names."""

    def believe(self, arm: ArmEvidence) -> Any:
        return Swapped(1.0, arm.total)


@pytest.mark.parametrize("engine", ["every-round", "interpreted"])
def test_a_column_that_is_not_there_is_refused(engine: str) -> None:
    with pytest.raises(InvalidInput, match="'stray' chose no arm"):
        simulate(Stray(what=7), Bandit([0.6, 0.5, 0.4]), horizon=5, runs=1, engine=engine)


def test_a_belief_of_another_type_than_named_is_refused() -> None:
    with pytest.raises(InvalidInput, match="belief = Posterior, but believe returns Swapped"):
        simulate(Confused(), Bandit([0.6, 0.5]), horizon=5, runs=1)
