"""`driftanchor campaign arm add|pause|archive|restore|distrust`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import parse
from driftanchor.cli.campaign_command import Done, on_campaign
from driftanchor.errors import InvalidInput

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign

Label = Annotated[str, typer.Argument(metavar="ARM", help="Its label.")]
Offline = Annotated[
    str | None,
    typer.Option(
        metavar="N,MEAN[,VARIANCE]",
        help="Its logs: the number of rewards, their mean, and their variance if you know it.",
        show_default="no logs",
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(metavar="V", help="How far its mean may have moved since its logs."),
]
RelativeBound = Annotated[
    str | None,
    typer.Option(
        metavar="W", help="How far its mean may have moved, beside the move that all arms share."
    ),
]


@on_campaign
def add(
    campaign: "Campaign",
    label: Label,
    offline: Offline = None,
    bias_bound: BiasBound = None,
    relative_bound: RelativeBound = None,
) -> Done:
    """Add an arm, which takes part from now on.

    Examples:
      driftanchor campaign arm add checkout C
      driftanchor campaign arm add checkout C --offline 900,0.12 --bias-bound 0.02
    """
    logs = (0,) if offline is None else _summary(offline)
    level = how.optional(bias_bound, "--bias-bound")
    apart = how.optional(relative_bound, "--relative-bound")
    campaign.add_arm(label, logs, level, apart)
    return _done(campaign, label, "active", "takes part")


@on_campaign
def pause(campaign: "Campaign", label: Label) -> Done:
    """Stop drawing an arm; units that have a decision for it keep that decision.

    Examples:
      driftanchor campaign arm pause checkout C
    """
    campaign.pause_arm(label)
    return _done(campaign, label, "paused", "is paused")


@on_campaign
def archive(campaign: "Campaign", label: Label) -> Done:
    """Stop playing an arm; units that have a decision for it get a new one.

    Examples:
      driftanchor campaign arm archive checkout C
    """
    campaign.archive_arm(label)
    return _done(campaign, label, "archived", "is archived")


@on_campaign
def restore(campaign: "Campaign", label: Label) -> Done:
    """Play a paused or archived arm again; what was learned about it is kept.

    Examples:
      driftanchor campaign arm restore checkout C
    """
    campaign.restore_arm(label)
    return _done(campaign, label, "active", "is played again")


@on_campaign
def distrust(campaign: "Campaign", label: Label) -> Done:
    """Ignore the logs of an arm from now on, as after a shift alarm. This cannot be undone.

    Examples:
      driftanchor campaign arm distrust checkout C
    """
    campaign.distrust_arm(label)
    return _done(campaign, label, "distrusted", "is played without its logs")


def _summary(text: str) -> Any:
    """The number of logged rewards of an arm, their mean and perhaps their variance."""
    parts = tuple(parse.number(part, "--offline", text) for part in text.split(","))
    if len(parts) not in (2, 3):
        raise InvalidInput(
            f"--offline must be N,MEAN or N,MEAN,VARIANCE, such as 900,0.12, got {text!r}"
        )
    return parts


def _done(campaign: "Campaign", label: str, state: str, words: str) -> Done:
    data = {"name": campaign.name, "arm": label, "state": state}
    return Done(f"{campaign.name}: arm {label!r} {words}", data)
