"""Values of the arm's column as labels."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

LONGEST = 1_000  # characters: a longer label is some other column


def label_of(value: object) -> str:
    """The label of an arm, whatever type its column has.

    Example:
        >>> [label_of(value) for value in ("A", 3, 3.0, True)]
        ['A', '3', '3', 'true']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | Decimal) and value == value and value == value.__trunc__():
        return str(int(value))  # pandas makes floats of whole numbers when one is missing
    return value.isoformat() if isinstance(value, date) else str(value)


def problem_of(value: object) -> str | None:
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
