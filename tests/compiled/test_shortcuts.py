"""Shortcuts through Numba: its answers stay the same, and it is left as it was found."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import numba
import numpy as np
import pytest
from driftanchor.compiled.shortcuts import shortcuts
from numba import extending

functions: Any = importlib.import_module("numba.core.types.functions")
base: Any = importlib.import_module("numba.core.base")
event: Any = importlib.import_module("numba.core.event")
context: Any = importlib.import_module("numba.core.typing.context")
postproc: Any = importlib.import_module("numba.core.postproc")
PLACES = (
    (functions.BaseFunction, "get_call_type"),
    (base.BaseContext, "refresh"),
    (context.BaseContext, "refresh"),
    (event, "install_timer"),
    (postproc.PostProcessor, "run"),
)


def methods() -> list[Any]:
    return [vars(owner)[name] for owner, name in PLACES]


def sums(a: Any, b: Any) -> Any:
    return a + b, a - b, a * b, (a + b) / 2.0


def stop_inside(before: list[Any]) -> None:
    with shortcuts():
        assert all(new is not old for new, old in zip(methods(), before, strict=True))
        raise ValueError("stop")


def test_numba_is_as_it_was_afterwards_also_after_an_error() -> None:
    before = methods()
    with pytest.raises(ValueError, match="stop"):
        stop_inside(before)
    assert methods() == before


def test_what_is_remembered_of_a_function_goes_by_the_types_of_its_arguments() -> None:
    with shortcuts():
        for _ in range(2):  # the second copy has all its answers
            compiled = numba.njit(sums)
            assert repr(compiled(3, 4)) == repr(sums(3, 4))
            assert repr(compiled(3, 0.5)) == repr(sums(3, 0.5))
            assert repr(compiled(1.5, 0.5)) == repr(sums(1.5, 0.5))


def counted(n: int) -> Any:
    for i in range(n):
        yield i * i


def summed(n: int) -> int:
    total = 0
    for x in counted(n):
        total += x
    return total


def test_who_asks_where_variables_live_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator asks, and so does what counts references to an array that it makes."""
    monkeypatch.setitem(summed.__globals__, "counted", numba.njit(counted))
    with shortcuts():
        compiled: Any = numba.njit(summed)
        assert compiled(4) == 14
        assert numba.njit(lambda n: np.ones(n).sum())(3) == 3.0


def told(x: float) -> float:
    return x + 1.0


def test_what_is_made_known_meanwhile_is_found() -> None:
    with shortcuts():
        assert numba.njit(sums)(1.0, 2.0)[0] == 3.0
        extending.register_jitable(told)
        assert numba.njit(lambda x: told(x) * 2.0)(1.0) == 4.0


def test_other_threads_take_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = set[int]()
    long = functions.BaseFunction.get_call_type

    def noting(self: Any, *rest: Any) -> Any:
        asked.add(threading.get_ident())
        return long(self, *rest)

    numba.njit(sums)(1.0, 2.0)  # answers, if there were any for all threads
    monkeypatch.setattr(functions.BaseFunction, "get_call_type", noting)
    with shortcuts():
        numba.njit(sums)(1.0, 2.0)
        asked.clear()
        numba.njit(sums)(1.0, 2.0)
        assert not asked
        thread = threading.Thread(target=lambda: numba.njit(sums)(1.0, 2.0))
        thread.start()
        thread.join()
        assert asked == {thread.ident}


def test_what_is_called_by_keywords_goes_the_long_way() -> None:
    with shortcuts(), event.install_timer(kind="numba:compile", callback=print) as timer:
        assert timer is not None
