"""Help texts from docstrings: paragraphs that a terminal can fold, and examples as they stand."""

from __future__ import annotations

import inspect

EXAMPLES = "Examples:"


def flowing(text: str) -> str:
    r"""The text with each paragraph in one line, but for lists of examples.

    Example:
        >>> print(flowing("Do it now,\nor later.\n\nExamples:\n  do it\n  do it --later"))
        Do it now, or later.
        <BLANKLINE>
        Examples:
          do it
          do it --later
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        part if part.startswith(EXAMPLES) else " ".join(part.split()) for part in paragraphs
    )
