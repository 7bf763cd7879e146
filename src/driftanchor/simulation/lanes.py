"""Plain scalar functions over arrays: the same code, with one number for each of many lanes.

`over_lanes` binds a function's own code to a scope in which `math`, `min`, `float` and so on take
arrays, and does so for every plain function that it calls. No formula is written a second time,
and each lane gets the bits that a call of its own would give it.

A branch on numbers that differ between lanes is taken both ways: `each_way` calls the function once
for the lanes on either side and puts the answers together. What arrays cannot do as numbers do it,
to the last bit, is not in the scope and raises.
"""

from __future__ import annotations

import dis
import math
import numbers
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

_MOST_BRANCHES = 64  # at which lanes part in one call


class Unsuited(Exception):
    """A function that cannot be called over lanes."""


class Fork(Exception):
    """Lanes part at a branch; the argument is the truth that each of them sees."""


class Lanes(np.ndarray[Any, np.dtype[Any]]):
    """An array that scalar code takes for one number."""

    def __bool__(self) -> bool:
        true = int(np.count_nonzero(self))
        if 0 < true < self.size:
            raise Fork(np.asarray(self) != 0)
        return true > 0

    def __float__(self) -> float:
        raise Unsuited("many numbers are not one")

    def __int__(self) -> int:
        raise Unsuited("many numbers are not one")

    # The power of an array may differ from that of a number in the last bit.
    def __pow__(self, other: Any, modulo: None = None) -> Any:
        return _one_by_one(lambda x, y: x**y, self, other)

    def __rpow__(self, other: Any, modulo: None = None) -> Any:
        return _one_by_one(lambda x, y: y**x, self, other)


def lanes(values: Any) -> Any:
    """The same values as lanes."""
    return np.asarray(values).view(Lanes)


def over_lanes(function: Any, instead: Mapping[Any, Any] | None = None) -> Any:
    """A plain function for lanes, with others `instead` of some that it calls."""
    return _bound(function, dict(instead or {}))


def each_way(function: Callable[..., Any], *arguments: Any, branches: int = 0) -> Any:
    """The answer of a function for lanes, whichever way each goes through its branches."""
    try:
        return function(*arguments)
    except Fork as fork:
        (truth,) = fork.args
    if branches == _MOST_BRANCHES:
        raise Unsuited("lanes part too often")
    yes, no = (
        each_way(function, *_picked(arguments, side), branches=branches + 1)
        for side in (truth, ~truth)
    )
    return _joined(truth, yes, no)


def _picked(value: Any, side: Any) -> Any:
    """What the lanes on one side get of an argument."""
    if isinstance(value, tuple):
        return _alike(value, [_picked(x, side) for x in value])
    return value[side] if isinstance(value, np.ndarray) else value


def _joined(truth: Any, yes: Any, no: Any) -> Any:
    """The answers of both sides, each in its lanes."""
    if type(yes) is type(no) and isinstance(yes, tuple):
        return _alike(yes, [_joined(truth, *both) for both in zip(yes, no, strict=True)])
    answer = np.empty(truth.shape, np.result_type(yes, no))
    answer[truth], answer[~truth] = yes, no
    return lanes(answer)


def _alike(pattern: Any, values: list[Any]) -> Any:
    return pattern._make(values) if hasattr(pattern, "_make") else tuple(values)


def _bound(function: Any, known: dict[Any, Any]) -> Any:
    """The code of a function in a scope for lanes."""
    if function in known:
        return known[function]
    if not isinstance(function, types.FunctionType):
        raise Unsuited(f"{function!r} is not a plain function")
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if not all(isinstance(x, numbers.Number) for x in held):
        raise Unsuited(f"{function.__qualname__} holds more than numbers")
    scope: dict[str, Any] = {"__builtins__": _BUILTINS}
    known[function] = bound = types.FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    bound.__kwdefaults__ = function.__kwdefaults__
    for name in _names(function.__code__):
        if name in function.__globals__:
            scope[name] = _for_lanes(function.__globals__[name], known)
    return bound


def _names(code: types.CodeType) -> Iterator[str]:
    """The names outside of itself that code reads, nested code included."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _for_lanes(value: Any, known: dict[Any, Any]) -> Any:
    """What a name that stands for `value` stands for over lanes."""
    if value is math or value is np:
        return _MATH if value is math else _NUMPY
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
        return getattr(_MATH, value.__name__)
    if isinstance(value, np.ndarray):
        return lanes(value)
    if isinstance(value, numbers.Number):
        return value
    if isinstance(value, type) and issubclass(value, tuple):
        return value  # a named tuple holds what it is given
    return _bound(value, known)


def _one_by_one(function: Any, *arguments: Any) -> Any:
    """A function of numbers, called for one lane after the other."""
    arrays = np.broadcast_arrays(*arguments)
    answers = [function(*numbers) for numbers in zip(*(x.flat for x in arrays), strict=True)]
    return _as_numbers(answers).reshape(arrays[0].shape)


def _as_numbers(answers: list[Any]) -> Any:
    array = lanes(answers)
    if array.ndim > 1 or array.dtype.kind not in "bif":
        raise Unsuited(f"answers that are not numbers, such as {answers[0]!r}")
    return array


def _of_math(function: Any) -> Any:
    """A function of `math` for numbers or lanes; NumPy's own may differ in the last bit."""

    def over(*arguments: Any) -> Any:
        if not any(isinstance(x, np.ndarray) for x in arguments):
            return function(*arguments)
        if len(arguments) > 1:
            return _one_by_one(function, *arguments)
        # Neighbours are often equal, as an arm's offline pulls are in all runs.
        values = np.asarray(arguments[0])
        bits = values.ravel().view(np.int64)
        new = np.concatenate(([True], bits[1:] != bits[:-1]))
        answers = _as_numbers([function(x) for x in values.ravel()[new].tolist()])
        return answers[np.cumsum(new) - 1].reshape(values.shape)

    return over


def _square_root(x: Any) -> Any:
    return np.sqrt(x) if isinstance(x, np.ndarray) else math.sqrt(x)  # both round correctly


def _to(kind: type, number: Any) -> Any:
    return lambda x: x.astype(kind, copy=False) if isinstance(x, np.ndarray) else number(x)


def _outermost(beyond: Callable[[Any, Any], Any], of_numbers: Any) -> Any:
    """`min` or `max` as Python has it: the first of equals, and NaN only where it comes first."""

    def over(*arguments: Any) -> Any:
        if not any(isinstance(x, np.ndarray) for x in arguments):
            return of_numbers(*arguments)
        best, *others = arguments
        for other in others:
            best = np.where(beyond(other, best), other, best)
        return lanes(best)

    return over


_MATH = types.SimpleNamespace(
    **{
        name: _of_math(value) if callable(value) else value
        for name, value in vars(math).items()
        if not name.startswith("_")
    }
)
_MATH.sqrt = _square_root
_NUMPY = types.SimpleNamespace(
    int64=_to(np.int64, np.int64), uint64=_to(np.uint64, np.uint64), sqrt=_square_root, inf=np.inf
)
_BUILTINS = {
    "abs": abs,
    "bool": lambda x: x != 0 if isinstance(x, np.ndarray) else bool(x),
    "float": _to(np.float64, float),
    "int": _to(np.int64, int),
    "max": _outermost(lambda x, y: x > y, max),
    "min": _outermost(lambda x, y: x < y, min),
    "range": range,
}
