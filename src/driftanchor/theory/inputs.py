"""Arrays as the functions of this package take them: checked by name, broadcast together."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput, shown


def array(
    value: npt.ArrayLike,
    name: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: float = -math.inf,
    infinite: bool = False,
) -> Floats:
    """Numbers in `[low, high]`, strictly above `above`; finite unless `infinite`.

    Example:
        >>> array([0.3, -0.1], "gap", above=0.0)
        Traceback (most recent call last):
            ...
        driftanchor.errors.InvalidInput: gap of element 1 must be greater than 0, got -0.1
    """
    try:
        raw = np.asarray(value)
    except ValueError:
        raise InvalidInput(
            f"must be an array, got the ragged {shown(value)}", argument=name
        ) from None
    if raw.dtype.kind not in "iuf":
        raise InvalidInput(f"must be numbers, got {shown(value)}", argument=name)
    x = raw.astype(np.float64)
    good = (x >= low) & (x <= high)
    if not infinite:
        good &= np.isfinite(x)
    if above > -math.inf:
        good &= x > above
    if not good.all():
        at = np.unravel_index(int(np.argmin(good)), good.shape)
        limits: Any = {"low": low, "high": high, "above": above, "infinite": infinite}
        check.number(raw[at], name, of=f"element {', '.join(map(str, at))}" if at else "", **limits)
    return x


def fit(**arrays: npt.ArrayLike) -> None:
    """Say which arrays cannot be broadcast together, where NumPy would only give shapes.

    Example:
        >>> fit(gap=np.ones(3), omega=np.ones(2))
        Traceback (most recent call last):
            ...
        driftanchor.errors.InvalidInput: shapes do not fit together: gap (3,), omega (2,)
    """
    try:
        np.broadcast_shapes(*map(np.shape, arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(x)}" for name, x in arrays.items() if np.ndim(x))
        raise InvalidInput(f"shapes do not fit together: {shapes}") from None


def per_squared_gap(x: npt.ArrayLike, gap: Floats) -> Floats:
    """The quotient x/Δ²; infinite where a tiny gap makes it so, 0 where x is."""
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(x, np.float64) / gap / gap)


def positive_part(x: npt.ArrayLike) -> Floats:
    """The larger of x and 0, always as an array."""
    return np.asarray(np.maximum(x, 0.0))
