"""Python values that somebody may give in place of the right one."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.torture import junk

NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 3, -1, 10**19, -(10**19), 10**400, 2**62, True, False, 1j),
    *(0.0, -0.0, 0.5, 2.0, -1.5, 1e-300, 1e150, 1e300, math.nan, math.inf, -math.inf),
    *(Decimal("NaN"), Decimal("0.5"), Decimal("Infinity"), Fraction(1, 3), Fraction(10**400, 7)),
    *(
        np.float16("nan"),
        np.float32(0.5),
        np.longdouble("1e4000"),
        np.int8(-1),
        np.uint64(2**64 - 1),
    ),
    *(np.True_, np.complex64(1), np.datetime64("NaT"), np.timedelta64(1, "s"), np.str_("A")),
)
THINGS: tuple[Callable[[], Any], ...] = (
    *(lambda: None, object, lambda: int, lambda: len, lambda: ..., lambda: range(2)),
    *(lambda: memoryview(b"AB"), lambda: b"A", lambda: bytearray(b"\xff"), lambda: iter("AB")),
    *(lambda: iter(()), lambda: {}, list, tuple, set, lambda: {"A", "B"}, lambda: [[]]),
    *(lambda: date(2026, 1, 11), lambda: datetime(9999, 12, 31, tzinfo=UTC), lambda: datetime.min),
    *(
        lambda: Path("good.csv"),
        lambda: Path("a.svg"),
        lambda: Exception("x"),
        lambda: Unprintable(),
    ),
    *(
        lambda: np.array(1.0),
        lambda: np.array([]),
        lambda: np.array([1.0, 2.0]),
        lambda: np.zeros((2, 2)),
    ),
    *(lambda: np.array([math.nan, math.inf]), lambda: np.array([2**63, 1], np.uint64)),
    *(
        lambda: np.array(["A", "B"]),
        lambda: np.array([None, "A"], object),
        lambda: np.array([1j, 2]),
    ),
    *(lambda: np.array(["2020", "NaT"], "M8[D]"), lambda: np.array([(1, 2.0)], "i4,f8")),
    *(lambda: np.ma.masked_array([1.0, 2.0], [True, False]), lambda: np.array([True, False])),
    *(lambda: {"A": 0.1, "B": 0.2}, lambda: {"A": math.nan}, lambda: {1: 2}, lambda: {"A": None}),
    *(lambda: {"A": (5, 0.5), "B": (3, 0.4, 0.2)}, lambda: {"A": (2**62, 1e300)}, lambda: ("A", 1)),
)


class Unprintable:
    """A value whose text cannot be had."""

    def __repr__(self) -> str:
        raise ValueError("no text")


def thing(rng: Random) -> Any:
    """Anything: a number, a text, an object, or several of them."""
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(NUMBERS)
    if kind < 0.55:
        return junk.text(rng) if rng.random() < 0.9 else "\0"
    if kind < 0.8:
        return rng.choice(THINGS)()
    if kind < 0.85:
        return frame(rng)
    several = [thing(rng) for _ in range(rng.randint(0, 3))]
    if kind < 0.95:
        return rng.choice((list, tuple, iter))(several)
    return dict(zip(("A", "B", "arms"), several, strict=False))


def frame(rng: Random) -> Any:
    """A data frame, often with something odd in it."""
    pd: Any = importlib.import_module("pandas")
    pl: Any = importlib.import_module("polars")
    odd = [rng.choice((*NUMBERS[:6], math.nan, None, "x", "1e400")) for _ in range(3)]
    return rng.choice(
        (
            lambda: pd.DataFrame({"ad": list("ABA"), "won": odd}),
            lambda: pd.DataFrame({"ad": ["A", None, "B"], "won": [1.0, 0.0, 1.0], "at": odd}),
            lambda: pd.DataFrame([[1, 2]], columns=["ad", "ad"]),
            lambda: pd.DataFrame([[1, 2]], columns=[0, 1]),
            lambda: pd.DataFrame(
                [["A", 1]], columns=pd.MultiIndex.from_tuples([("ad", 1), ("won", 2)])
            ),
            lambda: pd.DataFrame({"ad": pd.Categorical(list("ABA")), "won": [True, False, True]}),
            lambda: pd.Series([1, 2]),
            lambda: pl.DataFrame({"ad": ["A", "B"], "won": [1.0, math.inf]}),
            lambda: pl.DataFrame({"ad": [["A"], ["B"]], "won": [1, 2]}),
            lambda: pl.LazyFrame({"ad": ["A", "B"], "won": [1, 0]}),
            pl.DataFrame,
        )
    )()
