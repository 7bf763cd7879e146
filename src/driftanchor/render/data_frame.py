"""Results as data frames of pandas or polars."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from driftanchor.errors import MissingExtra, require

LIBRARIES = ("pandas", "polars")  # in the order of preference

Columns = Mapping[str, Sequence[object]]


def to_frame(columns: Columns) -> Any:
    """A pandas or polars frame, whichever is installed.

    If both are installed, the one that the program has imported is used, and pandas if it has
    imported both or neither.

    Args:
        columns: The values of each column by its name; all columns have the same length.

    Raises:
        MissingExtra: narwhals is missing, or both pandas and polars are.

    Example:
        >>> to_frame({"arm": ["A", "B"], "n": [200, 300]}).shape
        (2, 2)
    """
    narwhals = require("narwhals", extra="logs", why="to_frame")
    installed = [name for name in LIBRARIES if _installed(name)]
    if not installed:
        raise MissingExtra("to_frame needs pandas or polars: pip install pandas")
    imported = [name for name in installed if name in sys.modules]
    values = {name: list(column) for name, column in columns.items()}
    return narwhals.from_dict(values, backend=(imported or installed)[0]).to_native()


def _installed(name: str) -> bool:
    """Whether a library can be imported; None among the modules says that it cannot."""
    return sys.modules[name] is not None if name in sys.modules else find_spec(name) is not None
