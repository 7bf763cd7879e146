"""Chunks played on this machine, one after the other, with no thread that waits for the last."""

import numpy as np
import pytest
from driftanchor.simulation.machine import in_turn
from stray_policies import Stray

from driftanchor import TS, UCB, Bandit, InvalidInput, Policy
from driftanchor.simulation.chunk import Chunk, play

BANDIT = Bandit([0.8, 0.5, 0.2])


def chunk(policy: Policy, runs: int, engine: str) -> Chunk:
    return Chunk.all_runs(
        "x", policy, BANDIT, horizon=30, runs=runs, seed=0, checkpoints=[30], engine=engine
    )


@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_come_in_the_order_of_the_chunks_with_the_numbers_of_the_wholes(
    threads: int,
) -> None:
    wholes = [
        chunk(TS(), 40, "every-round"),
        chunk(UCB(), 3, "interpreted"),
        chunk(UCB(), 25, "every-round"),
    ]
    parts = list(in_turn(zip((7, 5, 9), wholes, strict=True), threads))
    for number, whole in zip((7, 5, 9), wholes, strict=True):
        mine = [(piece, played) for i, piece, played in parts if i == number]
        firsts = [piece.first for piece, _ in mine]
        assert firsts == sorted(firsts)
        for k, expected in enumerate(play(whole)):
            assert np.array_equal(np.concatenate([played[k] for _, played in mine]), expected)
    numbers = [i for i, *_ in parts]
    assert numbers == sorted(numbers, key=(7, 5, 9).index)


def test_a_chunk_is_taken_a_little_before_it_is_played() -> None:
    taken = []

    def chunks() -> object:
        for i in range(40):
            taken.append(i)
            yield i, chunk(TS(), 1, "every-round")

    parts = in_turn(chunks(), 2)  # type: ignore[arg-type]
    assert next(parts)[0] == 0
    assert len(taken) == 9  # four for each thread, and the one that came back
    parts.close()


def test_what_a_policy_cannot_do_is_raised() -> None:
    with pytest.raises(InvalidInput, match="chose no arm"):
        list(in_turn([(0, chunk(Stray(what=7), 4, "every-round"))], 2))
