"""CSV in all its dialects, and with lines that are no rows."""

from collections.abc import Callable, Sequence

import numpy as np

Rng = np.random.Generator
LONG_FIELD, LONG_LINE = 200_000, 2_100_000


def csv_text(rng: Rng, table: Sequence[tuple[str, str, str]]) -> tuple[bytes, list[str]]:
    """Rows as CSV, and what is odd about it."""
    delimiter = str(rng.choice(list(",\t;|"), p=[0.7, 0.1, 0.1, 0.1]))
    order = rng.permutation(4)
    quote_all = rng.random() < 0.3

    def line(fields: Sequence[str]) -> str:
        return delimiter.join(_field(fields[i], delimiter, quote_all) for i in order)

    header = line(["arm", "reward", "note", "id"])
    lines = [line([*row, str(i)]) for i, row in enumerate(table)]
    done = []
    kinds: dict[str, Callable[[], str]] = {
        "a ragged line": lambda: str(rng.choice(["A", f"A{delimiter}1", delimiter * 7 + "x"])),
        "commas at the end": lambda: _any(rng, lines, header) + delimiter * int(rng.integers(1, 3)),
        "a blank line": lambda: str(rng.choice(["", "  ", " \t" if delimiter != "\t" else " "])),
        "the names again": lambda: str(
            rng.choice([header, "\ufeff" + header, header.replace('"', "")])
        ),
        "an open quote": lambda: '"' + _any(rng, lines, header),
        "a quote in the middle": lambda: _with_quote(rng, _any(rng, lines, header)),
        "blanks around quotes": lambda: delimiter.join([' "A" ', ' "1"', '"1" ', "x"]),
        "a long field": lambda: line(["A", "1", "n" * LONG_FIELD, "x"]),
        "a long line": lambda: line(["A", "1", "n" * LONG_LINE, "x"]),
    }
    chances = np.array([3, 2, 2, 2, 2, 3, 1, 0.5, 0.2])
    chosen = rng.choice(list(kinds), 3, replace=False, p=chances / chances.sum())
    for kind in chosen[: rng.choice([0, 1, 2, 3], p=[0.3, 0.4, 0.2, 0.1])]:
        for _ in range(int(rng.integers(1, 3))):
            lines.insert(int(rng.integers(0, len(lines) + 1)), kinds[str(kind)]())
        done.append(str(kind))
    ends = [str(rng.choice(["\n", "\r\n", "\r"], p=[0.6, 0.3, 0.1]))]
    if rng.random() < 0.15:
        ends = ["\n", "\r\n"]
        done.append("mixed line ends")
    text = "".join(x + ends[int(rng.integers(0, len(ends)))] for x in [header, *lines])
    if rng.random() < 0.3:
        text = text.rstrip("\r\n")
    return ("\ufeff" * (rng.random() < 0.1) + text).encode(), done


def _any(rng: Rng, lines: Sequence[str], header: str) -> str:
    return lines[int(rng.integers(0, len(lines)))] if lines else header


def _with_quote(rng: Rng, line: str) -> str:
    at = int(rng.integers(0, len(line) + 1))
    return line[:at] + '"' + line[at:]


def _field(text: str, delimiter: str, always: bool) -> str:
    if always or any(c in text for c in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text
