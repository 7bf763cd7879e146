"""`driftanchor serve`: serve decisions over HTTP."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import campaign_create as creating
from driftanchor.cli import campaign_settings as agreed
from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.cli import store_options as at
from driftanchor.cli.campaign_show import show_status
from driftanchor.cli.serve_demo import check_demo, run_demo
from driftanchor.core.log_options import LogOptions
from driftanchor.errors import require

if TYPE_CHECKING:
    from driftanchor.live.campaigns.status import Status
    from driftanchor.live.terms import Terms

CAMPAIGN = "The campaign"
SERVER = "The server"
STOPPING = "stopping: finishing the requests that are open"
EMPTY = (
    "the store has no campaigns yet: create one with 'driftanchor campaign create', or start with "
    "--log"
)
Logs = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Logs of the past, or saved offline data: serve a campaign that starts from them.",
        show_default="serve the campaigns that the store has",
        rich_help_panel=CAMPAIGN,
    ),
]
NewName = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="The name of that campaign.",
        show_default="the name of the file",
        rich_help_panel=CAMPAIGN,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="The address to listen on; without keys only one of this machine.",
        rich_help_panel=SERVER,
    ),
]
Port = Annotated[
    str, typer.Option(metavar="N", help="The port; 0 for a free one.", rich_help_panel=SERVER)
]
Workers = Annotated[
    str,
    typer.Option(
        metavar="N", help="How many processes answer; they share the store.", rich_help_panel=SERVER
    ),
]
RateLimit = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Requests a second that a key may make of one process.",
        show_default="any number",
        rich_help_panel=SERVER,
    ),
]
Demo = Annotated[
    bool,
    typer.Option(
        "--demo",
        help="Show a campaign with made-up logs and traffic, in a temporary store: the logs help, "
        "the shares move, and within a minute or two an alarm rings.",
        rich_help_panel=SERVER,
    ),
]


@log.takes_log_options(arm_needed=False)
def serve(
    *,
    logs: Logs = None,
    name: NewName = None,
    bias_bound: how.BiasBound = None,
    relative_bound: how.RelativeBound = None,
    by: how.By = None,
    bias_bound_source: how.BiasBoundSource = None,
    plan: creating.Plan = None,
    policy: creating.PolicyName = None,
    options: LogOptions,
    reward_kind: agreed.RewardKind = None,
    reward_window: agreed.RewardWindow = None,
    default_reward: agreed.DefaultReward = None,
    late: agreed.Late = "ignore",
    sticky: agreed.Sticky = "decision",
    exposure: agreed.Exposure = "ask",
    floor: agreed.Floor = "0",
    control: agreed.Control = None,
    on_alarm: agreed.OnAlarm = "report",
    matters: agreed.Matters = None,
    allow_outside: agreed.AllowOutside = False,
    seed: creating.Seed = None,
    store: at.StoreAddress = at.DEFAULT,
    host: Host = "127.0.0.1",
    port: Port = "8484",
    workers: Workers = "1",
    rate_limit: RateLimit = None,
    demo: Demo = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Serve decisions over HTTP, from a log file or from the campaigns of a store.

    Once the server is ready, it prints its address as the first line on stdout. If the campaign
    already exists with the same logs and options, it is continued.

    Examples:
      driftanchor serve --log last_test.parquet --arm variant --reward converted
        --time at --by week --relative-bound auto
      driftanchor serve --store postgresql://bandit@db/bandit --workers 4
      driftanchor serve --port 0 --json
      driftanchor serve --demo
    """
    require("starlette", extra="serve", why="a server")
    require("uvicorn", extra="serve", why="a server")
    settings: Any = agreed.read(
        reward_kind, reward_window, default_reward, late, sticky, exposure, floor, control,
        on_alarm, matters, allow_outside, "load",
    )  # fmt: skip
    settings["seed"] = how.optional(seed, "--seed")
    settings["bias_bound_source"] = bias_bound_source
    where = _where(host, port, workers)
    if demo:
        check_demo(where, [*(logs or []), *([store] if store != at.DEFAULT else [])])
        run_demo(where, _stopping(as_json=as_json, quiet=quiet), as_json=as_json)
        return
    where |= _who(host, store, rate_limit)
    terms: dict[str, Any] | None = None
    if logs or "arms" in options:
        with output.plain_warnings(quiet=quiet):
            found = creating.terms_of(
                logs or [], bias_bound, relative_bound, by, plan, policy, options, quiet=quiet
            )
            terms = found | settings
    named = name or name_of(logs or ["campaign"])

    def create() -> tuple[Status, Terms] | None:
        with output.plain_warnings(quiet=quiet):
            return None if terms is None else _created(named, store, options, terms)

    _run(store, where, create, as_json=as_json, quiet=quiet)


