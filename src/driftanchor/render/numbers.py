"""Numbers as text: rounded for sentences and tables, precise for data, plain as typed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral

MISSING = "–"
ROUNDING = 1e-12  # what is smaller is left over from adding numbers up


def rounded(x: float) -> str:
    """A number to about three figures.

    Example:
        >>> [rounded(x) for x in (1234.5, -215.2, 33.33, 1.5, 0.01234, float("nan"))]
        ['1,234', '−215', '33.3', '1.50', '0.0123', '–']
    """
    if x != x:
        return MISSING
    size = abs(x)
    if size < ROUNDING:
        return "0"
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    text = f"{x:,.{digits}f}" if size >= 1 else f"{x:.3g}"
    return text.replace("-", "−")


def with_error(x: float, error: float) -> str:
    """A number with its standard error, to the digits that the error leaves meaning.

    An error that is left over from adding up equal numbers is none.

    Example:
        >>> with_error(19.3482, 0.4213), with_error(1254.2, 12.3), with_error(7.0, float("nan"))
        ('19.3 ± 0.4', '1,254 ± 12', '7.00')
        >>> with_error(0.3 * 400, 2e-14)
        '120'
    """
    if not ROUNDING * max(1.0, abs(x)) < error < math.inf:
        return rounded(x)
    size = math.floor(math.log10(error))
    digits = max(0, (1 if error < 2 * 10.0**size else 0) - size)
    return f"{x:,.{digits}f} ± {error:,.{digits}f}".replace("-", "−")


def percent(share: float) -> str:
    """A share in per cent, to two figures.

    Example:
        >>> [percent(x) for x in (1.0, 0.123, 0.0035, 0.0)]
        ['100 %', '12 %', '0.35 %', '0 %']
    """
    if share != share:
        return MISSING
    return f"{round(100 * share) if share >= 0.095 else f'{100 * share:.2g}'} %"


def length_of_time(seconds: float) -> str:
    """A length of time in the largest unit that divides it.

    Example:
        >>> [length_of_time(x) for x in (172_800, 5_400, 1.5)]
        ['2 days', '90 minutes', '1.5 seconds']
    """
    for size, word in ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute")):
        if seconds >= size and seconds % size == 0:
            return count(int(seconds // size), word)
    return f"{seconds:g} seconds"


def interval(low: float, high: float) -> str:
    """The two ends of an interval, rounded.

    Example:
        >>> interval(9.5, 14.5)
        '9.50 to 14.5'
    """
    return f"{rounded(low)} to {rounded(high)}"


def precise(value: object) -> str:
    """A value of a data table: six digits of a number, a dash where there is none.

    Example:
        >>> [precise(x) for x in (1234567, 2 / 3, float("nan"), None, "A")]
        ['1,234,567', '0.666667', '–', '–', 'A']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):  # NumPy's whole numbers too
        return f"{int(value):,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def plain(value: object) -> str:
    """A setting as people write it.

    Example:
        >>> plain(2000), plain(0.3), plain(1.0), plain([0.5, 0.25]), plain("uniform")
        ('2,000', '0.3', '1', '0.5, 0.25', 'uniform')
    """
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain(x)}" for key, x in value.items())
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def count_range(numbers: Iterable[int], thing: str) -> str:
    """Numbers of things, from the least to the most.

    Example:
        >>> count_range([2000, 8000, 2000], "run"), count_range([5], "run")
        ('2,000 to 8,000 runs', '5 runs')
    """
    found = sorted(numbers)
    least = "" if found[0] == found[-1] else f"{found[0]:,} to "
    return least + count(found[-1], thing)


def count(n: int, thing: str) -> str:
    """A number of things.

    Example:
        >>> count(1, "run"), count(2000, "run")
        ('1 run', '2,000 runs')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
