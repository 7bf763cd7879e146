"""The static files of the page, cached with their ETags, and their HTTP headers."""

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
LIGHT_GREY = "#E8EAED"  # replaces black on a dark background
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
    """A file."""

    body: bytes
    media: str
    tag: str


@cache
def static() -> dict[str, File]:
    """Return all files of the page by name."""
    folder = files("driftanchor.serve.page") / "static"
    bodies = {
        entry.name: entry.read_bytes()
        for entry in folder.iterdir()
        if entry.name.rpartition(".")[2] in TYPES
    }
    bodies["palette.css"] = palette_css().encode()
    return {
        name: File(body, TYPES[name.rpartition(".")[2]], tag_of(body))
        for name, body in bodies.items()
    }


def palette_css() -> str:
    """Return the colours of `render.palette` as CSS variables.

    Example:
        >>> palette_css().splitlines()[1]
        '  --series-1: #0072B2;'
    """
    light = [f"  --series-{i}: {look.colour};" for i, look in enumerate(SERIES, 1)]
    dark = [
        f"  --series-{i}: {LIGHT_GREY};" for i, look in enumerate(SERIES, 1) if look.colour == BLACK
    ]
    rules = [":root {", *light, "}", ':root[data-theme="dark"] {', *dark, "}"]
    return "\n".join(rules) + "\n"
