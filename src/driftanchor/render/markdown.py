"""Tables and lists as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from driftanchor.render.printable import printable
from driftanchor.render.table import Table


def escape(text: str) -> str:
    r"""Text that Markdown takes literally, in one line.

    Example:
        >>> print(escape("a < b | *c*"))
        a \< b \| \*c\*
    """
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", printable(" ".join(text.split())))


def table(content: Table) -> Iterator[str]:
    """The lines of a table without its title; cells to be marked are bold."""
    rows = (
        [
            f"**{escape(text)}**" if (r, c) in content.best else escape(text)
            for c, text in enumerate(row)
        ]
        for r, row in enumerate(content.rows)
    )
    yield from grid(map(escape, content.headings), rows)


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of a table whose cells are Markdown already, and a blank one."""
    names = list(headings)
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def pairs(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A list of names and what belongs to them, and a blank line."""
    for name, text in items:
        yield f"- {escape(name)}: {escape(text)}"
    yield ""
