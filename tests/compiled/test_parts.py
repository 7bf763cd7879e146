"""Parts: each function of a kernel is translated once, and machine code is made of the kernel."""

from __future__ import annotations

import functools
import gc
import importlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
from driftanchor.core.hints import apart

from driftanchor.compiled import parts
from driftanchor.compiled.kernels import kernel
from driftanchor.compiled.overloads import register

if TYPE_CHECKING:
    from conftest import LoadPolicy

codegen: Any = importlib.import_module("numba.core.codegen")
compiler: Any = importlib.import_module("numba.core.compiler")


def noisy(policy: Any, x: float) -> float:
    """A loop that is soon compiled."""
    return x + float(policy.noise)


def half(x: float) -> float:
    return 0.5 * x


@apart
def far(x: float) -> float:
    return half(x) + 1.0


def near(x: float) -> float:
    return half(x) - 1.0


def with_a_closure(x: float) -> float:
    """As a user may write it, and none of ours does."""
    shift = 2.0

    def moved(y: float) -> float:
        return y + shift

    return moved(x) + half(x)


def loop(xs: Any) -> float:
    total = 0.0
    for x in xs:
        total += far(x) * near(x)
    return total


def own_loop(xs: Any) -> float:
    return with_a_closure(xs[0]) + far(xs[0])


@functools.cache
def registered() -> None:
    for function in (half, far, near, with_a_closure):
        register(function)


@pytest.mark.parametrize("rule", [loop, own_loop])
def test_it_is_what_python_computes(rule: Any) -> None:
    registered()
    xs = np.array([0.25, -1.5, 3.0])
    assert numba.njit(pipeline_class=parts.KernelCompiler)(rule)(xs) == rule(xs)


def test_each_function_is_translated_once_and_only_the_kernel_becomes_machine_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Callers that are inlined and callers that are not used to get a copy each."""
    translated, made = list[str](), list[str]()
    translate, make = compiler.CompilerBase.compile_extra, codegen.JITCodeLibrary._finalize_specific

    def noting(self: Any, function: Any) -> Any:
        translated.append(function.__name__)
        return translate(self, function)

    def listing(self: Any) -> Any:
        made.append(type(self).__name__)
        return make(self)

    registered()
    monkeypatch.setattr(compiler.CompilerBase, "compile_extra", noting)
    monkeypatch.setattr(codegen.JITCodeLibrary, "_finalize_specific", listing)
    numba.njit(pipeline_class=parts.KernelCompiler)(loop)(np.ones(2, np.float32))  # seen nowhere
    assert sorted(translated) == ["far", "half", "loop", "near"]
    assert made == ["KernelLibrary"]


def test_the_passes_that_are_left_out_are_there_in_numba() -> None:
    """A name that Numba changed would be left in, and nobody would notice but by the clock."""
    state = compiler.StateDict()
    state.func_ir, state.flags = None, compiler.Flags()
    usual = compiler.DefaultPassBuilder.define_nopython_pipeline(state).passes
    assert {step._name for step, _ in usual} >= parts.UNUSED


def test_compiling_is_announced_once_and_leaves_the_collector_on(
    load_policy: LoadPolicy,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    caplog.set_level(logging.INFO, "driftanchor")
    policy = load_policy("announced")
    small: Any = kernel(type(policy), noisy)
    for _ in range(2):
        assert small(policy.numbers(), 1.0) == 2.0
    assert [record.getMessage() for record in caplog.records] == [
        "compiling own: once, for some seconds"
    ]
    assert gc.isenabled()
