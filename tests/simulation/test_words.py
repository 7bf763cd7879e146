"""Words drawn ahead are those that each stream would draw for itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import pytest

from driftanchor.core import noise
from driftanchor.core.noise import Stream, keyed_stream
from driftanchor.simulation.words import Block, Exhausted, Reader, leap


@pytest.fixture(autouse=True)
def _words_wrap() -> Iterator[None]:
    with noise.wrapping():
        yield


def streams(many: int) -> list[Stream]:
    return [keyed_stream(4, "words", i) for i in range(many)]


@pytest.mark.parametrize("power", [0, 1, 2, 7, 10])
def test_a_leap_is_as_far_as_its_steps(power: int) -> None:
    far = leap(np.transpose(streams(5)), power)
    for i, stream in enumerate(streams(5)):
        for _ in range(2**power):
            noise.next_word(stream)
        assert far[:, i].tolist() == stream.tolist()


@pytest.mark.parametrize("many", [1, 3, 70, 5000])
def test_a_block_holds_the_words_of_every_stream_in_order(many: int) -> None:
    block = Block(np.transpose(streams(many)).copy())
    reader = Reader(block, block.draw_on(np.arange(many)))
    some = sorted({0, many // 2, many - 1})
    alone = [streams(many)[i] for i in some]
    for _ in range(block.words.size // many):
        assert reader.word()[some].tolist() == [int(noise.next_word(stream)) for stream in alone]
    with pytest.raises(Exhausted):
        reader.word()


@pytest.mark.parametrize(("many", "rounds"), [(1, 3000), (40, 900)])
def test_streams_read_at_their_own_pace_through_many_blocks(many: int, rounds: int) -> None:
    """Normals, which take one word or more, and a word in some streams only."""
    alone = streams(many)
    block = Block(np.transpose(streams(many)).copy())
    at, blocks = block.draw_on(np.arange(many)), 1
    for t in range(rounds):
        extra = np.arange(t % 7, many, 3)
        while True:
            reader = Reader(block, at)
            try:
                normals = reader.normal()
                some = Reader(block, reader.at[extra])
                words = some.word()
            except Exhausted:
                at, blocks = block.draw_on(at), blocks + 1
                continue
            break
        at = reader.at.copy()
        at[extra] = some.at
        assert normals.tolist() == [noise.normal(stream) for stream in alone]
        assert words.tolist() == [int(noise.next_word(alone[i])) for i in extra]
    assert blocks > 3


def test_a_block_grows_until_it_serves_what_is_asked_at_once() -> None:
    many, asked = 400, 3000
    alone = streams(many)[7]
    block = Block(np.transpose(streams(many)).copy())
    at, blocks = block.draw_on(np.arange(many)), 1
    while block.words.size < asked * many:
        reader = Reader(block, at)
        with pytest.raises(Exhausted):
            deque((reader.word() for _ in range(asked)), maxlen=0)
        at, blocks = block.draw_on(at), blocks + 1
    reader = Reader(block, at)
    for _ in range(asked):
        word = reader.word()[7]
        assert word == noise.next_word(alone)
    assert blocks == 6  # of 128, 256, … rows
