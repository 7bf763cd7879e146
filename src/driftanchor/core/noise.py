"""Keyed noise: every random number is a pure function of (seed, purpose, counters).

No generator is shared and none is global: a run, a policy, an arm's rewards or a live decision
each have a stream of their own, so adding a policy, reordering, or changing the number of threads
changes no other number, and any decision can be drawn again exactly.

A stream is the four words of xoshiro256++ (Blackman & Vigna 2021), started by splitmix64
(Steele, Lea & Flood 2014). Normals come from a ziggurat of 256 layers (Marsaglia & Tsang 2000) in
the form of Doornik (2005), where layer and position use different bits of one word. The code is
plain scalar Python on 64-bit words, so that Numba compiles the very same lines.
"""

import functools
import hashlib
import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import whole
from driftanchor.core.hints import apart
from driftanchor.core.ziggurat import DENSITY, EDGE, TAIL
from driftanchor.errors import InvalidInput

Stream = npt.NDArray[np.uint64]
Key = np.uint64


class Draws(NamedTuple):
    """The noise one arm gets in one round.

    A policy asks for what it needs with `draw`: the functions below give a part of this, in which
    the rest is not there. Interpreted, reading the rest is an error; compiled, it has no type.
    """

    on: float  # standard normal of the online sample
    hyb: float  # standard normal of the hybrid sample, independent of it (E18)
    coin: float  # uniform on [0, 1)


class NotDrawn(InvalidInput):
    """A policy reads noise that it did not ask for.

    Args:
        kind: The field of `Draws` that it reads.
        policy: Its name, where that is known.
    """

    def __init__(self, kind: str, policy: str = "") -> None:
        asks = {"on": "one_normal", "hyb": "two_normals", "coin": "normal_and_coin"}[kind]
        who = f"{policy!r} " if policy else ""
        super().__init__(
            f"{who}reads z.{kind}, which its draw does not ask for: write draw = "
            f"staticmethod({asks}), or a draw of its own that gives all of Draws",
            argument="policy",
        )
        self.kind = kind
        self.args = (kind, policy)  # what a copy in another process is made from


def _part(name: str, *fields: str) -> Any:
    """A part of `Draws`: a named tuple of some of its fields, in which the others are an error.

    To the type checker it is anything: only when a policy runs is it known what it asked for.
    """
    make: Any = namedtuple
    part = make(name, fields, module=__name__)
    for kind in set(Draws._fields) - set(fields):
        setattr(part, kind, property(functools.partial(_refuse, kind)))
    return part


def _refuse(kind: str, draws: object) -> float:
    raise NotDrawn(kind)


NoDraws = _part("NoDraws")
OneNormal = _part("OneNormal", "on")
TwoNormals = _part("TwoNormals", "on", "hyb")
NormalAndCoin = _part("NormalAndCoin", "on", "coin")
PARTS = (NoDraws, OneNormal, TwoNormals, NormalAndCoin)

# Shifts and constants are typed words: mixed signed and unsigned arithmetic would leave 64 bits.
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
    """A 64-bit key for one purpose under one seed."""
    return _hashed(whole(seed, "seed"), purpose)


@functools.lru_cache(maxsize=1024)
def _hashed(seed: int, purpose: str) -> Key:
    text = f"{seed}/{purpose}".encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


def keyed_stream(seed: int, purpose: str, first: int, second: int = 0) -> Stream:
    """The stream of (seed, purpose, first, second)."""
    stream = np.empty(4, np.uint64)
    with wrapping():
        start(stream, key(seed, purpose), first, second)
    return stream


def wrapping() -> np.errstate:
    """Interpreted words wrap around as compiled ones do; without this NumPy would warn."""
    return np.errstate(over="ignore")


@apart
def start(stream: Stream, key: Key, first: int, second: int) -> None:
    """Put `stream` at the beginning of (key, first, second)."""
    word = _scramble(key + np.uint64(first) * _GOLDEN)
    word = _scramble(word + np.uint64(second) * _GOLDEN)
    for i in range(4):
        word = word + _GOLDEN
        stream[i] = _scramble(word)


def uniform(stream: Stream) -> float:
    """Uniform on [0, 1), 53 bits."""
    return float(np.int64(next_word(stream) >> _11)) * 2.0**-53


def normal(stream: Stream) -> float:
    """Standard normal."""
    word = next_word(stream)
    x = place(word)
    if inside(word, x):  # 98.5 % of draws
        return x
    return outside(stream, word, x)


def exponential(stream: Stream) -> float:
    """Exponential of rate 1."""
    return -math.log(1.0 - uniform(stream))


def nothing(stream: Stream) -> Draws:
    """The draws of a policy without randomness."""
    drawn: Draws = NoDraws()
    return drawn


def one_normal(stream: Stream) -> Draws:
    """The draws of a policy with one posterior sample."""
    drawn: Draws = OneNormal(normal(stream))
    return drawn


def two_normals(stream: Stream) -> Draws:
    """The draws of a policy with an online and a hybrid sample."""
    drawn: Draws = TwoNormals(normal(stream), normal(stream))
    return drawn


def normal_and_coin(stream: Stream) -> Draws:
    """The draws of a policy that flips a coin for sampling."""
    drawn: Draws = NormalAndCoin(normal(stream), uniform(stream))
    return drawn


def next_word(stream: Stream) -> np.uint64:
    """The next word of xoshiro256++."""
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
    """Where in its layer a word falls: low bits name the layer, high bits the place."""
    return float((np.int64(word >> _11) - _HALF) * _EDGE_PER_STEP[word & _LAYER])


def inside(word: np.uint64, x: float) -> bool:
    """Whether that is inside the layer's rectangle, where every place is below the density."""
    return bool(abs(x) < EDGE[(word & _LAYER) + _1])


@apart
def outside(stream: Stream, word: np.uint64, x: float) -> float:
    """Finish a draw that fell outside its layer's rectangle."""
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
    """The output function of splitmix64."""
    word = (word ^ (word >> _30)) * _MIX1
    word = (word ^ (word >> _27)) * _MIX2
    return word ^ (word >> _31)


def _tail(stream: Stream, positive: bool) -> float:
    """A normal beyond the last edge (Marsaglia 1964)."""
    while True:
        a = exponential(stream) / TAIL
        b = exponential(stream)
        if b + b > a * a:
            return TAIL + a if positive else -TAIL - a
