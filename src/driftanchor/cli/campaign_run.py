"""`driftanchor campaign pause`, `resume`, `epoch` and `sweep`."""

from __future__ import annotations

from driftanchor.cli import options as opt
from driftanchor.cli import output
from driftanchor.cli import store_options as at
from driftanchor.render.numbers import count


def pause(
    name: at.Name,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Make no new decisions; rewards are still learned from.

    A unit that has a decision still gets it.

    Examples:
      driftanchor campaign pause checkout
    """
    with at.campaign_in(store, name) as campaign:
        campaign.pause()
    _said({"name": name, "paused": True}, f"{name} is paused", as_json, quiet)


def resume(
    name: at.Name,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Make decisions again.

    Examples:
      driftanchor campaign resume checkout
    """
    with at.campaign_in(store, name) as campaign:
        campaign.resume()
    _said({"name": name, "paused": False}, f"{name} goes on", as_json, quiet)


def epoch(
    name: at.Name,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Start a new epoch: every unit is drawn anew when it asks next.

    Examples:
      driftanchor campaign epoch checkout
    """
    with at.campaign_in(store, name) as campaign:
        number = campaign.new_epoch()
    _said({"name": name, "epoch": number}, f"{name} is in epoch {number}", as_json, quiet)


def sweep(
    name: at.Name,
    *,
    store: at.StoreAddress = at.DEFAULT,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """End the wait of all decisions whose reward window is over.

    Each ask and tell does so for some, so this is needed only if nobody asks.

    Examples:
      driftanchor campaign sweep checkout
    """
    with at.campaign_in(store, name) as campaign:
        swept = campaign.sweep()
    _said({"name": name, "swept": swept}, f"swept {count(swept, 'decision')}", as_json, quiet)


def _said(data: dict[str, object], words: str, as_json: bool, quiet: bool) -> None:
    if as_json:
        output.show_json(data)
    else:
        output.say(words, quiet=quiet)
