"""`driftanchor campaign create`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import campaign_settings as agreed
from driftanchor.cli import log_flags as log
from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.cli import plan as plans
from driftanchor.cli import store_options as at
from driftanchor.cli.campaign_show import show_status, status_json
from driftanchor.core.log_options import LogOptions
from driftanchor.errors import DriftanchorError, InvalidInput, UnreadableState
from driftanchor.files import read_text

if TYPE_CHECKING:
    from driftanchor.core.offline import OfflineData
    from driftanchor.policies.base import Policy

NewName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The name of the campaign: letters, digits and . _ : -"),
]
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE...]",
        help="Logs, or offline data that 'driftanchor logs --save' wrote. Leave it out for a "
        "campaign without logs.",
    ),
]
Plan = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file with the output of 'driftanchor plan --json': take the bounds and the policy "
        "from it.",
        rich_help_panel=how.PROMISE,
    ),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="name\\[:parameter=value,...], one of 'driftanchor policies'.",
        show_default="guarded-anchor-ts, in the units of the logs",
        rich_help_panel=opt.POLICIES,
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(
        metavar="N", help="Seed of the random numbers.", show_default="drawn once, and kept"
    ),
]


@log.takes_log_options(arm_needed=False)
def create(
    name: NewName,
    files: Files = None,
    *,
    bias_bound: how.BiasBound = None,
    relative_bound: how.RelativeBound = None,
    by: how.By = None,
    bias_bound_source: how.BiasBoundSource = None,
    plan: Plan = None,
    policy: PolicyName = None,
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
    seed: Seed = None,
    if_exists: agreed.IfExists = "error",
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Create a campaign from logs, from saved offline data, or from arms alone.

    With logs, say how far they may be off: --bias-bound, --relative-bound or --plan.

    Examples:
      driftanchor campaign create checkout last.csv --arm ad --reward won --relative-bound 0.01
      driftanchor campaign create checkout last.csv --arm ad --reward won --time at --by week
        --relative-bound auto --reward-kind binary --reward-window 7d --default-reward 0
      driftanchor campaign create checkout offline.json --plan plan.json
      driftanchor campaign create fresh --arms A,B,C --range 0 1 --floor 0.05
    """
    from driftanchor.live.campaigns.campaign import Campaign

    settings: Any = agreed.read(
        reward_kind, reward_window, default_reward, late, sticky, exposure, floor, control,
        on_alarm, matters, allow_outside, if_exists,
    )  # fmt: skip
    number: Any = how.optional(seed, "--seed")
    with output.plain_warnings(quiet=quiet):
        terms = terms_of(
            files or [], bias_bound, relative_bound, by, plan, policy, options, quiet=quiet
        )
        is_new = at.is_missing(store)
        with Campaign.create(  # validate everything before opening the store
            name,
            bias_bound_source=bias_bound_source,
            reward_range=options.get("reward_range"),
            seed=number,
            store=store,
            **terms,
            **settings,
        ) as campaign:
            status, agreed_terms = campaign.status(), campaign.terms
    if is_new:
        output.say(f"created the store {str(at.file_of(store))!r}", quiet=quiet)
    if as_json:
        output.show_json(status_json(status, agreed_terms))
    else:
        show_status(status, agreed_terms)


def terms_of(
    files: list[str],
    bias_bound: str | None,
    relative_bound: str | None,
    by: str | None,
    plan: Path | None,
    policy: str | None,
    options: Any,
    *,
    quiet: bool,
) -> dict[str, Any]:
    """Return the logs, bounds and policy as arguments for `Campaign.create`."""
    bounds: dict[str, Any] = {
        "bias_bound": how.bounds(bias_bound),
        "relative_bound": how.bounds(relative_bound, "--relative-bound"),
    }
    chosen = None if policy is None else _policy(policy)
    if plan is not None:
        if any(bound is not None for bound in bounds.values()):
            raise InvalidInput("--plan has the bounds: leave --bias-bound and --relative-bound out")
        bounds, best = _of_plan(plan)
        chosen = best if chosen is None else chosen
    if not files:
        return {"arms": _arms_alone(options, bounds, by), "policy": chosen}
    periods = plans.periods_of(files, by, bounds, options)
    offline = plans.read(files, by, options, quiet=quiet)
    if periods is not None:
        bounds = _suggested(bounds, periods, offline)
    return {"offline": offline, "policy": chosen, **bounds}


def _suggested(bounds: dict[str, Any], periods: Any, offline: OfflineData) -> dict[str, Any]:
    """The bounds, with what the periods suggest for auto."""
    from driftanchor.planning.auto import declared

    given = declared(
        bounds["bias_bound"], bounds["relative_bound"], periods, "--by is missing", offline.arms
    )
    for note in given.notes:
        output.say(f"note: {note}")
    return {"bias_bound": given.bias_bound, "relative_bound": given.relative_bound}


def _arms_alone(options: Any, bounds: dict[str, Any], by: str | None) -> list[str]:
    """The labels of a campaign without logs."""
    if "arms" not in options:
        raise InvalidInput("give logs, or --arms with the labels of a campaign without logs")
    needless = [name for name in options if name not in ("arms", "reward_range")]
    needless += [name for name, bound in {**bounds, "by": by}.items() if bound is not None]
    if needless:
        raise InvalidInput("is for logs, and no FILE is given", argument=needless[0])
    return list(options["arms"])


def _policy(text: str) -> Policy:
    from driftanchor.policies import POLICIES

    ((_, policy),) = parse.policies([text]).items()
    if policy.name not in POLICIES or type(policy) is not POLICIES[policy.name]:
        raise InvalidInput(
            f"--policy {text!r} is not one of this package: create a campaign with a policy of "
            "your own in Python"
        )
    return policy


def _of_plan(path: Path) -> tuple[dict[str, Any], Policy]:
    """Read the bounds and the recommended policy from a saved plan."""
    from driftanchor.core import record
    from driftanchor.policies import make

    try:
        found: Any = record.parse(read_text(path))
        bounds = {name: _bounds(found[name]) for name in ("bias_bound", "relative_bound")}
        parameters = dict(found["parameters"][found["break_even_policy"]])
        del parameters["logs"]
        rule = make(parameters.pop("policy"), **parameters)
    except (DriftanchorError, KeyError, TypeError, AttributeError, ValueError) as error:
        if str(error).startswith("cannot read"):
            raise
        raise UnreadableState(
            f"{str(path)!r} is not what 'driftanchor plan --json' printed"
        ) from error
    if found.get("decision") != "use":
        output.say(
            "warning: the plan advises not to use the logs; to start cold, give --bias-bound inf "
            "in place of --plan"
        )
    return bounds, rule


def _bounds(by_arm: Any) -> Any:
    return None if by_arm is None else {label: _number(x) for label, x in by_arm.items()}


def _number(bound: Any) -> float:
    return math.inf if bound is None else float(bound)
