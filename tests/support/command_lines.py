"""Command lines of tests, made from others."""

from __future__ import annotations


def replacing(*arguments: str, may_repeat: tuple[str, ...] = ("--policy",)) -> list[str]:
    """The arguments without options that are given again later: a line made from another one."""
    words = list(arguments)
    for option in {word for word in words if word.startswith("--")} - {*may_repeat}:
        while words.count(option) > 1:
            first = words.index(option)
            del words[first : first + 2]
    return words
