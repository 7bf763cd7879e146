"""Bandits that differ in their online means alone are played as if each were played by itself."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor import AnchorTS, Bandit, InvalidInput
from driftanchor.simulation.bandit import stack_means, with_means
from driftanchor.simulation.chunk import Chunk, play

ROWS = np.array([[0.8, 0.5, 0.1], [0.2, 0.6, 0.3], [0.4, 0.4, 0.9]])
ONE = Bandit(ROWS[0], [0.7, 0.5, 0.2], 30, 0.2, noise=0.5, logs="given")


def chunk(bandit: Bandit, first: int, runs: int, means: np.ndarray | None = None) -> Chunk:
    return Chunk("x", AnchorTS(), bandit, np.array([60]), "interpreted", 4, first, runs, means)


def test_together_they_give_the_numbers_of_each_alone_whole_and_in_pieces() -> None:
    bandits = [*with_means(ONE, ROWS)]
    alone = [play(chunk(given(row), w, 1)) for w, row in enumerate(ROWS, start=7)]
    regret, pulls = (np.concatenate(x) for x in zip(*alone, strict=True))
    whole = chunk(bandits[0], 7, 3, stack_means(bandits))
    for pieces in ([whole], [*whole.cut(2)]):
        played = [np.concatenate(x) for x in zip(*map(play, pieces), strict=True)]
        assert (played[0] == regret).all()
        assert (played[1] == pulls).all()


def given(row: np.ndarray) -> Bandit:
    return Bandit(row, [0.7, 0.5, 0.2], 30, 0.2, noise=0.5, logs="given")


def test_what_differs_in_more_is_refused() -> None:
    other = Bandit(ROWS[1], [0.7, 0.5, 0.2], 31, 0.2, noise=0.5, logs="given")
    with pytest.raises(InvalidInput, match="means alone"):
        stack_means([ONE, other])
