"""Keyed noise: the published generators, the right laws, and numbers that never change."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import ArmEvidence, Bandit, Draws, InvalidInput, Learner, Policy, Round, simulate
from driftanchor.core.check import Floats
from driftanchor.core.noise import (
    Stream,
    _scramble,
    _tail,
    draws,
    key,
    keyed_stream,
    next_word,
    normal,
    outside,
    uniform,
    wrapping,
)
from driftanchor.core.ziggurat import DENSITY, EDGE, TAIL

if TYPE_CHECKING:
    from conftest import Chance

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
LAW = NormalDist()
ONE_IN_A_MILLION = 1e-6


@pytest.fixture(autouse=True)
def _words_wrap() -> Iterator[None]:
    with wrapping():
        yield


def drawn(draw: Callable[[Stream], float], stream: Stream, count: int) -> Floats:
    return np.array([draw(stream) for _ in range(count)])


def splitmix64(state: int) -> Iterator[int]:
    """Steele, Lea & Flood 2014, on Python's whole numbers."""
    while True:
        state = (state + GOLDEN) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def xoshiro256pp(s: list[int]) -> Iterator[int]:
    """Blackman & Vigna 2021, on Python's whole numbers."""

    def rotl(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & MASK

    while True:
        yield (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)


def seeded(seed: int, purpose: str, first: int, second: int) -> list[int]:
    """The four words of a stream, from the definition."""
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    word = int.from_bytes(digest, "little")
    for counter in (first, second):  # one step of splitmix64 from a state that is `GOLDEN` behind
        word = next(splitmix64(word + (counter - 1) * GOLDEN))
    return list(itertools.islice(splitmix64(word), 4))


def test_the_published_values_of_the_generators() -> None:
    assert list(itertools.islice(splitmix64(1234567), 5)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert list(itertools.islice(xoshiro256pp([1, 2, 3, 4]), 6)) == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


def test_a_stream_is_xoshiro256pp() -> None:
    for words in ([1, 2, 3, 4], [MASK, 0, MASK, 5], seeded(3, "x", 1, 2)):
        stream = np.array(words, np.uint64)
        ours = [int(next_word(stream)) for _ in range(1000)]
        assert ours == list(itertools.islice(xoshiro256pp(words), 1000))


def test_scrambling_is_the_output_of_splitmix64() -> None:
    states = [(1234567 + i * GOLDEN) & MASK for i in range(1, 1001)]
    ours = [int(_scramble(np.uint64(state))) for state in states]
    assert ours == list(itertools.islice(splitmix64(1234567), 1000))


@pytest.mark.parametrize(
    ("seed", "purpose", "first", "second"),
    [(0, "rewards", 0, 0), (1, "logs", 7, 3), (2**62, "policy/anchor-ts", 10**9, 2**31)],
)
def test_a_stream_starts_where_its_key_says(
    seed: int, purpose: str, first: int, second: int
) -> None:
    assert keyed_stream(seed, purpose, first, second).tolist() == seeded(
        seed, purpose, first, second
    )


def test_the_numbers_never_change() -> None:
    """Pinned: saved campaigns and published results replay only as long as these hold."""
    stream = keyed_stream(0, "rewards", 0)
    assert stream.tolist() == [
        2672151959118821456,
        17309917859497392287,
        12953210098853335707,
        1340708551661323833,
    ]
    assert drawn(normal, stream, 5).tolist() == [
        0.9248057824340563,
        1.6926349581304563,
        -0.11482676528391463,
        -0.4593195696154222,
        -0.05462859757328622,
    ]
    assert drawn(uniform, stream, 3).tolist() == [
        0.30431408913241487,
        0.32663614702469057,
        0.8416530985483727,
    ]
    stream = keyed_stream(0, "rewards", 1)  # long enough to meet wedges and tails
    assert np.abs(drawn(normal, stream, 10_000)).sum() == pytest.approx(7887.370820972159)
    assert stream.tolist() == [
        12708392205221185504,
        14178070425344503447,
        7869057977215561282,
        3906369763364114969,
    ]
    assert (int(key(0, "rewards")), int(key(1, "decision"))) == (
        1559889050017281952,
        8922450730632585938,
    )


def test_a_stream_is_the_same_whenever_it_is_asked_for() -> None:
    once, again = (drawn(normal, keyed_stream(5, "x", 1, 2), 100) for _ in range(2))
    assert once.tobytes() == again.tobytes()


def test_a_seed_that_is_no_whole_number_is_refused() -> None:
    seeds: list[Any] = [-1, 1.5, None]
    for seed in seeds:
        with pytest.raises(InvalidInput, match="seed must be"):
            keyed_stream(seed, "x", 0)


def test_streams_of_different_keys_differ_in_every_word() -> None:
    keys = itertools.product((0, 1, 2**40), ("rewards", "logs", "policy/ts"), range(12), range(12))
    words = [word for each in keys for word in keyed_stream(*each).tolist()]
    assert len(set(words)) == len(words)


def test_neighbouring_streams_and_draws_are_uncorrelated() -> None:
    """400 z tests at 1e-6/400 each: false alarm 1e-6."""
    pairs = [((0, "x", i, 5), (0, "x", i + 1, 5)) for i in range(100)]
    pairs += [((0, "x", 5, i), (0, "x", 5, i + 1)) for i in range(100)]
    pairs += [((i, "x", 0, 0), (i + 1, "x", 0, 0)) for i in range(100)]
    pairs += [((0, "x", i, i + 1), (0, "x", i + 1, i)) for i in range(100)]
    draws = {k: drawn(normal, keyed_stream(*k), 300) for pair in pairs for k in pair}
    limit = LAW.inv_cdf(1 - ONE_IN_A_MILLION / 400 / 2)
    for one, other in pairs:
        correlation = np.corrcoef(draws[one], draws[other])[0, 1]
        assert abs(math.atanh(correlation)) * math.sqrt(300 - 3) < limit  # Fisher's z


def test_a_uniform_lies_in_the_half_open_interval() -> None:
    for word, expected in ((0, 0.0), (MASK, 1 - 2**-53), (2**63, 0.5)):
        last = ((word >> 23) | (word << 41)) & MASK  # rotated back: this state gives `word` next
        assert uniform(np.array([0, 0, 0, last], np.uint64)) == expected


def kolmogorov(sample: Floats, law: Callable[[float], float], false_alarm: float) -> None:
    """Kolmogorov's test with the bound of Dvoretzky, Kiefer, Wolfowitz and Massart."""
    n = sample.size
    below = np.array([law(x) for x in np.sort(sample).tolist()])
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - below).max(), (below - steps[:-1]).max())
    assert distance < math.sqrt(math.log(2 / false_alarm) / (2 * n))


