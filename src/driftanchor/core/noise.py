"""Keyed noise: every random number is a pure function of (seed, purpose, counters).

There is no shared or global generator. Every run, every policy, each arm's rewards and every live
decision have their own stream. So no other random number changes if a policy is added, policies are
reordered or the number of threads changes. Any decision can be reproduced exactly.

A stream is the state of xoshiro256++ (Blackman & Vigna 2021): four words, seeded by splitmix64
(Steele, Lea & Flood 2014). Normals come from a ziggurat of 256 layers (Marsaglia & Tsang 2000), in
Doornik's version (2005), which takes the layer and the position from different bits of one word.
The code is plain scalar Python on 64-bit words, so that Numba can compile the same lines.
"""

import functools
import hashlib
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import whole
from driftanchor.core.ziggurat import DENSITY, EDGE, TAIL

Stream = npt.NDArray[np.uint64]
Key = np.uint64


class Draws(NamedTuple):
    """The random numbers of one arm in one round. Numbers that the policy does not need are NaN."""

    on: float  # standard normal of the online sample
    hyb: float  # standard normal of the hybrid sample, independent of the first (E18)
    coin: float  # uniform on [0, 1)


# Typed constants: mixing signed and unsigned 64-bit integers would produce floats.
_1, _11, _17, _19, _23, _27, _30, _31, _41, _45 = (
    np.uint64(n) for n in (1, 11, 17, 19, 23, 27, 30, 31, 41, 45)
)
_LAYER = np.uint64(255)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_HALF = 2**52
_EDGE_PER_STEP = EDGE * 2.0**-52


def key(seed: int, purpose: str) -> Key:
    """Return the 64-bit key for random streams with this seed and purpose."""
    return _hashed(whole(seed, "seed"), purpose)


@functools.lru_cache(maxsize=1024)
def _hashed(seed: int, purpose: str) -> Key:
    text = f"{seed}/{purpose}".encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


def keyed_stream(seed: int, purpose: str, first: int, second: int = 0) -> Stream:
    """Return a new random stream, determined by the seed, the purpose and two counters."""
    stream = np.empty(4, np.uint64)
    with wrapping():
        start(stream, key(seed, purpose), first, second)
    return stream


def wrapping() -> np.errstate:
    """Return a context manager: within it, 64-bit words overflow silently, as in compiled code."""
    return np.errstate(over="ignore")


def start(stream: Stream, key: Key, first: int, second: int) -> None:
    """Set `stream` to the initial state that the key and two counters determine."""
    word = _scramble(key + np.uint64(first) * _GOLDEN)
    word = _scramble(word + np.uint64(second) * _GOLDEN)
    for i in range(4):
        word = word + _GOLDEN
        stream[i] = _scramble(word)


def uniform(stream: Stream) -> float:
    """Draw a uniform number in [0, 1), with 53 random bits."""
    return float(np.int64(next_word(stream) >> _11)) * 2.0**-53


def normal(stream: Stream) -> float:
    """Draw a standard normal number."""
    word = next_word(stream)
    x = place(word)
    if inside(word, x):  # 98.5 % of draws
        return x
    return outside(stream, word, x)


def exponential(stream: Stream) -> float:
    """Draw an exponential number with rate 1."""
    return -math.log(1.0 - uniform(stream))


def draws(stream: Stream, normals: int, uniforms: int) -> Draws:
    """Draw one arm's random numbers for a round: up to two normals, then at most one uniform."""
    on = hyb = coin = math.nan
    if normals > 0:
        on = normal(stream)
    if normals > 1:
        hyb = normal(stream)
    if uniforms > 0:
        coin = uniform(stream)
    return Draws(on, hyb, coin)


def next_word(stream: Stream) -> np.uint64:
    """Return the next random word of xoshiro256++, and advance the stream."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    word: np.uint64 = s0 + s3
    word = ((word << _23) | (word >> _41)) + s0
    t = s1 << _17
    s2 ^= s0
    s3 ^= s1
    stream[1] = s1 ^ s2
    stream[0] = s0 ^ s3
    stream[2] = s2 ^ t
    stream[3] = (s3 << _45) | (s3 >> _19)
    return word


def place(word: np.uint64) -> float:
    """Convert a word to a candidate normal: the low bits select a layer, the others a position."""
    return float((np.int64(word >> _11) - _HALF) * _EDGE_PER_STEP[word & _LAYER])


def inside(word: np.uint64, x: float) -> bool:
    """Return whether x is in the layer's inner rectangle, which lies entirely below the density."""
    return bool(abs(x) < EDGE[(word & _LAYER) + _1])


def outside(stream: Stream, word: np.uint64, x: float) -> float:
    """Finish a normal draw whose candidate x is outside the inner rectangle of its ziggurat layer.

    In layer 0, draws from the tail. In other layers, draws a random height in the layer, and
    accepts x if the height is below the normal density at x. Otherwise tries a new candidate.
    """
    while True:
        layer = word & _LAYER
        if layer == 0:
            return _tail(stream, x > 0.0)
        wedge = DENSITY[layer] + uniform(stream) * (DENSITY[layer + _1] - DENSITY[layer])
        if wedge < math.exp(-0.5 * x * x):
            return x
        word = next_word(stream)
        x = place(word)
        if inside(word, x):
            return x


def _scramble(word: np.uint64) -> np.uint64:
    """Apply the output function of splitmix64."""
    word = (word ^ (word >> _30)) * _MIX1
    word = (word ^ (word >> _27)) * _MIX2
    return word ^ (word >> _31)


def _tail(stream: Stream, positive: bool) -> float:
    """Draw from the tail of the standard normal: above `TAIL` if `positive`, else below −`TAIL`.

    Uses the method of Marsaglia (1964).
    """
    while True:
        a = exponential(stream) / TAIL
        b = exponential(stream)
        if b + b > a * a:
            return TAIL + a if positive else -TAIL - a
