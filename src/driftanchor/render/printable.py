"""Text of users that is safe to show: no control characters, nothing that is not Unicode."""

from __future__ import annotations

import re

# Controls, what reverses the direction of writing, line and paragraph ends, halves of a character.
# Joiners stay: emoji and some scripts need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""The text in one line, with characters that a terminal would obey written as escapes.

    Example:
        >>> print(printable("red\x1b[31m, two\nlines, \udcff of a file name, and é"))
        red\x1b[31m, two\nlines, \udcff of a file name, and é
    """
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)