def name_of(files: list[str]) -> str:
    """The name of a campaign from that of its first log file.

    Example:
        >>> name_of(["logs/last test.csv.gz"]), name_of(["s3/*.parquet"]), name_of(["_a.csv"])
        ('last-test', 'campaign', 'a')
    """
    stem = Path(files[0]).name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9_:-]+", "-", stem).strip("-_:")[:128] or "campaign"


def _where(host: str, port: str, workers: str) -> dict[str, Any]:
    """Where to listen, and with how many processes."""
    from driftanchor.core import check

    return {
        "host": host,
        "port": check.whole(parse.number(port, "--port"), "port", low=0, high=65_535),
        "workers": check.whole(parse.number(workers, "--workers"), "workers", low=1, high=256),
    }


def _who(host: str, store: str, rate_limit: str | None) -> dict[str, Any]:
    """Who may ask, and how often; looked at before anything is read or made."""
    from driftanchor.core import check
    from driftanchor.serve.loopback import check_keys

    rows: list[Any] = []
    if not at.is_missing(store):
        with at.store_at(store) as opened:
            rows = opened.keys()
    rate = how.optional(rate_limit, "--rate-limit")
    return {
        "keys_required": check_keys(host, rows, time.time()),
        "rate": None if rate is None else check.number(rate, "rate_limit", above=0.0, high=1e9),
    }


def _created(
    name: str, store: str, options: LogOptions, given: dict[str, Any]
) -> tuple[Status, Terms]:
    """The campaign of the logs, which may be there already."""
    from driftanchor.live.campaigns.campaign import Campaign

    ends = options.get("reward_range")
    with Campaign.create(name, store=store, reward_range=ends, **given) as campaign:
        return campaign.status(), campaign.terms


def _run(
    store: str,
    where: dict[str, Any],
    create: Callable[[], tuple[Status, Terms] | None],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Listen, announce the address when ready, and serve until a signal arrives.

    Nothing is created before the socket is bound, so a taken port leaves no store behind.
    """
    from driftanchor.live.stores.store import open_store
    from driftanchor.serve.app_state import ServeSettings
    from driftanchor.serve.server import listen, serve_store, url_of

    settings = ServeSettings(**where)
    with contextlib.closing(listen(settings.host, settings.port)) as listening:
        url, made = url_of(listening), create()
        with contextlib.closing(open_store(store)) as opened:
            names = opened.names()

        def ready() -> None:
            if as_json:  # one line, so that programs can parse it
                counts = {} if made is None else log.row_counts(made[1].offline.provenance)
                output.show_line(json.dumps({"url": url, "campaigns": names, **counts}))
                return
            output.show_line(url)
            if made is not None:
                show_status(*made)
            if not names:
                output.say(EMPTY, quiet=quiet)

        stopping = _stopping(as_json=as_json, quiet=quiet)
        serve_store(store, settings, listening, ready, stopping)


def _stopping(*, as_json: bool, quiet: bool) -> Callable[[], None]:
    """Says that the server stops; to programs the lines of stderr are its log, in JSON."""
    return lambda: output.say(STOPPING, quiet=as_json or quiet)
