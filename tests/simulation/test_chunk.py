"""Chunk: what `simulate` was asked for, cut into pieces, and the engines that play them."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stray_policies import Stray

from driftanchor import TS, AnchorTS, ArmEvidence, Bandit, InvalidInput, MinUCB, Policy, simulate
from driftanchor.simulation.chunk import (
    ENGINE_NAMES,
    ENGINES,
    Chunk,
    fastest,
    play,
    rounds_to_read,
)


def test_auto_is_the_fastest_engine_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ENGINE_NAMES == ("auto", "events", "thinned", "every-round", "interpreted")
    assert fastest() == "events"
    assert fastest(paired=True) == "thinned"
    assert fastest(paired=True, leaps=False) == fastest(leaps=False) == "every-round"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert fastest() == fastest(paired=True) == fastest(leaps=False) == "interpreted"


MEANS = [0.75, 0.5, 0.25]
LEVELS = Bandit(MEANS, MEANS, 16)
MOVED = Bandit(MEANS, MEANS, 16, relative_bound=0.125)


@pytest.mark.parametrize(
    ("policy", "bandit", "leaps"),
    [
        (AnchorTS(), LEVELS, True),
        (AnchorTS(), MOVED, False),  # one common move for all arms
        (TS(), MOVED, True),  # uses no logs
        (TS(), Bandit(MEANS, delay=1), False),
        (MinUCB(), LEVELS, False),
    ],
)
def test_engines_leap_if_policy_and_bandit_allow_it(
    policy: Policy, bandit: Bandit, leaps: bool
) -> None:
    for engine in ENGINES:
        chunk = Chunk("x", policy, bandit, np.array([9]), engine, 0, 0, 1)
        assert chunk.leaps == (leaps and ENGINES[engine].leaps), engine


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
