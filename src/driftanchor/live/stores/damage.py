"""Damage: what is read from a store and cannot be, as one error."""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, ParamSpec, TypeVar

from driftanchor.errors import DriftanchorError, InvalidInput, UnreadableState, shown

P = ParamSpec("P")
T = TypeVar("T")
FOREIGN = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
ALSO: dict[type, tuple[type, ...]] = {
    float: (int,),
    bool: (int,),
}  # what drivers give for a type, besides itself
_fitting: dict[type, set[tuple[type, ...]]] = {}  # the types of rows that were looked at


def damaged(what: object) -> UnreadableState:
    """The error that names what is wrong with a store."""
    return UnreadableState(f"the store is damaged: {what}; restore a backup")


def reads_store(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function that takes nothing from callers, only from a store, report damage as such."""

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


def parsed(text: Any) -> Any:
    """JSON of a store."""
    try:
        return json.loads(text)
    except FOREIGN as error:
        raise damaged(f"{shown(text)} is no JSON") from error


def typed(row: type[T], values: Sequence[Any]) -> T:
    """A row of a table, whose values must be of the types that its fields have."""
    known, kinds = _fitting.setdefault(row, set()), tuple(map(type, values))
    if kinds not in known:
        hints = typing.get_type_hints(row)
        for (name, hint), value in zip(hints.items(), values, strict=True):
            if type(value) not in _types(hint):
                raise damaged(f"{name} of a {row.__name__} is {shown(value)}")
        known.add(kinds)
    return row(*values)


def all_typed(row: type[T], found: Sequence[Sequence[Any]]) -> list[T]:
    """As `typed`, for some rows."""
    first, others = found[:1], found[1:]
    kinds = [*map(type, chain.from_iterable(first))] * len(others)
    if others and [*map(type, chain.from_iterable(others))] == kinds:  # nearly always
        return [typed(row, first[0]), *[row(*values) for values in others]]
    return [typed(row, values) for values in found]


def _types(hint: Any) -> set[type]:
    """The types that a value of a field may have."""
    options = [x for x in typing.get_args(hint) if isinstance(x, type)]
    kinds = set(options) if type(None) in options else {typing.get_origin(hint) or hint}
    kinds |= {typing.get_origin(x) for x in typing.get_args(hint) if typing.get_origin(x)}
    return kinds | {other for kind in kinds for other in ALSO.get(kind, ())}
