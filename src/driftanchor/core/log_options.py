"""The options for reading logs, in one table.

`LogOptions` is the table. Each entry has the name of an option, its Python type and a `LogOption`
that describes the option. Python functions take the options as keyword arguments. The command-line
flags and the list of options in docs/how-to/logs.md come from the same table.
`driftanchor.logs.query` validates the values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, Required, TypedDict, get_type_hints

Kind = Literal["column", "text", "labels", "range", "number", "flag", "folder"]
Group = Literal["columns", "rows", "limits", "output"]


@dataclass(frozen=True)
class LogOption:
    """Description of one option for reading logs, for the command line and the docs.

    Attributes:
        group: Heading in the help text.
        help: Help text.
        kind: Type of the value on the command line.
        metavar: Placeholder for the value in help texts.
        default: Default value.
        flags: Names on the command line; if empty, the Python name with dashes.
    """

    group: Group
    help: str
    kind: Kind = "text"
    metavar: str = ""
    default: str | bool | None = None
    flags: tuple[str, ...] = ()


def _column(help: str) -> LogOption:
    return LogOption("columns", help, "column", "COLUMN")


def _flag(group: Group, help: str) -> LogOption:
    return LogOption(group, help, "flag", default=False)


class LogOptions(TypedDict, total=False):
    """Keyword arguments of `OfflineData.from_logs`, `read_logs` and `read_periods`.

    `arm` is required, plus either `reward`, or `count` with one of `total` and `mean`.
    """

    arm: Annotated[Required[str], _column("The arm of each row.")]
    reward: Annotated[str | None, _column("The reward, if a row is one event.")]
    count: Annotated[str | None, _column("How many events a row counts, such as impressions.")]
    total: Annotated[str | None, _column("The sum of their rewards, such as clicks.")]
    mean: Annotated[str | None, _column("The mean of their rewards, instead of the total.")]
    variance: Annotated[
        str | None, _column("The sample variance of their rewards, beside the mean.")
    ]
    time: Annotated[
        str | None,
        _column("When it happened: dates, timestamps, ISO text, or seconds since 1970."),
    ]
    where: Annotated[
        str | None,
        LogOption(
            "rows", "Rows to keep, such as \"country = 'DE' and age >= 18\".", metavar="FILTER"
        ),
    ]
    since: Annotated[
        str | date | None,
        LogOption("rows", "Keep rows from this time on; UTC if it has no zone.", metavar="TIME"),
    ]
    until: Annotated[
        str | date | None,
        LogOption("rows", "Keep rows before this time; UTC if it has no zone.", metavar="TIME"),
    ]
    arms: Annotated[
        Iterable[str] | None,
        LogOption(
            "rows", "Labels of the arms to keep, such as A,B, in this order.", "labels", "LIST"
        ),
    ]
    reward_range: Annotated[
        tuple[float, float] | None,
        LogOption(
            "limits",
            "Lowest and highest possible reward; rows outside are rejected.",
            "range",
            "LO HI",
            flags=("--range", "--reward-range"),
        ),
    ]
    max_rows: Annotated[
        int | None, LogOption("limits", "Refuse logs with more rows than this.", "number", "N")
    ]
    allow_rejects: Annotated[
        bool, _flag("limits", "Continue if more than 1 % of the rows cannot be used.")
    ]
    allow_growth: Annotated[
        bool, _flag("limits", "Continue if counts only grow with time, as running totals do.")
    ]
    root: Annotated[
        str | os.PathLike[str] | None,
        LogOption("limits", "Refuse files outside this folder.", "folder", "FOLDER"),
    ]
    format: Annotated[
        str | None,
        LogOption(
            "limits", "csv, jsonl or parquet, if the file names do not say so.", metavar="NAME"
        ),
    ]
    memory: Annotated[
        str,
        LogOption(
            "limits",
            "How much memory reading files may use.",
            metavar="SIZE",
            default="400MB",
        ),
    ]
    full_hash: Annotated[bool, _flag("output", "Hash large files whole, not only parts of them.")]


def _table() -> dict[str, LogOption]:
    hints = get_type_hints(LogOptions, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


LOG_OPTIONS = _table()


def flags_of(name: str) -> tuple[str, ...]:
    """Return the command-line names of an option; error messages use the first name.

    Example:
        >>> flags_of("max_rows"), flags_of("reward_range")
        (('--max-rows',), ('--range', '--reward-range'))
    """
    return LOG_OPTIONS[name].flags or (f"--{name.replace('_', '-')}",)


def markdown_table() -> str:
    """Return the options for reading logs as a Markdown table, for the docs."""
    lines = ["| Python | command line | what it does |", "|---|---|---|"]
    for name, option in LOG_OPTIONS.items():
        typed = [f"{flag} {option.metavar}".strip() for flag in flags_of(name)]
        flags = " or ".join(f"`{text}`" for text in typed)
        default = f" Default: {option.default}." if isinstance(option.default, str) else ""
        lines.append(f"| `{name}` | {flags} | {option.help}{default} |")
    return "\n".join(lines)
