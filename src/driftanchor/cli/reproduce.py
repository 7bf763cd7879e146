"""`driftanchor reproduce`: the paper's experiments, figures, claims and report."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.errors import InvalidInput

if TYPE_CHECKING:
    from rich.table import Table

    from driftanchor.experiments.reproduction import Reproduction

A_CLAIM_FAILS = 10
INTERRUPTED = 130
COLOURS = {"holds": "green", "fails": "red", "inconclusive": "yellow"}


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
        help="Number of runs of each policy in each cell.",
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
        help="Run a tiny version in seconds, to see that everything works; it is no evidence.",
        rich_help_panel=opt.EFFORT,
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
    cluster: opt.Cluster = None,
    strict: Strict = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Run the paper's experiments, draw its figures and judge its claims.

    Leaves report.html, report.md, claims.json, manifest.json, figures/ and results/ in DIR, and
    what was run in cells/: the same command after an interruption goes on where it was.

    Examples:
      driftanchor reproduce
      driftanchor reproduce --quick
      driftanchor reproduce fig1 --runs 200 --out fig1 --json
      driftanchor reproduce fig2 --only 'fig2/delta=*'
      driftanchor reproduce my.toml
    """
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"--out {str(out)!r} is not a folder")
    effort: dict[str, Any] = {
        "runs": None if runs is None else parse.number(runs, "--runs"),
        "horizon": None if horizon is None else parse.number(horizon, "--horizon"),
        "seed": parse.number(seed, "--seed"),
    }
    try:
        found, report = _run(names or [], only or [], quick, effort, out, cluster, quiet)
    except KeyboardInterrupt:
        typer.echo(
            "interrupted: what was finished is kept, and the same command goes on from there",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    _show(found, report, as_json=as_json)
    output.say(f"report: {report}", quiet=quiet)
    if strict and any(judgement.verdict == "fails" for judgement in found.judgements):
        raise typer.Exit(A_CLAIM_FAILS)


def _run(
    names: Sequence[str],
    only: Sequence[str],
    quick: bool,
    effort: dict[str, Any],
    out: Path,
    cluster: str | None,
    quiet: bool,
) -> tuple[Reproduction, Path]:
    from driftanchor.experiments import reproduce as work

    plan = work.Plan(names=names, only=only, quick=quick, **effort)
    with (
        output.plain_warnings(quiet=quiet),
        _progress_bar(quiet=quiet) as progress,
    ):
        stopwatch = Stopwatch(progress)
        found = work.run(plan, out, stopwatch, cluster)
        report = work.write(found, out)
    if stopwatch.seconds:
        output.say(stopwatch.told(), quiet=quiet)
    return found, report


class Stopwatch:
    """Passes progress on, and keeps how long each experiment took."""

    def __init__(self, then: Callable[[str, int, int], None] | None) -> None:
        self.then = then
        self.seconds: dict[str, float] = {}
        self.last = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        """What has just been done took the time since the last call."""
        now = time.monotonic()
        name = what.partition("/")[0]
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now
        if self.then is not None:
            self.then(what, done, total)

    def told(self) -> str:
        """How long, for people."""
        parts = [f"{name} {_clock(seconds)}" for name, seconds in self.seconds.items()]
        return f"took {', '.join(parts)} (minutes:seconds)"


def _clock(seconds: float) -> str:
    """Minutes and seconds.

    Example:
        >>> _clock(75.4)
        '1:15'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


@contextlib.contextmanager
def _progress_bar(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on stderr with the time left; nothing when that is no terminal, or when `quiet`."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.BarColumn(24),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
        progress.TextColumn("{task.description}", markup=False),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            now = "drawing figures and writing the report" if done == total else what
            bar.update(task, completed=done, total=total, description=now)

        yield advance


def _show(found: Reproduction, report: Path, *, as_json: bool) -> None:
    if as_json:
        output.show_json({**found.to_json(), "report": os.path.relpath(report)})
        return
    output.show_table(_verdicts(found) if found.judgements else _means(found), wrap=True)
    for stamp in found.stamps():
        typer.echo(stamp)


def _verdicts(found: Reproduction) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from driftanchor.experiments.report import shown

    table = Table(box=box.SIMPLE_HEAD, title=found.counts(), title_justify="left", pad_edge=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", overflow="fold")
    table.add_column("least favourable comparison", overflow="fold")
    table.add_column("left − right", justify="right", overflow="fold")
    for judgement in found.judgements:
        worst = judgement.findings[0]
        interval = f"({shown(worst.low)} to {shown(worst.high)})"
        table.add_row(
            Text(judgement.verdict, COLOURS[judgement.verdict]),
            Text(judgement.claim.says),
            Text(worst.text),
            Text(f"{shown(worst.estimate)} {interval}"),
        )
    return table


def _means(found: Reproduction) -> Table:
    """What is shown when no claim is about what was run."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from driftanchor.experiments.report import shown
    from driftanchor.simulation.result import STATISTICS

    table = Table(box=box.SIMPLE_HEAD, title="regret at the horizon", title_justify="left")
    table.add_column("cell", overflow="fold")
    table.add_column("policy")
    for heading in ("mean", "± se", "median", "q90", "q99", "max", "stuck"):
        table.add_column(heading, justify="right")
    for experiment in found.experiments:
        for cell in experiment.cells:
            for label, numbers in found.statistics(experiment, cell).items():
                told = [shown(numbers[name]) for name in STATISTICS]
                stuck = f"{100 * numbers['stuck']:.2g} %"
                table.add_row(Text(cell.id), Text(label), *told, stuck)
    return table
