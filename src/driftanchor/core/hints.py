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


def bounded(function: _Function) -> _Function:
    """Compile a function so that it never reads or writes beyond the end of an array.

    For what a policy of the user's own may call with a column of its own. Such a policy's own
    functions are compiled so in any case.
    """
    function.__dict__["bounded"] = True
    return function
