"""The words of many streams, drawn ahead in one block, and read by each stream at its own pace.

A normal takes one word, and now and then more. So every word of the block is taken for the start
of one, and the block knows which normal that is and where the stream stands after it: to read a
normal from every stream is to look up two arrays.

A stream is linear over its bits. Its state after 2^k steps is a sum of parts, one for each byte of
its state now, so a block is drawn from several places of every stream at once.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from driftanchor.core import noise
from driftanchor.core.check import Ints
from driftanchor.core.noise import Stream
from driftanchor.simulation.lanes import Lanes, each_way, lanes, over_lanes

_AT_ONCE = 4096  # words drawn in one step, about: far fewer cost as much
_STRIDE = 16  # rows between the states that are kept
_FIRST_ROWS = 64
_ENOUGH = 2**18  # words, beyond which a block grows only if it cannot serve one round
_SPARE = 32  # last rows, in which normals end and none starts; not one in 10^20 takes so many


class Exhausted(Exception):
    """The block holds too few words."""


class Block:
    """Rows of words: one word of each of `streams` in a row.

    Where a stream stands is a position in `words`, the rows one after the other.
    """

    def __init__(self, streams: Stream) -> None:
        self.many = streams.shape[1]
        self._rows = _FIRST_ROWS
        self._kept = streams[:, np.newaxis]
        self._began: Ints | None = None
        self.words: Any
        self.normals: Any
        self.after: Any

    def draw_on(self, at: Ints) -> Ints:
        """Draw new words from where each stream stands; where that is in the new block."""
        if at is self._began or self._rows * self.many < _ENOUGH:
            self._rows *= 2
        row, stream = np.divmod(at, self.many)
        self._draw(np.ascontiguousarray(self._kept[:, row // _STRIDE, stream]))
        self._find_normals()
        self._began = row % _STRIDE * self.many + stream
        return self._began

    def _draw(self, streams: Stream) -> None:
        """Fill the block: each stream is split into parts that follow one another."""
        parts = streams[:, np.newaxis]
        deep = self._rows
        while 2 * parts[0].size <= _AT_ONCE and deep > _STRIDE:
            deep //= 2
            parts = np.stack([parts, leap(parts, deep.bit_length() - 1)], axis=2)
            parts = parts.reshape(4, -1, self.many)
        words = np.empty((parts.shape[1], deep, self.many), np.uint64)
        kept = np.empty((4, parts.shape[1], deep // _STRIDE, self.many), np.uint64)
        for row in range(deep):
            if row % _STRIDE == 0:
                kept[:, :, row // _STRIDE] = parts
            words[:, row] = noise.next_word(parts)
        self.words = words.ravel()
        self._kept = np.concatenate([kept.reshape(4, -1, self.many), parts[:, -1:]], axis=1)

    def _find_normals(self) -> None:
        """Which normal starts with each word, and where its stream stands after it."""
        starts = self.words[: -_SPARE * self.many]
        self.normals = lanes(np.empty(starts.size))
        self.after = np.arange(self.many, starts.size + self.many)
        is_outside = np.empty(starts.size, np.bool_)
        for first in range(0, starts.size, _AT_ONCE):  # arrays that fit a cache
            some = slice(first, first + _AT_ONCE)
            self.normals[some] = x = place(starts[some])
            is_outside[some] = ~inside(starts[some], x)
        (at,) = np.nonzero(is_outside)
        if at.size:
            self.normals[at], self.after[at] = each_way(
                self._finish, lanes(at), lanes(starts[at]), self.normals[at]
            )

    def _finish(self, at: Any, word: Any, x: Any) -> tuple[Any, Any]:
        reader = Reader(self, at + self.many)
        return _outside(reader, word, x), reader.at


class Reader:
    """Some streams of a block, each at its place. Policies take it for a stream."""

    def __init__(self, block: Block, at: Any) -> None:
        self.block, self.at = block, at

    def word(self) -> Any:
        """The next word of each stream."""
        word = self._look_up(self.block.words)
        self.at = self.at + self.block.many
        return word.view(Lanes)

    def normal(self) -> Any:
        """A standard normal of each stream."""
        normal = self._look_up(self.block.normals)
        self.at = self.block.after[self.at]
        return normal

    def _look_up(self, values: Any) -> Any:
        try:
            return values[self.at]
        except IndexError:
            raise Exhausted from None


READING = {noise.next_word: Reader.word, noise.normal: Reader.normal}
place = over_lanes(noise.place)
inside = over_lanes(noise.inside)
_outside = over_lanes(noise.outside, READING)


def leap(streams: Stream, power: int) -> Stream:
    """The streams after 2^power steps."""
    states = np.ascontiguousarray(streams.reshape(4, -1).T)
    after = np.zeros_like(states)
    for part, byte in zip(_parts(power), states.view(np.uint8).T, strict=True):
        after ^= part.take(byte, axis=0)
    return after.T.reshape(streams.shape)


@functools.cache
def _parts(power: int) -> npt.NDArray[np.uint64]:
    """What becomes of a state in 2^power steps, by (byte, value of it): its other bytes are 0."""
    one_bit = np.packbits(np.eye(256, dtype=np.uint8), axis=1, bitorder="little")
    streams = np.ascontiguousarray(one_bit.view(np.uint64).T)
    if power == 0:
        noise.next_word(streams)
    else:
        streams = leap(leap(streams, power - 1), power - 1)
    of_bit = streams.T.reshape(32, 8, 4)
    parts = np.zeros((32, 256, 4), np.uint64)
    for bit in range(8):
        low = 1 << bit
        parts[:, low : 2 * low] = parts[:, :low] ^ of_bit[:, bit, np.newaxis]
    return parts
