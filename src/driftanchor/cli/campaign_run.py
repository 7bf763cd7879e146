"""`driftanchor campaign pause`, `resume`, `epoch` and `sweep`."""

from typing import TYPE_CHECKING

from driftanchor.cli.campaign_command import Done, on_campaign
from driftanchor.render.numbers import count

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign


@on_campaign
def pause(campaign: "Campaign") -> Done:
    """Make no new decisions; the campaign still learns from rewards.

    A unit that has a decision still gets it.

    Examples:
      driftanchor campaign pause checkout
    """
    campaign.pause()
    return Done(f"{campaign.name} is paused", {"name": campaign.name, "paused": True})


@on_campaign
def resume(campaign: "Campaign") -> Done:
    """Make decisions again.

    Examples:
      driftanchor campaign resume checkout
    """
    campaign.resume()
    return Done(f"{campaign.name} is running again", {"name": campaign.name, "paused": False})


@on_campaign
def epoch(campaign: "Campaign") -> Done:
    """Start a new epoch: each unit gets a new decision when it next asks.

    Examples:
      driftanchor campaign epoch checkout
    """
    number = campaign.new_epoch()
    return Done(f"{campaign.name} is in epoch {number}", {"name": campaign.name, "epoch": number})


@on_campaign
def sweep(campaign: "Campaign") -> Done:
    """Close all decisions whose reward window is over.

    Every ask and tell closes some of them, so you need this only if nobody asks.

    Examples:
      driftanchor campaign sweep checkout
    """
    swept = campaign.sweep()
    return Done(
        f"{campaign.name}: closed {count(swept, 'decision')}",
        {"name": campaign.name, "swept": swept},
    )
