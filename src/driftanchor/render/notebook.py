"""Results in notebooks: small HTML tables."""

from __future__ import annotations

from collections.abc import Iterable

from driftanchor.render.data_frame import Columns
from driftanchor.render.markup import Html, tag
from driftanchor.render.numbers import precise

MOST_ROWS = 20


def html_table(columns: Columns, caption: str = "") -> str:
    """The table as HTML, as `_repr_html_` shows it; a long table shows its first rows.

    Example:
        >>> html_table({"mean": [0.5]})
        '<table><thead><tr><th>mean</th></tr></thead><tbody><tr><td>0.5</td></tr></tbody></table>'
    """
    rows = list(zip(*columns.values(), strict=True))
    left = len(rows) - MOST_ROWS
    body = [_row(map(precise, row), "td") for row in rows[:MOST_ROWS]]
    if left > 0:
        body.append(tag("tr", tag("td", f"… and {left:,} more", colspan=str(len(columns)))))
    title = [tag("caption", caption)] if caption else []
    return str(tag("table", *title, tag("thead", _row(columns, "th")), tag("tbody", *body)))


def _row(cells: Iterable[str], name: str) -> Html:
    return tag("tr", *(tag(name, text) for text in cells))
