"""A digest covers all that a kernel is made of, or there is none."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FunctionType

from driftanchor.simulation.engines.compiled.digest import _is_plain


def reads_a_module(x: float) -> float:
    return sys.maxsize * x


def plain(x: float) -> float:
    return math.sqrt(x) + ARMS


ARMS = 10


def with_closure(k: float) -> Callable[[float], float]:
    return lambda x: k * x


def test_only_what_a_digest_covers_is_kept_on_disk() -> None:
    enclosed = with_closure(2.0)
    assert isinstance(enclosed, FunctionType)
    assert isinstance(reads_a_module, FunctionType)
    assert isinstance(plain, FunctionType)
    assert [_is_plain(f) for f in (plain, reads_a_module, enclosed)] == [True, False, False]
