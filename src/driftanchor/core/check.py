"""The checks every public entry shares: one wording, one place.

Each returns the value in the type the rest of the package uses, or raises `InvalidInput` naming
the argument, the arm where there is one, the value, and what to do.
"""

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from driftanchor.errors import InvalidInput

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])


def number(
    value: object,
    name: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    infinite: bool = False,
) -> float:
    """A real number in `[low, high]`, strictly above `above`; finite unless `infinite`."""
    if not isinstance(value, numbers.Real):
        raise InvalidInput(f"{name} must be a number, got {value!r}")
    try:
        x = float(value)
    except OverflowError:
        raise InvalidInput(f"{name} must fit a 64-bit float, got {value!r}") from None
    if math.isnan(x):
        raise InvalidInput(f"{name} must be a number, got nan: drop or fill the missing value")
    if math.isinf(x) and not infinite:
        raise InvalidInput(f"{name} must be finite, got {x!r}")
    if x < low or x > high:
        raise InvalidInput(f"{name} must be {_range(low, high)}, got {value!r}")
    if above is not None and x <= above:
        raise InvalidInput(f"{name} must be greater than {above:g}, got {value!r}")
    return x


def whole(value: object, name: str, *, low: int = 0, high: int = 2**62) -> int:
    """A whole number in `[low, high]`; `200.0` counts as whole, `True` does not."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}")
    x: Any = value
    if x != x or x in (math.inf, -math.inf) or x != int(x):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}")
    if x < low or x > high:
        raise InvalidInput(f"{name} must be {_range(low, high)}, got {value!r}")
    return int(x)


def items(value: object, name: str) -> list[object]:
    """A finite collection of values, in order; text is not one."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of values, got {value!r}")
    try:
        return list(value)
    except TypeError:  # a zero-dimensional array says it is iterable and is not
        raise InvalidInput(f"{name} must be a list of values, got {value!r}") from None


def per_arm(
    value: object,
    name: str,
    labels: Sequence[str],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    infinite: bool = False,
) -> Floats:
    """One number for each arm: a scalar for all of them, or a list of the right length."""
    if isinstance(value, numbers.Real):
        values: list[object] = [value] * len(labels)
    else:
        values = items(value, name)
    if len(values) != len(labels):
        raise InvalidInput(
            f"{name} has {len(values)} values for {len(labels)} arms: give one for each arm"
        )
    return np.array(
        [
            number(x, f"{name} of arm {label!r}", low=low, high=high, infinite=infinite)
            for x, label in zip(values, labels, strict=True)
        ],
        dtype=np.float64,
    )


def pulls_per_arm(value: object, name: str, labels: Sequence[str]) -> Ints:
    """One count for each arm, as `per_arm`."""
    counts = per_arm(value, name, labels, low=0.0)
    return np.array(
        [whole(x, f"{name} of arm {label!r}") for x, label in zip(counts, labels, strict=True)],
        dtype=np.int64,
    )


def frozen(array: Array) -> Array:
    """The array, now refusing to be written, so that what holds it is immutable."""
    array.setflags(write=False)
    return array


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"at most {high:g}"
    if high in (math.inf, 2**62):
        return f"at least {low:g}"
    return f"between {low:g} and {high:g}"
