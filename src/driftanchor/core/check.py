"""Validation of arguments, shared by all public functions.

A check returns the value, converted to the type that the rest of the package uses. If the value is
invalid, the check raises `InvalidInput`. The message names the argument, the arm (if any), the
value and the remedy.
"""

import math
import numbers
from collections.abc import Callable, Iterable, Sequence, Set
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from driftanchor.errors import InvalidInput, UnknownName, shown

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])

# Limits for rewards, means and parameters. Within them, squared ratios times any count stay far
# below the largest float, so no policy overflows.
LARGEST = 1e90
SMALLEST = 1e-50  # for numbers that must be positive
LATEST = 6e10  # last valid time, in seconds since 1970


def number(
    value: object,
    argument: str,
    *,
    of: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    infinite: bool = False,
) -> float:
    """Return the value as a float if it is a real number in `[low, high]`.

    Accepts Python and NumPy numbers, booleans (as 1 and 0), `Decimal`, `Fraction` and
    zero-dimensional arrays. Rejects text, complex numbers and durations.

    Args:
        value: The value to check.
        argument: Name of the argument, for the error message.
        of: Part of the argument that the value belongs to, such as `"arm 'A'"`.
        low: Minimum.
        high: Maximum.
        above: Exclusive minimum.
        infinite: Whether infinity is allowed.
    """
    if not is_number(value):
        raise _bad(argument, of, f"must be a number, got {shown(value)}")
    accepted: Any = value
    try:
        x = float(accepted)
    except OverflowError:
        raise _bad(argument, of, f"must fit a 64-bit float, got {shown(value)}") from None
    except ValueError:  # Decimal's signalling NaN
        x = math.nan
    if math.isnan(x):
        raise _bad(argument, of, "must be a number, got nan: drop or fill the missing value")
    if math.isinf(x) and not infinite:
        raise _bad(argument, of, f"must be finite, got {x!r}")
    if above is not None and x <= above:
        raise _bad(argument, of, f"must be greater than {above:g}, got {shown(value)}")
    if x < low or x > high:
        raise _bad(argument, of, f"must be {_range(low, high, x)}, got {shown(value)}")
    return x + 0.0  # turns -0.0 into 0.0, so that equal numbers have equal digests


def is_number(value: object) -> bool:
    """Return whether `number` accepts values of this type.

    Example:
        >>> [is_number(x) for x in (True, np.True_, Decimal("0.5"), np.array(0.5))]
        [True, True, True, True]
        >>> [is_number(x) for x in ("1", 1j, None, np.array([0.5]), np.ma.masked)]
        [False, False, False, False, False]
    """
    if isinstance(value, float):  # fast path
        return True
    if isinstance(value, np.ndarray):
        scalar = value.ndim == 0 and not isinstance(value, np.ma.MaskedArray)
        return scalar and value.dtype.kind in "biuf"
    real = isinstance(value, numbers.Real | Decimal | np.bool_)
    return real and not isinstance(value, np.timedelta64)


def whole(value: object, argument: str, *, of: str = "", low: int = 0, high: int = 2**62) -> int:
    """Return the value as an int if it is a whole number in `[low, high]`.

    Accepts `200.0`, rejects `True`.
    """
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, numbers.Real):
        raise _bad(argument, of, f"must be a whole number, got {shown(value)}")
    x: Any = value
    if x != x or x in (math.inf, -math.inf) or x != int(x):
        raise _bad(argument, of, f"must be a whole number, got {shown(value)}")
    if x < low or x > high:
        raise _bad(argument, of, f"must be {_range(low, high, x)}, got {shown(value)}")
    return int(x)


def choice(value: object, argument: str, choices: Sequence[str], *, of: str = "") -> str:
    """Return the value if it is one of `choices`. Otherwise the error suggests the nearest."""
    if not isinstance(value, str):
        raise _bad(argument, of, f"must be one of {', '.join(choices)}, got {shown(value)}")
    if value not in choices:
        kind = f"{argument} of {of}" if of else argument
        raise UnknownName(kind, value, choices, argument=argument)
    return value


