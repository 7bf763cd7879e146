"""Whatever is put in, out comes a result or an error of ours that says what is wrong."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from any_text import any_text
from hypothesis import given, settings
from hypothesis import strategies as st

from driftanchor import (
    POLICIES,
    TS,
    AnchorTS,
    Arms,
    Bandit,
    DriftanchorError,
    Law,
    OfflineData,
    Tally,
    identify,
    random_bandit,
    simulate,
)
from driftanchor.core import record
from driftanchor.core.promises import bias_bounds, relative_bounds
from driftanchor.policies import by_name, make
from driftanchor.simulation import cover

ARMS = Arms(["A", "B"])
TALLY = Tally(ARMS, np.array([1, 2]), np.array([1.0, 2.0]))
LOGS = OfflineData.from_summary({"A": (5, 0.5), "B": (3, 0.4, 0.2)})
RESULT = simulate(["ts", "ucb"], Bandit([0.5, 0.4]), horizon=2, runs=1, engine="interpreted")


class Entry(NamedTuple):
    """A public way in, and arguments it accepts."""

    call: Callable[..., object]
    valid: dict[str, Any]


def damaged(read: Callable[[object], object], saved: dict[str, Any]) -> Entry:
    """Reading a record whose fields are the arguments."""
    return Entry(lambda **fields: read(fields), saved)


ENTRIES: dict[str, Entry] = {
    "Arms": Entry(Arms, {"labels": ["A", "B"]}),
    "Arms.numbered": Entry(Arms.numbered, {"count": 2}),
    "Arms.column": Entry(ARMS.column, {"label": "A"}),
    "Arms.with_arm": Entry(ARMS.with_arm, {"label": "C"}),
    "Tally": Entry(Tally, {"arms": ARMS, "pulls": [1, 2], "totals": [1.0, 2.0]}),
    "Tally.empty": Entry(Tally.empty, {"arms": ARMS}),
    "Tally.add": Entry(TALLY.add, {"column": 0, "reward": 1.0}),
    "Tally.add_many": Entry(TALLY.add_many, {"columns": [0, 1], "rewards": [1.0, 2.0]}),
    "Tally.with_arm": Entry(TALLY.with_arm, {"label": "C"}),
    "Tally.from_json": Entry(Tally.from_json, {"data": TALLY.to_json()}),
    "Tally.from_json, fields": damaged(Tally.from_json, TALLY.to_json()),
    "OfflineData": Entry(
        OfflineData, {"arms": ARMS, "n": [1, 2], "mean": [1, 2], "variance": None, "source": ""}
    ),
    "OfflineData.empty": Entry(OfflineData.empty, {"arms": ARMS}),
    "OfflineData.from_summary": Entry(
        OfflineData.from_summary, {"summary": {"A": (1, 2.0)}, "source": "x"}
    ),
    "OfflineData.from_summary, rows": Entry(
        lambda **rows: OfflineData.from_summary(rows), {"A": (1, 2.0), "B": (3, 4.0, 5.0)}
    ),
    "OfflineData.with_arm": Entry(LOGS.with_arm, {"label": "C", "row": (1, 2.0)}),
    "OfflineData.from_json": Entry(OfflineData.from_json, {"data": LOGS.to_json()}),
    "OfflineData.from_json, fields": damaged(OfflineData.from_json, LOGS.to_json()),
    "bias_bounds": Entry(bias_bounds, {"value": 0.1, "arms": ARMS}),
    "bias_bounds, by arm": Entry(lambda **value: bias_bounds(value, ARMS), {"A": 0.1, "B": 0.2}),
    "relative_bounds": Entry(relative_bounds, {"value": 0.1, "arms": ARMS}),
    "make": Entry(lambda policy, **parameters: make(policy, **parameters), {"policy": "ts"}),
    "by_name": Entry(by_name, {"policies": ["ts", AnchorTS()]}),
    "by_name, mapping": Entry(lambda **policies: by_name(policies), {"a": TS()}),
    "Bandit": Entry(
        Bandit,
        {
            "online": [0.8, 0.5],
            "offline": [0.5, 0.6],
            "offline_pulls": [5, 0],
            "bias_bound": 0.3,
            "reward": "gaussian",
            "noise": 1.0,
        },
    ),
    "Bandit that moved": Entry(
        Bandit,
        {
            "online": [0.8, 0.5],
            "offline": [0.5, 0.6],
            "offline_pulls": 5,
            "relative_bound": 0.3,
            "common_shift": 0.1,
        },
    ),
    "Bandit.paper": Entry(
        Bandit.paper,
        {"biased": True, "gap": 0.3, "arms": 3, "total": 10, "coverage": "uniform"},
    ),
    "cover": Entry(cover, {"offline_total": 10, "arms": 3, "coverage": "optimal"}),
    "simulate": Entry(
        simulate,
        {
            "policies": ["ts", "anchor-ts"],
            "bandit": Bandit([0.5, 0.4], 0.5, 3),
            "horizon": 3,
            "runs": 2,
            "seed": 0,
            "checkpoints": 2,
            "threads": 1,
            "engine": "interpreted",
        },
    ),
    "identify": Entry(
        identify,
        {
            "bandit": Bandit([0.9, 0.1], noise=0.01),
            "delta": 0.1,
            "radius": "anytime",
            "runs": 1,
            "seed": 0,
            "most_pulls": 9,
            "threads": 1,
            "engine": "interpreted",
        },
    ),
    "Result.final": Entry(RESULT.final, {"policy": "ts"}),
    "Result.compare": Entry(
        RESULT.compare, {"first": "ts", "second": "ucb", "statistic": "mean", "level": 0.9}
    ),
    "Law": Entry(Law, {"kind": "normal", "first": 0.0, "second": 1.0}),
    "random_bandit": Entry(
        random_bandit,
        {"means": Law.beta(1, 2), "arms": 2, "reward": "bernoulli", "noise": [1.0, 2.0]},
    ),
    **{
        f"policy {name}": Entry(cls, {k: v for k, v in cls().parameters().items()})
        for name, cls in POLICIES.items()
    },
}

# Numbers are small or impossible: a horizon of a billion is not junk, only slow.
NUMBERS: list[Any] = [
    *(0, 1, 2, 3, -1, 10**19, -(10**19), 10**400, -(10**400)),
    *(0.0, -0.0, 0.5, 2.0, -1.5, 1e-300, 1e300, math.nan, math.inf, -math.inf),
    *(True, False, 1j, Decimal("NaN"), Decimal("0.5"), Fraction(1, 3), Fraction(10**400, 7)),
    *(
        np.float16("nan"),
        np.float32(0.5),
        np.longdouble("1e4000"),
        np.int8(-1),
        np.uint64(2**64 - 1),
    ),
    *(
        np.True_,
        np.complex64(1),
        np.datetime64("NaT"),
        np.timedelta64(1, "s"),
        np.str_("A"),
        np.bytes_(b"A"),
    ),
]
ARRAYS: list[Any] = [
    np.array(1.0),
    np.array([]),
    np.array([1.0, 2.0]),
    np.array([math.nan, math.inf]),
    np.array([1, 2], np.int8),
    np.array([2**63, 1], np.uint64),
    np.array([True, False]),
    np.array([[1.0, 2.0], [3.0, 4.0]]),
    np.zeros((0, 2)),
    np.array(["A", "B"]),
    np.array([b"A", b"B"]),
    np.array([None, "A"], object),
    np.array([1 + 1j, 2]),
    np.array(["2020", "NaT"], "M8[D]"),
    np.array([(1, 2.0)], [("a", int), ("b", float)]),
    np.ma.masked_array([1.0, 2.0], [True, False]),
    np.arange(4.0)[::-2],
]
THINGS: list[Any] = [None, object(), int, len, ..., range(2), memoryview(b"AB"), ARMS, TALLY, LOGS]
WORDS = ["", "A", "B", "ts", "1", "nan", "gaussian", "\n", "\ud800", "é"]

BYTES = [b"", b"A", b"\xff\x00"]
CONTAINERS: list[Callable[[list[Any], list[str]], Any]] = [
    lambda inner, words: inner,
    lambda inner, words: tuple(inner),
    lambda inner, words: iter(inner),
    lambda inner, words: dict(zip(words, inner, strict=True)),
    lambda inner, words: set(words),
]


def made_by(random: Random, depth: int = 2) -> Any:
    """A piece of junk, or some in a container."""
    if depth == 0 or random.random() < 0.5:
        return random.choice(random.choice([NUMBERS, ARRAYS, THINGS, WORDS, BYTES]))
    inner = [made_by(random, depth - 1) for _ in range(random.randrange(4))]
    return random.choice(CONTAINERS)(inner, random.sample(WORDS, len(inner)))


# Made from one number each: strategies that put it together piece by piece take far longer.
JUNK = st.integers(0, 2**32).map(lambda seed: made_by(Random(seed)))


def try_junk(name: str, data: st.DataObject) -> None:
    """Put junk into some places of a way in."""
    call, valid = ENTRIES[name]
    places = data.draw(st.integers(1, 2 ** len(valid) - 1))  # a bit for each of them
    fields = [field for i, field in enumerate(valid) if places >> i & 1]
    with contextlib.suppress(DriftanchorError):
        call(**(valid | {field: data.draw(JUNK) for field in fields}))


# The test of each piece of junk in each place tries them one by one; these try them together.
@pytest.mark.parametrize("name", [name for name in ENTRIES if not name.startswith("policy ")])
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_junk_gets_a_result_or_an_error_of_ours(name: str, data: st.DataObject) -> None:
    try_junk(name, data)


@settings(max_examples=settings().max_examples * 3)
@given(name=st.sampled_from(list(POLICIES)), data=st.data())
def test_junk_in_policies_gets_a_policy_or_an_error_of_ours(name: str, data: st.DataObject) -> None:
    """All of them, as what checks their parameters is the same for most."""
    try_junk(f"policy {name}", data)


@pytest.mark.parametrize("name", list(ENTRIES))
def test_each_piece_of_junk_in_each_place_gets_a_result_or_an_error_of_ours(name: str) -> None:
    call, valid = ENTRIES[name]
    too_long_to_print = 10**5000
    for junk in [*NUMBERS, *ARRAYS, *THINGS, *WORDS, too_long_to_print]:
        for field in valid:
            for value in (junk, [junk], (junk, 1), {"A": junk}):
                with contextlib.suppress(DriftanchorError):
                    call(**(valid | {field: value}))


@pytest.mark.parametrize("name", list(ENTRIES))
def test_what_the_junk_replaces_is_accepted(name: str) -> None:
    call, valid = ENTRIES[name]
    call(**valid)


@given(any_text(20) | st.binary(max_size=20).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_json_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(DriftanchorError):
        record.parse(text)
