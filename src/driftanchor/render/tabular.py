"""Tabular: what people see of a result in a notebook, in a terminal and as a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driftanchor.render.data_frame import to_frame
from driftanchor.render.notebook import html_table
from driftanchor.render.printable import printable


class Tabular:
    """A result that people look at: one line in a terminal, a small table in a notebook.

    A subclass says what is in the line and in the table.
    """

    def _line(self) -> str:
        """What it is, in one line."""
        raise NotImplementedError

    def _columns(self) -> Mapping[str, Sequence[object]]:
        """The table: the values of each column by its name; `None` for what is not known."""
        raise NotImplementedError

    def _caption(self) -> str:
        """What stands above the table in a notebook."""
        return f"{type(self).__name__}: {self._line()}"

    def to_frame(self) -> Any:
        """The table that notebooks show, as a pandas or polars frame, whichever is installed."""
        return to_frame(self._columns())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {printable(self._line())}>"

    def _repr_html_(self) -> str:
        columns = {name.replace("_", " "): x for name, x in self._columns().items()}
        return html_table(columns, self._caption())


def known(values: Iterable[float]) -> list[object]:
    """The values, with `None` in place of NaN: data frames show both alike, tables do not.

    Example:
        >>> known([0.5, float("nan")])
        [0.5, None]
    """
    return [None if x != x else x for x in values]
