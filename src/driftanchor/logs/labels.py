"""Values of the arm's column as labels."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

LONGEST = 1_000  # characters: a longer label is some other column
FEW = 3  # labels that a warning names


def label_of(value: object) -> str:
    """The label of an arm, whatever type its column has.

    Example:
        >>> [label_of(value) for value in ("A", 3, 3.0, True)]
        ['A', '3', '3', 'true']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        return str(int(value))  # pandas makes floats of whole numbers when one is missing
    return value.isoformat() if isinstance(value, date) else str(value)


def label_problem(value: object) -> str | None:
    """Why a value is no label, if it is none."""
    if value is None or value != value:
        return "arm_missing"
    label = label_of(value)
    if not label.strip():
        return "arm_missing"
    if len(label) > LONGEST:
        return "arm_too_long"
    return None if label.isprintable() else "arm_not_printable"


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels sorted; as numbers when all are whole numbers.

    Example:
        >>> in_order(["10", "9"]), in_order(["b10", "b9"])
        (['9', '10'], ['b10', 'b9'])
    """
    found = sorted(labels)
    return sorted(found, key=int) if all(x.isascii() and x.isdigit() for x in found) else found


def look_alikes(labels: Iterable[str]) -> list[str]:
    """Warnings of labels that people would take for one another.

    Example:
        >>> look_alikes(["A", "B", "a "])
        ["arms 'A' and 'a ' differ in blanks or case alone"]
    """
    first: dict[str, str] = {}
    found = []
    for label in labels:
        plain = unicodedata.normalize("NFC", label)
        other = first.setdefault(plain.strip().casefold(), label)
        if other != label:
            same = plain == unicodedata.normalize("NFC", other)
            how = "Unicode form" if same else "blanks or case"
            show = ascii if same else repr  # letters and accents apart look as letters with them
            found.append(f"arms {show(other)} and {show(label)} differ in {how} alone")
    more = len(found) - FEW
    return (
        found if more <= 0 else [*found[:FEW], f"{more:,} more arms differ from others so little"]
    )


def listed(labels: list[str]) -> str:
    """The first few labels, and how many more there are.

    Example:
        >>> listed(["A"]), listed(["A", "B", "C", "D", "E"])
        ("'A'", "'A', 'B', 'C' and 2 more")
    """
    more = f" and {len(labels) - FEW:,} more" if len(labels) > FEW else ""
    return ", ".join(repr(label) for label in labels[:FEW]) + more
