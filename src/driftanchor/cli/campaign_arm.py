"""`driftanchor campaign arm add|pause|archive|restore|distrust`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import options as opt
from driftanchor.cli import output, parse
from driftanchor.cli import store_options as at
from driftanchor.errors import InvalidInput

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign

Label = Annotated[str, typer.Argument(metavar="ARM", help="Its label.")]
Offline = Annotated[
    str | None,
    typer.Option(
        metavar="N,MEAN[,VARIANCE]",
        help="Its logs: how many rewards, their mean, and their variance if that is known.",
        show_default="no logs",
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(metavar="V", help="How far its mean may have moved since its logs."),
]
RelativeBound = Annotated[
    str | None,
    typer.Option(metavar="W", help="How far it may have moved from where the others moved."),
]


def add(
    name: at.Name,
    label: Label,
    *,
    offline: Offline = None,
    bias_bound: BiasBound = None,
    relative_bound: RelativeBound = None,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Let a new arm take part from now on.

    Examples:
      driftanchor campaign arm add checkout C
      driftanchor campaign arm add checkout C --offline 900,0.12 --bias-bound 0.02
    """
    logs = (0,) if offline is None else _summary(offline)
    level = how.optional(bias_bound, "--bias-bound")
    apart = how.optional(relative_bound, "--relative-bound")
    with at.campaign_in(store, name) as campaign, output.plain_warnings(quiet=quiet):
        campaign.add_arm(label, logs, level, apart)
    _said(name, label, "active", "takes part", as_json, quiet)


def pause(
    name: at.Name,
    label: Label,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Draw an arm no more; units that have a decision for it still get that.

    Examples:
      driftanchor campaign arm pause checkout C
    """
    _change(store, name, lambda campaign: campaign.pause_arm(label))
    _said(name, label, "paused", "is paused", as_json, quiet)


def archive(
    name: at.Name,
    label: Label,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Play an arm no more; units that have a decision for it get a new one.

    Examples:
      driftanchor campaign arm archive checkout C
    """
    _change(store, name, lambda campaign: campaign.archive_arm(label))
    _said(name, label, "archived", "is archived", as_json, quiet)


def restore(
    name: at.Name,
    label: Label,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Play a paused or archived arm again, with all that was learned of it.

    Examples:
      driftanchor campaign arm restore checkout C
    """
    _change(store, name, lambda campaign: campaign.restore_arm(label))
    _said(name, label, "active", "is played again", as_json, quiet)


def distrust(
    name: at.Name,
    label: Label,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Let the logs of an arm no longer count, as after a shift alarm. This cannot be undone.

    Examples:
      driftanchor campaign arm distrust checkout C
    """
    _change(store, name, lambda campaign: campaign.distrust_arm(label))
    _said(name, label, "distrusted", "is played without its logs", as_json, quiet)


def _change(store: str, name: str, change: Callable[[Campaign], None]) -> None:
    with at.campaign_in(store, name) as campaign:
        change(campaign)


def _summary(text: str) -> Any:
    """How many rewards the logs of an arm have, their mean and perhaps their variance."""
    parts = tuple(parse.number(part, "--offline", text) for part in text.split(","))
    if len(parts) not in (2, 3):
        raise InvalidInput(
            f"--offline must be N,MEAN or N,MEAN,VARIANCE, such as 900,0.12, got {text!r}"
        )
    return parts


def _said(name: str, label: str, state: str, words: str, as_json: bool, quiet: bool) -> None:
    if as_json:
        output.show_json({"name": name, "arm": label, "state": state})
    else:
        output.say(f"{name}: arm {label!r} {words}", quiet=quiet)
