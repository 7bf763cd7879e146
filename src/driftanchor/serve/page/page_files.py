"""The files of the page, as they are sent: read once, each with a tag."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from driftanchor.render.palette import BLACK, SERIES
from driftanchor.serve.responses import tag_of

TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
LIGHTER = "#E8EAED"  # stands for black where the background is dark
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class File(NamedTuple):
    """One file."""

    body: bytes
    media: str
    tag: str


@cache
def static() -> dict[str, File]:
    """All files of the page by name."""
    folder = files("driftanchor.serve.page") / "static"
    found = {
        entry.name: _file(entry.name, entry.read_bytes())
        for entry in folder.iterdir()
        if entry.name.rpartition(".")[2] in TYPES
    }
    return {**found, "palette.css": _file("palette.css", palette_css().encode())}


def palette_css() -> str:
    """The colours of `render.palette` as variables, so that they are written in one place.

    Example:
        >>> palette_css().splitlines()[1]
        '  --series-1: #0072B2;'
    """
    light = [f"  --series-{i}: {look.colour};" for i, look in enumerate(SERIES, 1)]
    dark = [
        f"  --series-{i}: {LIGHTER};" for i, look in enumerate(SERIES, 1) if look.colour == BLACK
    ]
    rules = [":root {", *light, "}", ':root[data-theme="dark"] {', *dark, "}"]
    return "\n".join(rules) + "\n"


def _file(name: str, body: bytes) -> File:
    return File(body, TYPES[name.rpartition(".")[2]], tag_of(body))
