"""`driftanchor plan`: estimate what logs are worth before going live."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import parse
from driftanchor.cli.output import say
from driftanchor.core.log_options import LogOptions
from driftanchor.errors import DriftanchorError, InvalidInput, UnreadableState
from driftanchor.files import read_text

if TYPE_CHECKING:
    from driftanchor.core.offline import OfflineData
    from driftanchor.logs.periods import Periods
    from driftanchor.planning.plan import Plan

Law = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How rewards vary: gaussian, bernoulli, or auto to decide by the logs.",
        rich_help_panel=how.PROMISE,
    ),
]


@log.takes_log_options(arm_needed=False)
def plan(
    files: log.Files,
    *,
    horizon: opt.Horizon,
    bias_bound: how.BiasBound = None,
    relative_bound: how.RelativeBound = None,
    by: how.By = None,
    options: LogOptions,
    bias_bound_source: how.BiasBoundSource = None,
    law: Law = "auto",
    worlds: how.Worlds = None,
    seed: opt.Seed = "0",
    threads: opt.Threads = None,
    page: how.Page = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Should you use these logs? Say what they save and what they risk, before you go live.

    Draws worlds that are possible given the logs and the declared bounds, and plays policies in
    them with and without the logs. Give --bias-bound, --relative-bound or both. FILE is logs, or
    offline data that 'driftanchor logs --save' wrote.

    Examples:
      driftanchor plan offline.json --bias-bound 0.02 --horizon 50000
      driftanchor plan last.csv --arm ad --reward won --time at --by week --relative-bound auto
        --horizon 1e4
      driftanchor plan last.csv --arm ad --reward won --bias-bound 0.02 --horizon 1e4 --page p.html
    """
    from driftanchor.planning.plan import plan as work

    target = how.page_file(page, files)
    bounds: Any = {
        "bias_bound": how.bounds(bias_bound),
        "relative_bound": how.bounds(relative_bound, "--relative-bound"),
    }
    if bias_bound is None and relative_bound is None:
        raise InvalidInput(
            "Missing option '--bias-bound' or '--relative-bound': say how far an arm's mean may "
            "have moved since the logs, or how far arms may have moved apart; auto takes it from "
            "the logs"
        )
    numbers: Any = {
        "horizon": parse.number(horizon, "--horizon"),
        "worlds": how.optional(worlds, "--worlds"),
        "seed": parse.number(seed, "--seed"),
        "threads": how.optional(threads, "--threads"),
    }
    with how.at_work(quiet=quiet) as progress:
        periods = periods_of(files, by, bounds, options)
        offline = read(files, by, options, quiet=quiet)
        found = work(
            offline,
            periods=periods,
            bias_bound_source=bias_bound_source,
            law=law,
            reward_range=options.get("reward_range"),
            progress=progress,
            early=None if quiet else say,
            **bounds,
            **numbers,
        )
    command = None if found.decision == "use" else cold_start(files, options, found)
    if command is not None and bias_bound_source is not None:
        command += f" --bias-bound-source {bias_bound_source}"
    how.show(found, target, as_json=as_json, quiet=quiet, command=command)


def cold_start(files: list[str], options: LogOptions, found: Plan) -> str:
    """Return the command for a cold start that takes only the noise level from the logs."""
    from driftanchor.cli.serve import name_of

    words = ["driftanchor", "campaign", "create", name_of(files), *files, *log.typed(options)]
    if found.law.name == "bernoulli" and "reward_range" not in options:
        words += ["--range", "0", "1"]
    return shlex.join([*words, "--bias-bound", "inf"])


def periods_of(
    files: list[str], by: str | None, bounds: Mapping[str, object], options: Any
) -> Periods | None:
    """Read the logs by period if a bound is auto."""
    from driftanchor.logs.periods import read_periods

    auto = how.auto_bound(bounds)
    if auto is not None and "arm" not in options:
        raise InvalidInput(
            "auto needs the logs themselves, with --arm and --by: saved offline data have no "
            "periods",
            argument=auto,
        )
    how.check_periods(auto, by)
    return None if auto is None or by is None else read_periods(files, by=by, **options)


def read(files: list[str], by: str | None, options: Any, *, quiet: bool) -> OfflineData:
    """Read logs, or saved offline data (which need no --arm), and report unused rows."""
    offline = _read(files, by, options)
    log.tell(offline.provenance, quiet=quiet)
    return offline


def _read(files: list[str], by: str | None, options: Any) -> OfflineData:
    from driftanchor.logs.read import read_logs

    if "arm" in options:
        return read_logs(files, by=by, **options).offline
    if len(files) != 1 or Path(files[0]).suffix != ".json":
        raise InvalidInput("is missing: name the column of the arms", argument="arm")
    needless = [name for name in options if name != "reward_range"] + (["by"] if by else [])
    if needless:
        raise InvalidInput(
            f"is for logs and --arm is missing: without it {files[0]!r} is read as saved offline "
            "data",
            argument=needless[0],
        )
    return saved(files[0])


def saved(path: str) -> OfflineData:
    """What `driftanchor logs --save` wrote."""
    from driftanchor.core import record
    from driftanchor.core.offline import OfflineData

    text = read_text(path)
    try:
        return OfflineData.from_json(record.parse(text))
    except DriftanchorError as error:
        raise UnreadableState(f"{path!r}: {error}; for logs, name the column --arm") from error
