"""The line of a TOML text on which a key stands, for error messages."""

from __future__ import annotations

import re


def line_of(text: str, key: str, value: object) -> int | None:
    r"""The line on which a key has this value if that is clear, else the first line with the key.

    Example:
        >>> line_of('runs = 5\nsweep.gap = 1\nsweep.gap = 2', "gap", 2)
        3
    """
    lines = [line.partition(" #")[0] for line in text.splitlines()]
    named = re.compile(rf"(^|[\s{{,\[.]){re.escape(key)}\s*[=.\]]")
    found = [n for n, line in enumerate(lines, 1) if named.search(line)]
    if not found:
        return None
    words = list(value.values()) if isinstance(value, dict) else [value]
    parts = [f'"{word}"' if isinstance(word, str) else str(word) for word in words]
    whole = [
        re.compile(rf"(?<![\w.]){re.escape(part)}(?![\w.])") for part in parts
    ]  # 0 is not in 50
    having = [n for n, line in enumerate(lines, 1) if all(part.search(line) for part in whole)]
    exact = [n for n in found if n in having]
    below = [n for n in having if n > found[0]]  # an entry of a list of several lines
    distinct = isinstance(value, str | dict)  # a number may stand anywhere
    return (exact or (below if distinct else []) or found)[0]
