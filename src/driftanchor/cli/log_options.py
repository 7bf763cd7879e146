"""The options that say what to read from logs: their names and help, and what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from driftanchor.cli import parse

if TYPE_CHECKING:
    from driftanchor.core.hooks import LogOptions
    from driftanchor.core.provenance import Provenance
    from driftanchor.logs.rejects import Example

COLUMNS = "The columns"
FILTERS = "Which rows"
LIMITS = "Limits"
OUTPUT = "Output"


def _column(help: str) -> object:
    return typer.Option(metavar="COLUMN", help=help, rich_help_panel=COLUMNS)


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="CSV, Parquet or JSON lines; patterns such as 'logs/*.csv'."
    ),
]
Arm = Annotated[str, _column("Which arm a row is of.")]
ArmOfLogs = Annotated[str | None, _column("Which arm a row is of; not for saved offline data.")]
Reward = Annotated[str | None, _column("The reward, when a row is one event.")]
Count = Annotated[str | None, _column("How many events a row stands for, as impressions.")]
Total = Annotated[str | None, _column("The sum of their rewards, as clicks.")]
Mean = Annotated[str | None, _column("Their mean reward, instead of --total.")]
Variance = Annotated[str | None, _column("The sample variance of their rewards, with --mean.")]
Time = Annotated[
    str | None, _column("When it was: dates, timestamps, ISO text or seconds since 1970.")
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="FILTER",
        help="Rows to keep, such as \"country = 'DE' and age >= 18\".",
        rich_help_panel=FILTERS,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Rows at or after this time.", rich_help_panel=FILTERS),
]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Rows before this time.", rich_help_panel=FILTERS),
]
Arms = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="Labels to keep, comma separated.", rich_help_panel=FILTERS),
]
Range = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--range",
        "--reward-range",
        metavar="LO HI",
        help="Lowest and highest reward possible; rows outside are rejected.",
        rich_help_panel=LIMITS,
    ),
]
MaxRows = Annotated[
    str | None,
    typer.Option(metavar="N", help="Refuse logs with more rows than this.", rich_help_panel=LIMITS),
]
AllowRejects = Annotated[
    bool,
    typer.Option(
        "--allow-rejects",
        help="Go on when more than 1 % of the rows cannot be used.",
        rich_help_panel=LIMITS,
    ),
]
AllowGrowth = Annotated[
    bool,
    typer.Option(
        "--allow-growth",
        help="Go on when counts only grow with time, as running totals do.",
        rich_help_panel=LIMITS,
    ),
]
Root = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Refuse files outside this folder.", rich_help_panel=LIMITS
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="csv, parquet or jsonl, when the names of the files do not say.",
        rich_help_panel=LIMITS,
    ),
]
Memory = Annotated[
    str,
    typer.Option(metavar="SIZE", help="What reading may use.", rich_help_panel=LIMITS),
]
FullHash = Annotated[
    bool,
    typer.Option(
        "--full-hash", help="Hash large files whole, not by samples.", rich_help_panel=OUTPUT
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the offline data and where they come from.",
        rich_help_panel=OUTPUT,
    ),
]


def options(given: Mapping[str, Any]) -> LogOptions:
    """What a command was told, as `read_logs` takes it; what was left out is left out.

    Args:
        given: The local variables of the command, of which those named like options count.
    """
    from driftanchor.core.hooks import LogOptions

    told = {name: given[name] for name in LogOptions.__annotations__}
    told = {name: value for name, value in told.items() if value not in (None, False)}
    if "reward_range" in told:
        told["reward_range"] = tuple(parse.number(x, "--range") for x in told["reward_range"])
    if "max_rows" in told:
        told["max_rows"] = parse.number(told["max_rows"], "--max-rows")
    if "arms" in told:
        told["arms"] = [label.strip() for label in told["arms"].split(",")]
    return cast("LogOptions", told)


def rows(how: Provenance, examples: Sequence[Example]) -> str:
    """What became of the rows."""
    from driftanchor.logs.rejects import told

    counts = dict(how.rows_rejected)
    first = (
        f"{how.rows_read:,} rows read, {how.rows_filtered:,} filtered, "
        f"{sum(counts.values()):,} rejected, {how.rows_used:,} used"
    )
    return "\n".join([first, *(f"rejected: {line}" for line in told(counts, examples))])
