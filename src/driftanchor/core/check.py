"""The checks every public entry shares: one wording, one place.

Each returns the value in the type the rest of the package uses, or raises `InvalidInput` naming
the argument, the arm where there is one, the value, and what to do.
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

# The sizes of rewards, means and parameters. The squares of their ratios, times any count, then
# stay far from the largest float, so nothing that a policy computes overflows.
LARGEST = 1e90
SMALLEST = 1e-50  # of what must be above 0
LATEST = 6e10  # seconds from 1970 that are dates


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
    """A real number in `[low, high]`, strictly above `above`; finite unless `infinite`.

    Whatever is a number counts: Python's and NumPy's, truth values as 1 and 0, `Decimal`,
    `Fraction`, and an array without dimensions. Text, complex numbers and durations do not.

    Args:
        value: What was given.
        argument: The name of the argument it was given for.
        of: Which part of the argument it is, such as `"arm 'A'"`.
        low: The least value allowed.
        high: The largest value allowed.
        above: A value that is just too small.
        infinite: Whether it may be infinite.
    """
    if not is_number(value):
        raise _bad(argument, of, f"must be a number, got {shown(value)}")
    given: Any = value
    try:
        x = float(given)
    except OverflowError:
        raise _bad(argument, of, f"must fit a 64-bit float, got {shown(value)}") from None
    except ValueError:  # the signalling NaN of Decimal
        x = math.nan
    if math.isnan(x):
        raise _bad(argument, of, "must be a number, got nan: drop or fill the missing value")
    if math.isinf(x) and not infinite:
        raise _bad(argument, of, f"must be finite, got {x!r}")
    if above is not None and x <= above:
        raise _bad(argument, of, f"must be greater than {above:g}, got {shown(value)}")
    if x < low or x > high:
        raise _bad(argument, of, f"must be {_range(low, high, x)}, got {shown(value)}")
    return x + 0.0  # turns -0.0 into 0.0: equal numbers must have equal checksums


def is_number(value: object) -> bool:
    """Whether `number` takes it for a number, finite or not.

    Example:
        >>> [is_number(x) for x in (True, np.True_, Decimal("0.5"), np.array(0.5))]
        [True, True, True, True]
        >>> [is_number(x) for x in ("1", 1j, None, np.array([0.5]), np.ma.masked)]
        [False, False, False, False, False]
    """
    if isinstance(value, float):  # nearly always, and quickly known
        return True
    if isinstance(value, np.ndarray):
        bare = value.ndim == 0 and not isinstance(value, np.ma.MaskedArray)
        return bare and value.dtype.kind in "biuf"
    known = isinstance(value, numbers.Real | Decimal | np.bool_)
    return known and not isinstance(value, np.timedelta64)


def whole(value: object, argument: str, *, of: str = "", low: int = 0, high: int = 2**62) -> int:
    """A whole number in `[low, high]`; `200.0` counts as whole, `True` does not."""
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, numbers.Real):
        raise _bad(argument, of, f"must be a whole number, got {shown(value)}")
    x: Any = value
    if x != x or x in (math.inf, -math.inf) or x != int(x):
        raise _bad(argument, of, f"must be a whole number, got {shown(value)}")
    if x < low or x > high:
        raise _bad(argument, of, f"must be {_range(low, high, x)}, got {shown(value)}")
    return int(x)


def choice(value: object, argument: str, choices: Sequence[str], *, of: str = "") -> str:
    """One of a few words; the message suggests the nearest."""
    if not isinstance(value, str):
        raise _bad(argument, of, f"must be one of {', '.join(choices)}, got {shown(value)}")
    if value not in choices:
        kind = f"{argument} of {of}" if of else argument
        raise UnknownName(kind, value, choices, argument=argument)
    return value


def flag(value: object, argument: str) -> bool:
    """True or False; not what merely counts as one, since the text "no" counts as true."""
    if value is True or value is False:  # nearly always
        return value
    if not isinstance(value, np.bool_):
        raise _bad(argument, "", f"must be True or False, got {shown(value)}")
    return bool(value)


def optional_function(value: object, argument: str) -> None:
    """Refuse what is neither None nor a function."""
    if value is not None:
        function(value, argument)


def function(value: object, argument: str) -> None:
    """Refuse what is no function."""
    if not callable(value):
        raise _bad(argument, "", f"must be a function, got {shown(value)}")


def clock_time(clock: Callable[[], object]) -> float:
    """The time of a clock, in seconds since 1970."""
    now = clock()
    if type(now) is float and -LATEST <= now <= LATEST:  # nearly always
        return now + 0.0  # no -0.0: SQLite would read it back as 0.0
    try:
        return number(now, "clock", low=-LATEST, high=LATEST)
    except InvalidInput:
        problem = f"must return the seconds since 1970, got {shown(now)}"
        raise _bad("clock", "", problem) from None


def items(value: object, argument: str, *, of: str = "") -> list[object]:
    """A finite collection of values, in order; text is not one."""
    if type(value) is list or type(value) is tuple:  # nearly always
        return list(value)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _bad(argument, of, f"must be a list of values, got {shown(value)}")
    try:
        return list(value)
    except TypeError:  # a zero-dimensional array says it is iterable and is not
        raise _bad(argument, of, f"must be a list of values, got {shown(value)}") from None


def ordered(value: object, argument: str, *, of: str = "") -> list[object]:
    """As `items`, but not a set: its order differs from process to process."""
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
    """One number for each arm: a scalar for all of them, or a list of the right length."""
    limits: Any = {"low": low, "high": high, "above": above, "infinite": infinite}
    return np.array(
        [
            number(x, argument, of=f"arm {label!r}", **limits)
            for x, label in zip(_spread(value, argument, labels), labels, strict=True)
        ],
        dtype=np.float64,
    )


def pulls_per_arm(value: object, argument: str, labels: Sequence[str]) -> Ints:
    """One count for each arm, as `per_arm`."""
    return np.array(
        [
            whole(x, argument, of=f"arm {label!r}")
            for x, label in zip(_spread(value, argument, labels), labels, strict=True)
        ],
        dtype=np.int64,
    )


def rising_pair(value: object, argument: str) -> tuple[float, float]:
    """Two numbers, the first below the second; either may be infinite."""
    ends = items(value, argument)
    if len(ends) != 2:
        raise _bad(argument, "", f"must be (lowest, highest), got {shown(value)}")
    low, high = (number(x, argument, infinite=True) for x in ends)
    if low >= high:
        raise _bad(argument, "", f"must rise, got ({low:g}, {high:g})")
    return (low, high)


def frozen(array: Array) -> Array:
    """The array, now refusing to be written, so that what holds it is immutable."""
    array.setflags(write=False)
    return array


def _spread(value: object, argument: str, labels: Sequence[str]) -> list[object]:
    """The values of the arms, in their order; a scalar counts for all of them."""
    alike = is_number(value)
    values: list[object] = [value] * len(labels) if alike else ordered(value, argument)
    if len(values) != len(labels):
        problem = f"has {len(values)} values for {len(labels)} arms: give one for each arm"
        raise _bad(argument, "", problem)
    return values


def _range(low: float, high: float, x: float) -> str:
    huge = (2**62, LARGEST)  # limits that are there for the computer: one of them is enough to say
    if low == -math.inf or (high in huge and x > high):
        return f"at most {high:g}"
    if high in (math.inf, *huge):
        return f"at least {low:g}"
    return f"between {low:g} and {high:g}"


def _bad(argument: str, of: str, problem: str) -> InvalidInput:
    return InvalidInput(f"of {of} {problem}" if of else problem, argument=argument)
