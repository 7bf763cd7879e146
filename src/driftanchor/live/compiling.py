"""Compiles policies in the background while decisions are interpreted.

Kernels are cached for the process, one for each policy class and types of its parameters.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from driftanchor.live.background import compile_once
from driftanchor.live.chosen_column import chosen_column

Kernel = Callable[..., Any]
Kind = tuple[type, ...]  # named tuple of the policy's parameters, their types, type of pulls

_kernels: dict[Kind, Kernel] = {}


def kind_of(numbers: Any, pulls: type = np.int64) -> Kind:
    """Return the cache key of a kernel: policy class, parameter types and type of pulls."""
    return (type(numbers), *map(type, numbers), pulls)


def ready(kind: Kind) -> Kernel | None:
    """The compiled `chosen_column`, if it is ready."""
    return _kernels.get(kind)


def ask(kind: Kind, arguments: tuple[Any, ...]) -> None:
    """Have `chosen_column` compiled for arguments of these types, if nobody asked for it before.

    Where Numba is missing, or a policy cannot be compiled, it never becomes ready.
    """
    compile_once(("decisions", kind), functools.partial(_compile, kind, arguments))


def _compile(kind: Kind, arguments: tuple[Any, ...]) -> None:
    kernels = importlib.import_module("driftanchor.compiled.kernels")
    loop: Any = kernels.kernel(kind[0].policy, chosen_column)  # type: ignore[attr-defined]
    _kernels[kind] = kernels.entry(loop, *arguments)
