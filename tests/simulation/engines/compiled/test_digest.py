"""A digest covers all that a kernel is made of, or there is none."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FunctionType

from driftanchor import TS
from driftanchor.best_arm import lucb
from driftanchor.simulation.engines.compiled.digest import _is_plain, functions_of, source_digest


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


def test_a_loop_without_a_policy_has_a_digest_of_its_own() -> None:
    assert lucb.pull in functions_of(None, lucb.play_runs)
    alone, with_policy = source_digest(None, lucb.play_runs), source_digest(TS, lucb.play_runs)
    assert alone is not None
    assert alone != with_policy
