"""Report a damaged store as one error: UnreadableState."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from driftanchor.errors import DriftanchorError, InvalidInput, UnreadableState, shown

P = ParamSpec("P")
T = TypeVar("T")
FOREIGN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def damaged(problem: object) -> UnreadableState:
    """Return an error that says what is wrong with a store."""
    return UnreadableState(f"the store is damaged: {problem}; restore a backup")


def reads_store(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that reads stored data: raise `UnreadableState` if it fails."""

    @functools.wraps(function)
    def reading(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except InvalidInput as error:
            raise damaged(error) from error
        except DriftanchorError:
            raise
        except FOREIGN as error:
            raise damaged(f"{type(error).__name__}, {error}") from error

    return reading


def parsed(text: str, kind: type[T]) -> T:
    """Parse stored JSON; refuse values of another type than `kind` (`dict` or `list`)."""
    try:
        value: Any = json.loads(text)
    except FOREIGN as error:
        raise damaged(f"{shown(text)} is no JSON") from error
    if not isinstance(value, kind):
        raise damaged(f"{shown(text)} is no {kind.__name__}")
    return value