def many(draw: Callable[[Stream], float], along: bool) -> Floats:
    """100,000 draws of one stream, or the first draws of 20,000 streams."""
    if along:
        return drawn(draw, keyed_stream(11, "law", 0), 100_000)
    return np.array([draw(keyed_stream(11, "law", i % 200, i // 200)) for i in range(20_000)])


@pytest.mark.parametrize("along", [True, False], ids=["one stream", "many streams"])
def test_uniforms_are_uniform(along: bool, chance: Chance) -> None:
    """Two tests: false alarm 2e-6."""
    sample = many(uniform, along)
    kolmogorov(sample, lambda x: x, ONE_IN_A_MILLION)
    counts = np.bincount((sample * 256).astype(int), minlength=256)
    chance.fits(counts, np.full(256, sample.size / 256), false_alarm=ONE_IN_A_MILLION)


@pytest.mark.parametrize("along", [True, False], ids=["one stream", "many streams"])
def test_normals_are_normal(along: bool, chance: Chance) -> None:
    """Kolmogorov, chi-square and four moments: false alarm 6e-6."""
    sample = many(normal, along)
    kolmogorov(sample, LAW.cdf, ONE_IN_A_MILLION)
    edges = np.array([-math.inf, -TAIL, *np.linspace(-3.2, 3.2, 65), TAIL, math.inf])
    counts = np.histogram(sample, edges)[0]
    chance.fits(
        counts,
        sample.size * np.diff([LAW.cdf(x) for x in edges.tolist()]),
        false_alarm=ONE_IN_A_MILLION,
    )
    limit = LAW.inv_cdf(1 - ONE_IN_A_MILLION / 2)
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        error = math.sqrt(variance / sample.size)
        assert abs((sample**power).mean() - mean) < limit * error


@pytest.mark.parametrize("positive", [True, False])
def test_the_tail_is_that_of_a_normal(positive: bool) -> None:
    """False alarm 1e-6 for each side."""
    stream = keyed_stream(12, "tail", 0)
    sample = np.array([_tail(stream, positive) for _ in range(20_000)])
    beyond = LAW.cdf(-TAIL)
    kolmogorov(abs(sample), lambda x: 1 - LAW.cdf(-x) / beyond, ONE_IN_A_MILLION)
    assert (np.sign(sample) == (1 if positive else -1)).all()


@pytest.mark.parametrize("layer", [1, 2, 50, 128, 200, 254, 255])
def test_a_draw_between_rectangle_and_curve_is_kept_as_often_as_it_lies_below_the_curve(
    layer: int,
) -> None:
    """z tests at three places of the wedge of a layer: false alarm 3e-6."""
    stream = keyed_stream(13, "wedge", layer)
    for share in (0.1, 0.5, 0.9):
        x = EDGE[layer + 1] + share * (EDGE[layer] - EDGE[layer + 1])
        due = (math.exp(-x * x / 2) - DENSITY[layer]) / (DENSITY[layer + 1] - DENSITY[layer])
        kept = np.mean([outside(stream, np.uint64(layer), float(x)) == x for _ in range(3000)])
        assert abs(kept - due) < 4.9 * math.sqrt(due * (1 - due) / 3000)


@pytest.mark.parametrize("normals", [0, 1, 2])
@pytest.mark.parametrize("uniforms", [0, 1])
def test_an_arm_draws_what_its_policy_asks_for_in_order(normals: int, uniforms: int) -> None:
    stream = keyed_stream(0, "kinds", 0)
    due = [normal(stream) for _ in range(normals)] + [math.nan] * (2 - normals)
    due += [uniform(stream) for _ in range(uniforms)] + [math.nan] * (1 - uniforms)
    own = keyed_stream(0, "kinds", 0)
    np.testing.assert_array_equal(draws(own, normals, uniforms), due)
    assert own.tolist() == stream.tolist()


@dataclass(frozen=True, kw_only=True)
class Unasked(Policy):
    """Reads noise that it did not ask for."""

    name = "unasked"
    formula = "none"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.total + z.on


@pytest.mark.parametrize("engine", ["interpreted", "every-round"])
def test_noise_that_was_not_asked_for_is_nan_and_the_error_says_how_to_ask(engine: str) -> None:
    with pytest.raises(InvalidInput, match=r"NaN unless the class asks for them: normals = 1 or 2"):
        simulate({"mine": Unasked()}, Bandit([0.5, 0.4]), horizon=20, runs=1, engine=engine)


def test_a_live_decision_refuses_an_index_of_nan() -> None:
    with pytest.raises(InvalidInput, match=r"'unasked' chose -1.* every index may be NaN"):
        Learner(Unasked(), arms=["A", "B"], seed=1).pull()
