"""`driftanchor logs`: aggregate log rows by arm."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs, progress
from driftanchor.core.log_options import LogOptions
from driftanchor.render.numbers import MISSING, precise
from driftanchor.render.table import Table, largest, left_out

if TYPE_CHECKING:
    from driftanchor.logs.log_summary import ArmSummary, LogSummary


By = Annotated[
    str | None,
    typer.Option(
        metavar="PERIOD",
        help="Compare arms within these: day, week or month of --time; or a column, such as "
        "country.",
        show_default="files, if there are several, and periods of --time",
        rich_help_panel=log.COLUMNS,
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the offline data, and where they come from, to this file.",
        rich_help_panel=log.OUTPUT,
    ),
]


@log.takes_log_options()
def logs(
    files: log.Files,
    *,
    options: LogOptions,
    by: By = None,
    save: Save = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Read logs and show each arm's number of rewards, mean, variance and interval.

    A row is one event with a --reward, or a summary of --count events with their --total or --mean.
    Every row is accounted for: used, filtered, or rejected for a reason. If the arms' shares of
    the rows differ between files or periods, arms are compared within each file or period.

    Examples:
      driftanchor logs last_test.parquet --arm variant --reward converted
      driftanchor logs 'logs/*.csv.gz' --arm page --count views --total clicks
      driftanchor logs a.jsonl --arm ad --reward won --time at --since 2026-01-01
      driftanchor logs a.csv --arm ad --reward won --by country
      driftanchor logs a.csv --arm ad --reward won --where "os = 'ios'" --save offline.json
    """
    from driftanchor.logs.read import read_logs

    (target,) = outputs.destinations(outputs.Wanted("--save", save), reads=files)
    with output.plain_warnings(quiet=quiet), progress.reading(quiet=quiet):
        summary = read_logs(files, by=by, **options)

    def show() -> None:
        if as_json:
            output.show_json(summary.to_json())
        else:
            output.show_table(_table(summary))
            if summary.provenance.strata is not None:
                output.show_text(summary.provenance.strata.text())
            output.show_text(log.rows(summary.provenance, summary.examples))

    outputs.deliver(show, (target, functools.partial(_save, summary)), quiet=quiet)


def _save(summary: LogSummary, path: Path) -> None:
    from driftanchor.files import write_whole

    with write_whole(path) as file:
        text = output.json_text(summary.offline.to_json(), indent=1)
        file.write_text(text + "\n", encoding="utf-8")


def _table(summary: LogSummary) -> Table:
    arms = list(summary.arms.items())
    timed = any(arm.first for _, arm in arms)
    strata = summary.provenance.strata
    is_stratified = strata is not None and strata.used == "stratified"
    pooled = {label: (n, mean) for label, n, mean in strata.pooled} if strata else {}
    headings = ["arm", "n", "mean", "variance", "95 % interval"]
    headings += ["pooled n", "pooled mean"] if is_stratified else []
    times = ["first", "last"] if timed else []
    shown = [arms[i] for i in largest([arm.n for _, arm in arms])]
    lines = [
        (label, *_cells(arm, pooled.get(label, (0, math.nan)) if is_stratified else (), timed))
        for label, arm in shown
    ]
    return Table(
        "",
        (*headings, *times),
        tuple(lines),
        note=left_out(len(shown), len(arms), "with the most rewards"),
        text=frozenset({0, *range(len(headings), len(headings) + len(times))}),
    )


def _cells(arm: ArmSummary, pooled: tuple[float, ...], timed: bool) -> list[str]:
    low, high = arm.interval or (math.nan, math.nan)
    interval = MISSING if arm.interval is None else f"{low:.5g} to {high:.5g}"
    times = [arm.first, arm.last] if timed else []
    return [
        *(precise(x) for x in (arm.n, arm.mean, arm.variance)),
        interval,
        *(precise(x) for x in pooled),
        *(f"{x:%Y-%m-%d %H:%M:%S}" if x else MISSING for x in times),
    ]
