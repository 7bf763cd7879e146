"""What compiled code calls in place of some functions of Python.

Numba compiles `max`, `min` and `int` for every combination of types, each as a kernel of its own,
which takes longer than most functions of ours. These do the same, and become parts of a kernel. A
compiler of ours puts them in (see `parts`), so that the code of a policy says `max`.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def larger(a: Any, b: Any) -> Any:
    """As `max` of two numbers: the first of equal ones, and the first where one is NaN."""
    return b if b > a else a


def smaller(a: Any, b: Any) -> Any:
    """As `min` of two numbers."""
    return b if b < a else a


INSTEAD: dict[Any, Any] = {max: larger, min: smaller, int: np.int64}
