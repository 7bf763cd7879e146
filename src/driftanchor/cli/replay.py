"""`driftanchor replay`: a back-test of what logs would have been worth."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import parse
from driftanchor.cli.output import say
from driftanchor.core.log_options import LogOptions

Split = Annotated[
    str,
    typer.Option(
        metavar="DATE|FILTER",
        help="A date: the rows before it are the logs, those from it on are the world. Or a filter "
        "such as \"channel = 'Web'\": the rows that match are the world, the others the logs.",
        rich_help_panel=log.ROWS,
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(
        metavar="V",
        help="The bound you would have declared: one number, a list of one for each arm, "
        "label=number for each arm, or auto for what the periods of --by before the split suggest.",
        show_default="the largest shift that happened",
        rich_help_panel=how.PROMISE,
    ),
]
Horizon = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Number of rounds in a run.",
        show_default="as many as there are later rewards, at most 100,000",
        rich_help_panel=opt.EFFORT,
    ),
]


@log.takes_log_options()
def replay(
    files: log.Files,
    *,
    options: LogOptions,
    split: Split,
    bias_bound: BiasBound = None,
    relative_bound: how.RelativeBound = None,
    by: how.By = None,
    bias_bound_source: how.BiasBoundSource = None,
    horizon: Horizon = None,
    worlds: how.Worlds = None,
    seed: opt.Seed = "0",
    threads: opt.Threads = None,
    page: how.Page = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Would logs have helped? A back-test on your own history.

    The rows before --split are the logs. The rows from it on, or the rows that match it, are the
    world. Policies play in that world with and without the logs, on rewards resampled from it.

    Examples:
      driftanchor replay all.parquet --arm ad --reward won --time at --split 2026-02-01
      driftanchor replay all.csv --arm page --count views --total clicks --time day
        --split 2026-02-01 --bias-bound 0.01 --page replay.html
      driftanchor replay all.csv --arm ad --reward won --split "channel = 'Web'"
    """
    from driftanchor.planning.replay import replay as work

    target = how.page_file(page, files)
    bounds: Any = {
        "bias_bound": how.bounds(bias_bound),
        "relative_bound": how.bounds(relative_bound, "--relative-bound"),
    }
    how.check_periods(how.auto_bound(bounds), by)
    numbers: Any = {
        "horizon": how.optional(horizon, "--horizon"),
        "worlds": how.optional(worlds, "--worlds"),
        "seed": parse.number(seed, "--seed"),
        "threads": how.optional(threads, "--threads"),
    }
    with how.at_work(quiet=quiet) as progress:
        found = work(
            files,
            split=split,
            bias_bound_source=bias_bound_source,
            progress=progress,
            early=None if quiet else say,
            by=by,
            **bounds,
            **numbers,
            **options,
        )
    log.tell(found.history.provenance, quiet=quiet)
    how.show(found, target, as_json=as_json, quiet=quiet)
