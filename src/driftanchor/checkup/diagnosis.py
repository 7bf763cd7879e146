"""Diagnosis: what a check found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

FINE, MISSING, PROBLEM = "fine", "missing", "problem"


@dataclass(frozen=True)
class Diagnosis:
    """What a check found.

    Attributes:
        name: What was looked at, such as `"extra fast"`.
        status: `"fine"`; `"missing"` for what is optional and not there; or `"problem"` for what
            will hurt.
        found: What is there.
        advice: What that costs, and what to do; empty where there is nothing to do.
    """

    name: str
    status: str
    found: str
    advice: str = ""


def fine(name: str, found: str, advice: str = "") -> Diagnosis:
    """All is well."""
    return Diagnosis(name, FINE, found, advice)


def missing(name: str, found: str, advice: str) -> Diagnosis:
    """Something optional is not there."""
    return Diagnosis(name, MISSING, found, advice)


def problem(name: str, found: str, advice: str) -> Diagnosis:
    """Something will hurt."""
    return Diagnosis(name, PROBLEM, found, advice)


def sized(size: float) -> str:
    """A number of bytes, in words.

    Example:
        >>> [sized(x) for x in (0, 999, 12_345, 300e6, 4.56e12)]
        ['0 bytes', '999 bytes', '12.3 kB', '300 MB', '4.56 TB']
    """
    if size < 1_000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1_000
        if size < 999.5:
            return f"{size:.3g} {unit}"
    return f"{size / 1_000:.3g} TB"