def flag(value: object, argument: str) -> bool:
    """Return the value if it is True or False; reject other values, such as 1 or the text "no"."""
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise _bad(argument, "", f"must be True or False, got {shown(value)}")
    return bool(value)


def optional_function(value: object, argument: str) -> None:
    """Check that the value is None or callable."""
    if value is not None:
        function(value, argument)


def function(value: object, argument: str) -> None:
    """Check that the value is callable."""
    if not callable(value):
        raise _bad(argument, "", f"must be a function, got {shown(value)}")


def clock_time(clock: Callable[[], object]) -> float:
    """Call a clock and return its time, checked to be a number of seconds since 1970."""
    now = clock()
    if type(now) is float and -LATEST <= now <= LATEST:  # fast path
        return now + 0.0  # turns -0.0 into 0.0, as SQLite does
    try:
        return number(now, "clock", low=-LATEST, high=LATEST)
    except InvalidInput:
        problem = f"must return the seconds since 1970, got {shown(now)}"
        raise _bad("clock", "", problem) from None


def items(value: object, argument: str, *, of: str = "") -> list[object]:
    """Return the values of an iterable as a list; reject text."""
    if type(value) is list or type(value) is tuple:  # fast path
        return list(value)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _bad(argument, of, f"must be a list of values, got {shown(value)}")
    try:
        return list(value)
    except TypeError:  # zero-dimensional arrays have __iter__ but cannot be iterated
        raise _bad(argument, of, f"must be a list of values, got {shown(value)}") from None


def ordered(value: object, argument: str, *, of: str = "") -> list[object]:
    """Return the values of an iterable as a list; reject sets, because their order is arbitrary."""
    if isinstance(value, Set):
        raise _bad(argument, of, f"must be in order, got the set {shown(value)}: use a list")
    return items(value, argument, of=of)


def per_arm(
    value: object,
    argument: str,
    labels: Sequence[str],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    infinite: bool = False,
) -> Floats:
    """Return one number per arm, given either one number for all arms or a list of numbers."""
    limits: Any = {"low": low, "high": high, "above": above, "infinite": infinite}
    return np.array(
        [
            number(x, argument, of=f"arm {label!r}", **limits)
            for x, label in zip(_broadcast(value, argument, labels), labels, strict=True)
        ],
        dtype=np.float64,
    )


def pulls_per_arm(value: object, argument: str, labels: Sequence[str]) -> Ints:
    """Return one count per arm, given either one count for all arms or a list of counts."""
    return np.array(
        [
            whole(x, argument, of=f"arm {label!r}")
            for x, label in zip(_broadcast(value, argument, labels), labels, strict=True)
        ],
        dtype=np.int64,
    )


def rising_pair(value: object, argument: str) -> tuple[float, float]:
    """Return two numbers, the first below the second; either may be infinite."""
    ends = items(value, argument)
    if len(ends) != 2:
        raise _bad(argument, "", f"must be (lowest, highest), got {shown(value)}")
    low, high = (number(x, argument, infinite=True) for x in ends)
    if low >= high:
        raise _bad(argument, "", f"must rise, got ({low:g}, {high:g})")
    return (low, high)


def frozen(array: Array) -> Array:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


def _broadcast(value: object, argument: str, labels: Sequence[str]) -> list[object]:
    """Return one value per arm. A single number is repeated; a list must have one value per arm."""
    scalar = is_number(value)
    values: list[object] = [value] * len(labels) if scalar else ordered(value, argument)
    if len(values) != len(labels):
        problem = f"has {len(values)} values for {len(labels)} arms: give one for each arm"
        raise _bad(argument, "", problem)
    return values


def _range(low: float, high: float, x: float) -> str:
    """Describe the allowed range for an error message about x, which is outside it.

    An upper limit that merely prevents overflow is mentioned only if x exceeds it.
    """
    technical = (2**62, LARGEST)
    if low == -math.inf or (high in technical and x > high):
        return f"at most {high:g}"
    if high in (math.inf, *technical):
        return f"at least {low:g}"
    return f"between {low:g} and {high:g}"


def _bad(argument: str, of: str, problem: str) -> InvalidInput:
    return InvalidInput(f"of {of} {problem}" if of else problem, argument=argument)
