"""Results as small tables: a data frame to work with, or HTML for a notebook."""

import html
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from numbers import Integral
from typing import Any

from driftanchor.errors import MissingExtra, require

LIBRARIES = ("pandas", "polars")  # in the order of preference
MOST_ROWS = 20  # of a table in a notebook

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


def html_table(columns: Columns, caption: str = "") -> str:
    """The table as HTML, as `_repr_html_` shows it; a long table shows its first rows.

    Example:
        >>> html_table({"mean": [0.5]})
        '<table><thead><tr><th>mean</th></tr></thead><tbody><tr><td>0.5</td></tr></tbody></table>'
    """
    rows = list(zip(*columns.values(), strict=True))
    left = len(rows) - MOST_ROWS
    parts = [f"<caption>{html.escape(caption)}</caption>" if caption else ""]
    parts.append(f"<thead>{_row(columns, 'th')}</thead>")
    body = "".join(_row(map(cell, row), "td") for row in rows[:MOST_ROWS])
    if left > 0:
        body += f'<tr><td colspan="{len(columns)}">… and {left:,} more</td></tr>'
    return f"<table>{''.join(parts)}<tbody>{body}</tbody></table>"


def cell(value: object) -> str:
    """A value as tables show it: six digits of a number, a dash where there is none.

    Example:
        >>> [cell(x) for x in (1234567, 2 / 3, float("nan"), None, "A")]
        ['1,234,567', '0.666667', '–', '–', 'A']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):  # NumPy's whole numbers too
        return f"{int(value):,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(x)}</{tag}>" for x in cells) + "</tr>"


def _installed(name: str) -> bool:
    """Whether a library can be imported; None among the modules says that it cannot."""
    return sys.modules[name] is not None if name in sys.modules else find_spec(name) is not None
