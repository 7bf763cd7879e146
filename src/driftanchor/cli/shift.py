"""`driftanchor shift`: how far the arms moved between periods, and the bounds that follow."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs, parse, progress
from driftanchor.core.log_options import LogOptions
from driftanchor.errors import require
from driftanchor.render.numbers import MISSING, precise
from driftanchor.render.numbers import count as count_of
from driftanchor.render.table import Table, largest, left_out

if TYPE_CHECKING:
    from driftanchor.logs.periods import Periods
    from driftanchor.shift.suggestion import Suggestion, Tau

By = Annotated[
    str,
    typer.Option(
        metavar="PERIOD",
        help="The periods to compare: day, week or month of --time; or a column, such as country.",
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

    V bounds how far any arm moves from its logs in a new period. W bounds how far any arm moves
    beside the move that all arms share. Each holds with probability --coverage, if the new period
    differs from the past ones as they differ from one another.

    Examples:
      driftanchor shift last_year.parquet --arm variant --reward converted --time at --by week
      driftanchor shift 'tests/*.csv' --arm page --count views --total clicks --by test_id
      driftanchor shift a.csv --arm ad --reward won --by country --plot moves.svg
    """
    from driftanchor.logs.periods import read_periods
    from driftanchor.render.figure import SUFFIXES
    from driftanchor.shift import suggest

    (target,) = outputs.destinations(outputs.Wanted("--plot", plot, SUFFIXES), reads=files)
    if plot is not None:
        require("matplotlib", extra="plot", why="--plot")
    with output.plain_warnings(quiet=quiet), progress.reading(quiet=quiet):
        share = parse.number(coverage, "--coverage")
        periods = read_periods(files, by=by, **options)
        span = options.get("reward_range")
        found = suggest(periods, coverage=share, unit=_unit(by), reward_range=span)
    show = partial(_show_json if as_json else _show, found, periods, by)
    outputs.deliver(show, (target, found.plot), quiet=quiet)


def _show_json(found: Suggestion, periods: Periods, by: str) -> None:
    how = periods.provenance.to_json()
    rows = {name: how.pop(name) for name in ("rows_read", "rows_filtered", "rows_rejected")}
    output.show_json({**found.to_json(), "by": by, **rows, "provenance": how})


def _show(found: Suggestion, periods: Periods, by: str) -> None:
    output.show_table(_arms(found))
    if found.sensitivity:
        output.show_table(_moves(found))
        output.show_table(_bounds(found, _unit(by)))
    else:
        output.show_table(_guesses(found))
    notes = (f"note: {note}" for note in found.notes)
    for line in (found.meaning, found.relative_meaning, *notes):
        output.show_text(line)
    output.show_text(log.rows(periods.provenance, periods.examples))


def _unit(by: str) -> str:
    """What a period is called."""
    from driftanchor.logs.query import CALENDAR

    return by if by in CALENDAR else "period"


def _arms(found: Suggestion) -> Table:
    arms = list(found.arms.items())
    shown = [arms[i] for i in largest([arm.n for _, arm in arms])]
    rows = [
        (label, f"{arm.periods:,}", f"{arm.n:,}", precise(arm.mean), *_tau(arm.tau))
        for label, arm in shown
    ]
    total = sum(arm.n for _, arm in arms)
    rows.append(("all arms", f"{len(found.periods):,}", f"{total:,}", "", *_tau(found.tau)))
    headings = ("arm", "periods", "n", "mean", "moves by (sd)", "95 % interval")
    note = left_out(len(shown), len(arms), "with the most rewards")
    return Table("", headings, tuple(rows), note=note)


def _moves(found: Suggestion) -> Table:
    return Table(
        "",
        ("moves between periods, beyond noise", "sd", "95 % interval"),
        (
            ("common to all arms", *_tau(found.common_sd)),
            ("each arm's own", *_tau(found.own_sd)),
        ),
    )


def _bounds(found: Suggestion, unit: str) -> Table:
    """Both bounds, with what half of each and twice each would cover."""
    level = [("V", x.bias_bound, x.chance, x.past) for x in found.sensitivity]
    relative = [("W", x.relative_bound, x.chance, x.past) for x in found.relative_sensitivity]
    suggested = {"V": found.bias_bound, "W": found.relative_bound}
    rows = []
    for name, bound, chance, past in (*level, *relative):
        mark = "  (suggested)" if bound == suggested[name] else ""
        shares = (f"{100 * chance:.1f} %", f"{100 * past:.1f} %")
        rows.append((f"{name} = {bound:.4g}{mark}", *shares))
    return Table(
        "",
        ("bound", f"holds for all arms next {unit}", "past moves within, noise included"),
        tuple(rows),
        breaks=frozenset({len(level) - 1, len(rows) - 1}),
    )


def _guesses(found: Suggestion) -> Table:
    return Table(
        "",
        ("if moves are", "sd of moves / sd of a reward", "logs are worth at most", "V"),
        tuple(
            (
                guess.word,
                f"{guess.ratio:g}",
                count_of(guess.worth, "reward"),
                precise(guess.bias_bound),
            )
            for guess in found.guesses
        ),
    )


def _tau(tau: Tau | None) -> tuple[str, str]:
    if tau is None:
        return MISSING, MISSING
    return f"{tau.estimate:.4g}", f"{tau.low:.4g} to {tau.high:.4g}"
