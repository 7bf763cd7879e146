"""A TOML file whose errors name the file, the line, the key and the value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driftanchor.core import check
from driftanchor.errors import InvalidInput, UnknownName
from driftanchor.experiments.toml_lines import line_of


class TomlFile:
    """The text of a file, and checks of what is read from it."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.name = Path(file).stem

    def whole(self, table: dict[str, Any], key: str, default: int) -> int:
        """A whole number from 1."""
        try:
            return check.whole(table.get(key, default), key, low=1, high=10**12)
        except InvalidInput as error:
            raise self.error(key, table[key], error) from error

    def choice(self, table: dict[str, Any], key: str, choices: tuple[str, ...]) -> str:
        """One of a few words; the first when none is given."""
        value = table.get(key, choices[0])
        if value not in choices:
            raise self.error(key, value, UnknownName(key, value, choices))
        return str(value)

    def text_of(self, table: dict[str, Any], key: str, default: str) -> str:
        """A text."""
        value = table.get(key, default)
        if not isinstance(value, str):
            raise self.error(key, value, "give a text")
        return value

    def check_keys(self, table: dict[str, Any], known: tuple[str, ...], kind: str) -> None:
        """Refuse unknown keys."""
        for key, value in table.items():
            if key not in known:
                raise self.error(key, value, UnknownName(kind, key, known))

    def error(self, key: str, value: Any, why: object) -> InvalidInput:
        """An error that names file, line, key and value."""
        line = line_of(self.text, key, value)
        where = f"{self.file}, line {line}" if line else self.file
        return InvalidInput(f"{where}: {key} = {value!r}: {why}")
