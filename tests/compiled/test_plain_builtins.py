"""Functions in place of Python's: they give what Python's give, and become parts of a kernel."""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any

import numba
import pytest
from driftanchor.compiled.plain_builtins import larger, smaller

from driftanchor.compiled import parts
from driftanchor.compiled.overloads import register

codegen: Any = importlib.import_module("numba.core.codegen")
NUMBERS = (-math.inf, -1.0, -0.0, 0.0, 2.5, math.inf, math.nan, 0, 3)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMBERS, repeat=2)))
def test_they_are_what_python_gives_zeros_and_nan_included(a: float, b: float) -> None:
    assert repr(larger(a, b)) == repr(max(a, b))
    assert repr(smaller(a, b)) == repr(min(a, b))


def loop(a: float, b: float) -> tuple[float, float, int]:
    return max(a, b), min(a, b), int(a) - int(b)


def test_a_kernel_that_names_them_is_the_only_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[str]()
    make = codegen.JITCodeLibrary._finalize_specific

    def listing(self: Any) -> Any:
        made.append(type(self).__name__)
        return make(self)

    register(larger)
    register(smaller)
    numba.njit(lambda x: x)(1.0)  # the first of all makes code for Numba's own use
    monkeypatch.setattr(codegen.JITCodeLibrary, "_finalize_specific", listing)
    compiled = numba.njit(pipeline_class=parts.KernelCompiler)(loop)
    for a, b in itertools.product((-2.75, -0.0, 0.0, 3.5), repeat=2):
        assert repr(compiled(a, b)) == repr(loop(a, b))
    assert made == ["KernelLibrary"]
