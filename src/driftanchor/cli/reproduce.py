"""`driftanchor reproduce`: the paper's experiments, figures, claims and report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, outputs, parse
from driftanchor.cli.progress import cells_bar
from driftanchor.errors import InvalidInput
from driftanchor.render.numbers import percent, rounded
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.experiments.reproduction import Reproduction

A_CLAIM_FAILS = 10
WRITTEN = ("*.html", "*.md", "*.json", "results/*.csv", "figures/*.*", "cells/*.*")


def _experiments(incomplete: str) -> list[str]:
    """Shell completion, which imports the experiments only when a shell asks."""
    from driftanchor.experiments.spec import paper_experiments

    return [name for name in paper_experiments() if name.startswith(incomplete)]


Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME|FILE.toml",
        help="Experiments of the paper (fig1, fig2, …), or files of your own.",
        show_default="all of the paper's",
        autocompletion=_experiments,
    ),
]
Out = Annotated[
    Path,
    typer.Option(metavar="DIR", help="The folder for all results.", rich_help_panel=opt.OUTPUT),
]
Runs = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Number of runs of each policy in each cell; no runs are added to decide a claim.",
        show_default="as the files say",
        rich_help_panel=opt.EFFORT,
    ),
]
Horizon = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Number of rounds in a run.",
        show_default="as the files say",
        rich_help_panel=opt.EFFORT,
    ),
]
CurveRuns = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Draw curves from the first N runs only; the paper has 50.",
        show_default="all runs",
        rich_help_panel=opt.OUTPUT,
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="GLOB",
        help="Run only the cells whose id matches, such as 'fig2/offline=*'; repeat for several.",
        rich_help_panel=opt.EFFORT,
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="Run a tiny version in seconds to see that everything works. Its numbers mean "
        "nothing.",
        rich_help_panel=opt.EFFORT,
    ),
]
AllowImport = Annotated[
    bool,
    typer.Option(
        "--allow-import",
        help="Let your files import policies from modules and files that they name. That runs "
        "code: allow it only for files you trust.",
        rich_help_panel=opt.POLICIES,
    ),
]
Claims = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Judge the claims in this TOML file too, about cells of the paper or of your files.",
        rich_help_panel=opt.OUTPUT,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Exit with code 10 if a claim fails.", rich_help_panel=opt.OUTPUT
    ),
]


def reproduce(
    names: Names = None,
    out: Out = Path("out"),
    runs: Runs = None,
    horizon: Horizon = None,
    seed: opt.Seed = "0",
    only: Only = None,
    quick: Quick = False,
    curve_runs: CurveRuns = None,
    allow_import: AllowImport = False,
    cluster: opt.Cluster = None,
    claims: Claims = None,
    raw_csv: opt.RawCsv = False,
    strict: Strict = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Run the paper's experiments, draw its figures and judge its claims.

    Writes report.html, report.md, claims.json, manifest.json, figures/, tables/ and results/ to
    DIR. Finished runs are kept in DIR/cells: after an interruption, the same command continues
    where it stopped.

    Examples:
      driftanchor reproduce
      driftanchor reproduce --quick
      driftanchor reproduce fig1 --runs 200 --out fig1 --json
      driftanchor reproduce fig2 --only 'fig2/delta=*'
      driftanchor reproduce my.toml --allow-import
      driftanchor reproduce fig1 --claims my_claims.toml
    """
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"--out {str(out)!r} is not a folder")
    files = [name for name in names or [] if name.endswith(".toml")]
    outputs.refuse_inputs("--out", (path for each in WRITTEN for path in out.glob(each)), files)
    effort: dict[str, Any] = {
        "runs": None if runs is None else parse.number(runs, "--runs"),
        "horizon": None if horizon is None else parse.number(horizon, "--horizon"),
        "seed": parse.number(seed, "--seed"),
        "quick": quick,
    }
    wanted: dict[str, Any] = {
        "names": names or [],
        "only": only or [],
        "allow_import": allow_import,
        "claims": claims,
        "curve_runs": None if curve_runs is None else parse.number(curve_runs, "--curve-runs"),
    }
    try:
        found, report = _run({**wanted, **effort}, out, cluster, quiet, escape_formulas=not raw_csv)
    except KeyboardInterrupt as error:
        error.add_note("finished runs are kept, and the same command continues from there")
        raise
    _show(found, report, as_json=as_json)
    output.say(f"report: {report}", quiet=quiet)
    if strict and any(judged.verdict == "fails" for judged in found.judged):
        raise typer.Exit(A_CLAIM_FAILS)


def _run(
    wanted: dict[str, Any],
    out: Path,
    cluster: str | None,
    quiet: bool,
    *,
    escape_formulas: bool,
) -> tuple[Reproduction, Path]:
    from driftanchor.experiments import reproduce as work
    from driftanchor.experiments.selection import Selection

    selection = Selection(**wanted)
    with (
        output.plain_warnings(quiet=quiet),
        cells_bar(quiet=quiet) as progress,
    ):
        found = work.run(selection, out, progress.step, progress.finished, progress.more, cluster)
        report = work.write(found, out, escape_formulas=escape_formulas)
    if progress.seconds:
        output.say(progress.summary(), quiet=quiet)
    return found, report


def _show(found: Reproduction, report: Path, *, as_json: bool) -> None:
    if as_json:
        output.show_json({**found.to_json(), "report": os.path.relpath(report)})
        return
    from driftanchor.experiments import verdicts

    tables = [group.table() for group in verdicts.groups(found)]
    for table in tables or [_statistics(found)]:
        output.show_table(table)
    for stamp in found.stamps():
        output.show_text(stamp)


def _statistics(found: Reproduction) -> Table:
    """What is shown when no claim is about what was run."""
    from driftanchor.experiments.figures.drawing import names_of
    from driftanchor.experiments.number_tables import cell_name
    from driftanchor.simulation.result import STATISTICS

    rows = [
        (
            cell_name(cell, experiment),
            names_of([cell])[label],
            *(rounded(numbers[name]) for name in STATISTICS),
            percent(numbers["stuck"]),
        )
        for experiment in found.experiments
        for cell in experiment.cells
        for label, numbers in found.statistics(cell).items()
    ]
    return Table(
        "regret at the horizon",
        ("cell", "policy", "mean", "± se", "median", "q90", "q99", "max", "stuck"),
        tuple(rows),
        text=frozenset({0, 1}),
    )
