"""Arms: the public interface uses labels, the internal code uses integer columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from driftanchor.core import check
from driftanchor.errors import InvalidInput, UnknownName, shown

MAX_ARMS = 10**6  # more arms would exhaust memory and are surely a mistake
MAX_LABEL_LENGTH = 1_000


@dataclass(frozen=True)
class Arms(Sequence[str]):
    """The labels of the arms, in order. The position of a label is the arm's column everywhere.

    Example:
        >>> arms = Arms(["A", "B"])
        >>> arms.column("B"), arms[0], len(arms)
        (1, 'A', 2)
    """

    labels: tuple[str, ...]

    def __init__(self, labels: Iterable[str]) -> None:
        names = check.ordered(labels, "arms")
        if not names:
            raise InvalidInput("is empty: name at least one arm", argument="arms")
        seen: dict[str, int] = {}
        for column, label in enumerate(names):
            if not isinstance(label, str):
                raise InvalidInput(
                    f"must be text, got the label {shown(label)}: use str(label)", argument="arms"
                )
            if not label.strip() or not label.isprintable():
                raise InvalidInput(
                    f"must be printable text, got the label {label!r}", argument="arms"
                )
            if len(label) > MAX_LABEL_LENGTH:
                raise InvalidInput(
                    f"has a label of {len(label):,} characters, {shown(label)}: use at most "
                    f"{MAX_LABEL_LENGTH:,}",
                    argument="arms",
                )
            if label in seen:
                raise InvalidInput(
                    f"has the label {label!r} twice (positions {seen[label] + 1} and "
                    f"{column + 1}): labels must differ",
                    argument="arms",
                )
            seen[label] = column
        object.__setattr__(self, "labels", tuple(seen))
        object.__setattr__(self, "_columns", seen)

    @classmethod
    def numbered(cls, count: int) -> Arms:
        """Return arms labelled 1, 2, …, as in the paper."""
        return cls(str(i + 1) for i in range(check.whole(count, "arms", low=1, high=MAX_ARMS)))

    def column(self, label: object, argument: str = "arm") -> int:
        """Return the column of a label.

        Args:
            label: The label.
            argument: Name of the caller's argument, for the error message.

        Raises:
            UnknownName: No arm has this label; the message suggests the nearest one.
            InvalidInput: The label is not text.
        """
        columns: dict[object, int] = self.__dict__["_columns"]
        if isinstance(label, str) and label in columns:
            return columns[label]
        if isinstance(label, str):
            raise UnknownName("arm", label, self.labels, argument=argument)
        raise InvalidInput(
            f"must be the text of a label, got {shown(label)}: use one of {shown(self.labels)}",
            argument=argument,
        )

    def with_arm(self, label: str) -> Arms:
        """Return a copy of these arms with a new arm in the last column."""
        return Arms([*self.labels, label])

    @overload
    def __getitem__(self, column: int) -> str: ...
    @overload
    def __getitem__(self, column: slice) -> tuple[str, ...]: ...
    def __getitem__(self, column: int | slice) -> str | tuple[str, ...]:
        return self.labels[column]

    def __contains__(self, label: object) -> bool:
        columns: dict[object, int] = self.__dict__["_columns"]
        return label in columns

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)


def valid_arms(value: object) -> Arms:
    """Return the value if it is an `Arms`; reject anything else, such as a list of labels."""
    if not isinstance(value, Arms):
        raise InvalidInput(
            f"must be Arms such as Arms(['A', 'B']), got {shown(value)}", argument="arms"
        )
    return value
