"""Hints to the compiler that compiled simulations use; interpreted they do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


def apart(function: _Function) -> _Function:
    """Compile a function once, to be called, and not into each place that calls it.

    For what runs seldom or takes long: copies of it in every caller would only be compiled.
    """
    function.__dict__["apart"] = True
    return function


def brief(function: _Function) -> _Function:
    """Let no other thread run meanwhile, where a compiled function takes some microseconds.

    A thread that gives the interpreter away may wait for milliseconds to get it back.
    """
    function.__dict__["brief"] = True
    return function
