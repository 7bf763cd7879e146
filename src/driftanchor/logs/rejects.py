"""The rows that cannot be used: how many for which reason, and where the first few are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from driftanchor.errors import excerpt
from driftanchor.logs import row_rules
from driftanchor.logs.aggregate import ARM, fetch
from driftanchor.logs.formats.log_format import FEW
from driftanchor.logs.frame_columns import Frame
from driftanchor.logs.query import LogQuery
from driftanchor.logs.sources import LogSource, NumberedRows

USABLE = -1  # the code of a row without a problem
HINTS = {
    "reward_missing": "if an empty reward means 0, write 0 in its place first",
    "time_unreadable": "write 2026-01-31T12:00, as in ISO 8601, or seconds since 1970",
}


@dataclass(frozen=True)
class Example:
    """A row that cannot be used; `line` counts the lines of a text file, `row` the rows."""

    reason: str
    file: str | None
    line: int | None
    row: int | None
    value: str | None

    def __str__(self) -> str:
        place = excerpt(self.file or "")
        if self.line is not None:
            place += f":{self.line}"
        elif self.row is not None:
            place += f" row {self.row}"
        return place.strip() + ("" if self.value is None else f" {self.value!r}")


@dataclass(frozen=True)
class Scope:
    """Which rows are looked at: those kept, of the arms wanted (all if none are named).

    Attributes:
        arms: Values of the arm's column that are wanted.
        no_labels: Values that are no labels, by the reason; None stands for a missing value.
    """

    query: LogQuery
    arms: Sequence[Any] | None
    no_labels: Mapping[str, Sequence[Any]]

    def of(self, frame: Frame) -> Frame:
        """The rows that are looked at."""
        kept = row_rules.kept(self.query, frame.collect_schema())
        if kept is not None:
            frame = frame.filter(kept)
        if self.arms is not None:
            strange = [value for values in self.no_labels.values() for value in values]
            frame = frame.filter(_among([*self.arms, *strange, None]))
        return frame

    def reason(self, schema: nw.Schema) -> tuple[list[str], nw.Expr]:
        """The reasons by code, and the code of a row."""
        problems = row_rules.problems(self.query, schema)
        (first, bad), *others = problems.items()
        code: Any = nw.when(bad).then(nw.lit(0))
        for number, (_, bad) in enumerate(others, start=1):
            code = code.when(bad).then(nw.lit(number))
        return [first, *(reason for reason, _ in others)], code.otherwise(nw.lit(USABLE))


def count(rows: LogSource, scope: Scope) -> dict[str, int]:
    """The rows with a problem of their values, by the first of their reasons."""
    reasons, code = scope.reason(rows.frame.collect_schema())
    coded = scope.of(rows.frame).select(code=code)
    found = fetch(coded.group_by("code").agg(nw.len().alias("rows")))
    counts = {int(row["code"]): int(row["rows"]) for row in found}
    return {reason: counts[i] for i, reason in enumerate(reasons) if counts.get(i)}


def examples(rows: LogSource, scope: Scope, counts: Mapping[str, int]) -> list[Example]:
    """The first few rows of each reason, in the order of the files."""
    found: list[Example] = []
    for part in rows.parts():
        have = Counter(example.reason for example in found)
        if all(have[reason] >= min(n, FEW) for reason, n in counts.items()):
            break
        found += _of_part(part, scope, {r: FEW - have[r] for r in counts})
    return [e for reason in counts for e in [x for x in found if x.reason == reason][:FEW]]


def first_rows(rows: LogSource, scope: Scope, what: nw.Expr, role: str) -> list[Example]:
    """The first few rows that can be used of which something holds, with a value of theirs."""
    found: list[Example] = []
    for part in rows.parts():
        frame = scope.of(part.frame).filter(row_rules.usable(scope.query) & what)
        taken = fetch(frame.select("row", value=nw.col(role)).head(FEW - len(found)))
        mine = {int(row["row"]): row["value"] for row in taken}
        lines = _lines(part, set(mine))
        name = part.file.name if part.file else None
        found += [
            Example(role, name, lines.get(row), None if row in lines else row, _short(value))
            for row, value in mine.items()
        ]
        if len(found) >= FEW:
            break
    return found


def in_words(counts: Mapping[str, int], found: Sequence[Example]) -> list[str]:
    """The reasons in words, the most frequent first, each with its examples."""
    lines = []
    for reason, n in Counter(counts).most_common():
        places = ", ".join(str(example) for example in found if example.reason == reason)
        hint = f": {HINTS[reason]}" if reason in HINTS else ""
        lines.append(f"{reason} {n:,}" + (f" ({places})" if places else "") + hint)
    return lines


def _of_part(part: NumberedRows, scope: Scope, missing: Mapping[str, int]) -> list[Example]:
    schema = part.frame.collect_schema()
    reasons, code = scope.reason(schema)
    looked_at = scope.of(part.frame)
    found: list[tuple[str, int, object]] = []  # reason, row, value
    for reason, few in missing.items():
        if reason in reasons:
            role = reason.partition("_")[0]
            bad = code == reasons.index(reason)
        elif reason in scope.no_labels:
            role, bad = "arm", (code == USABLE) & _among(scope.no_labels[reason])
        else:
            continue
        value = next((nw.col(name) for name in (f"{role} raw", role) if name in schema), None)
        shown = {"value": nw.lit(None) if value is None else value}
        rows = looked_at.filter(bad).select("row", **shown).head(max(few, 0))
        found += [(reason, int(row["row"]), row["value"]) for row in fetch(rows)]
    lines = _lines(part, {row for _, row, _ in found})
    name = part.file.name if part.file else None
    return [
        Example(reason, name, lines.get(row), None if row in lines else row, _short(value))
        for reason, row, value in found
    ] + [
        Example(reason, name, number, None, _short(text.decode(errors="replace")))
        for number, reason, text in part.rejected
    ]


def _lines(part: NumberedRows, rows: set[int]) -> dict[int, int]:
    """The numbers of the lines in which rows start, in a text file."""
    found: dict[int, int] = {}
    wanted, before = sorted(rows), 0
    for lines in part.lines() if rows else ():
        if not lines.reason:
            while wanted and wanted[0] - before <= len(lines.texts):
                row = wanted.pop(0)
                found[row] = lines.number + row - before - 1
            before += len(lines.texts)
        if not wanted:
            break
    return found


def _among(values: Sequence[Any]) -> nw.Expr:
    """Whether the arm is one of these values; None stands for a missing one."""
    present = [value for value in values if value is not None]
    if not present:
        return ARM.is_null()
    return ARM.is_in(present) | ARM.is_null() if None in values else ARM.is_in(present)


def _short(value: object) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
