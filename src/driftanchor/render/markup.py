"""HTML elements: text is always escaped, unless it is `Html` already."""

from __future__ import annotations

import html

from driftanchor.render.printable import printable

VOID = ("meta", "img", "source", "br", "wbr")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str) -> Html:
    """An element; children that are not `Html` are escaped, attributes always.

    Example:
        >>> tag("td", "a < b", tag("br"), class_="x")
        '<td class="x">a &lt; b<br></td>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
    )
    if name in VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{join(*children)}</{name}>")


def join(*children: str) -> Html:
    """Several pieces, escaped where they are not `Html`."""
    return Html(
        "".join(child if isinstance(child, Html) else _escaped(child) for child in children)
    )


def _escaped(text: str) -> str:
    return html.escape("\n".join(map(printable, text.split("\n"))))
