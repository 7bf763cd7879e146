"""`driftanchor shift`: how far the arms moved between periods, and the bounds that follow."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import log_options as log
from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.core.log_options import LogOptions

if TYPE_CHECKING:
    from rich.table import Table

    from driftanchor.shift.suggestion import Suggestion, Tau

By = Annotated[
    str,
    typer.Option(
        metavar="PERIOD",
        help="The periods to compare: day, week or month of --time; or a column, such as one of "
        "countries or tests.",
        rich_help_panel=log.COLUMNS,
    ),
]
Coverage = Annotated[
    str,
    typer.Option(
        metavar="P", help="The probability with which each bound covers the moves of a new period."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Draw the moves into this file: .svg, .png or .pdf.",
        rich_help_panel=log.OUTPUT,
    ),
]


@log.takes_log_options()
def shift(
    files: log.Files,
    *,
    options: LogOptions,
    by: By,
    coverage: Coverage = "0.95",
    plot: Plot = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Suggest the bounds V and W from how far the arms moved between periods of the past.

    V covers how far any arm moves from its logs in a new period, W how far any arm moves from the
    move that all arms share. Each holds with probability --coverage, if the new period differs from
    the past ones as these differ from one another.

    Examples:
      driftanchor shift last_year.parquet --arm variant --reward converted --time at --by week
      driftanchor shift 'tests/*.csv' --arm page --count views --total clicks --by test_id
      driftanchor shift a.csv --arm ad --reward won --by country --plot moves.svg
    """
    from driftanchor.logs.periods import read_periods
    from driftanchor.logs.query import CALENDAR
    from driftanchor.shift import suggest

    target = parse.destination(plot, "--plot", (".svg", ".png", ".pdf"))
    with output.plain_warnings(quiet=quiet):
        share = parse.number(coverage, "--coverage")
        periods = read_periods(files, by=by, **options)
        unit = by if by in CALENDAR else "period"
        span = options.get("reward_range")
        found = suggest(periods, coverage=share, unit=unit, reward_range=span)
    if as_json:
        how = periods.provenance.to_json()
        rows = {name: how.pop(name) for name in ("rows_read", "rows_filtered", "rows_rejected")}
        output.show_json({**found.to_json(), "by": by, **rows, "provenance": how})
    else:
        output.show_table(_arms(found))
        if found.sensitivity:
            output.show_table(_moves(found))
            output.show_table(_bounds(found, unit))
        else:
            output.show_table(_guesses(found))
        notes = (f"note: {note}" for note in found.notes)
        for line in (found.meaning, found.relative_meaning, *notes):
            typer.echo(line)
        typer.echo(log.rows(periods.provenance, periods.examples))
    if target is not None:
        found.plot(target)
        output.say(f"wrote {target}", quiet=quiet)


def _arms(found: Suggestion) -> Table:
    from rich.text import Text

    shown = _table("arm", "periods", "n", "mean", "moves by (sd)", "95 % interval")
    for label, arm in found.arms.items():
        cells = (f"{arm.periods:,}", f"{arm.n:,}", _number(arm.mean), *_tau(arm.tau))
        shown.add_row(Text(label), *cells)
    total = sum(arm.n for arm in found.arms.values())
    shown.add_row("all arms", f"{len(found.periods):,}", f"{total:,}", "", *_tau(found.tau))
    return shown


def _moves(found: Suggestion) -> Table:
    shown = _table("moves between periods, beyond noise", "sd", "95 % interval")
    shown.add_row("common to all arms", *_tau(found.common_sd))
    shown.add_row("each arm's own", *_tau(found.own_sd))
    return shown


def _bounds(found: Suggestion, unit: str) -> Table:
    """Both bounds, with what half of each and twice each would cover."""
    shown = _table("bound", f"holds for all arms next {unit}", "past moves within, noise included")
    level = [(x.bias_bound, x.chance, x.past) for x in found.sensitivity]
    relative = [(x.relative_bound, x.chance, x.past) for x in found.relative_sensitivity]
    for name, lines, best in (
        ("V", level, found.bias_bound),
        ("W", relative, found.relative_bound),
    ):
        for bound, chance, past in lines:
            mark = "  (suggested)" if bound == best else ""
            cells = (f"{100 * chance:.1f} %", f"{100 * past:.1f} %")
            shown.add_row(f"{name} = {bound:.4g}{mark}", *cells)
        shown.add_section()
    return shown


def _guesses(found: Suggestion) -> Table:
    shown = _table("if moves are", "τ/σ", "logs are worth at most", "V")
    for guess in found.guesses:
        worth = output.count(guess.worth, "reward")
        shown.add_row(guess.word, f"{guess.ratio:g}", worth, _number(guess.bias_bound))
    return shown


def _table(first: str, *others: str) -> Table:
    from rich import box
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD)
    shown.add_column(first)
    for name in others:
        shown.add_column(name, justify="right")
    return shown


def _tau(tau: Tau | None) -> tuple[str, str]:
    if tau is None:
        return "–", "–"
    return f"{tau.estimate:.4g}", f"{tau.low:.4g} to {tau.high:.4g}"


def _number(x: float) -> str:
    return "–" if math.isnan(x) else f"{x:.6g}"
