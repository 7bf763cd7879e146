"""`driftanchor campaign change`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import campaign_settings as agreed
from driftanchor.cli import parse
from driftanchor.cli import store_options as at
from driftanchor.cli.campaign_command import Done, on_campaign
from driftanchor.errors import InvalidInput

if TYPE_CHECKING:
    from driftanchor.live.campaigns.campaign import Campaign

Reason = Annotated[str, typer.Option(metavar="TEXT", help="The reason, recorded in the history.")]
Window = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="How long to wait for a reward: seconds, or 30m, 12h, 7d; none waits forever.",
        rich_help_panel=agreed.REWARDS,
    ),
]
Default = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        help="The reward to count if none arrives within the window; none counts nothing.",
        rich_help_panel=agreed.REWARDS,
    ),
]
Outside = Annotated[
    bool | None,
    typer.Option(
        "--allow-outside/--refuse-outside",
        help="Accept or refuse rewards far outside the range of the logged rewards.",
        show_default=False,
        rich_help_panel=agreed.REWARDS,
    ),
]
Floor = Annotated[
    str | None,
    typer.Option(
        metavar="P", help="Minimum probability of each arm.", rich_help_panel=agreed.DECISIONS
    ),
]
Control = Annotated[
    str | None,
    typer.Option(
        metavar="ARM=P",
        help="Minimum probability for single arms, such as A=0.1,B=0.05; none removes them.",
        rich_help_panel=agreed.DECISIONS,
    ),
]
BiasBound = Annotated[
    str | None,
    typer.Option(
        metavar="V",
        help="How far a mean may have moved since the logs: a number, or A=0.02,B=0.05 for all "
        "arms; inf sets no bound.",
        rich_help_panel=how.PROMISE,
    ),
]
RelativeBound = Annotated[
    str | None,
    typer.Option(
        metavar="W",
        help="How far a mean may have moved relative to the other arms.",
        rich_help_panel=how.PROMISE,
    ),
]


@on_campaign
def change(
    campaign: "Campaign",
    reason: Reason,
    reward_window: Window = None,
    default_reward: Default = None,
    allow_outside: Outside = None,
    floor: Floor = None,
    control: Control = None,
    bias_bound: BiasBound = None,
    relative_bound: RelativeBound = None,
) -> Done:
    """Change the reward window, the default reward, floors or bounds of a running campaign.

    Earlier decisions keep their old terms. The change is recorded with its reason.

    Examples:
      driftanchor campaign change checkout --reward-window 7d --reason "orders take 3 days"
      driftanchor campaign change checkout --relative-bound 0.03 --reason "new prices in May"
    """
    given: dict[str, Any] = {
        "reward_window": _unless_none(reward_window, lambda x: at.seconds(x, "--reward-window")),
        "default_reward": _unless_none(
            default_reward, lambda x: parse.number(x, "--default-reward")
        ),
        "floor": None if floor is None else (parse.number(floor, "--floor"),),
        "control": None if control is None else (_shares(control),),
        "allow_outside": None if allow_outside is None else (allow_outside,),
        "bias_bound": None if bias_bound is None else (_bound(bias_bound, "--bias-bound"),),
        "relative_bound": (
            None if relative_bound is None else (_bound(relative_bound, "--relative-bound"),)
        ),
    }
    wanted = {name: value[0] for name, value in given.items() if value}
    if not wanted:
        raise InvalidInput("nothing to change: give an option such as --reward-window or --floor")
    before = len(campaign.status().changes)
    campaign.change(reason, **wanted)
    status = campaign.status()
    data = {"name": campaign.name, "settings": status.settings.to_json()}
    changes = [x.to_json() for x in status.changes]
    words = "nothing changed: these values are already in force"
    if len(status.changes) > before:
        words = status.changes[-1].text(tuple(status.arms))
    return Done(f"{campaign.name}: {words}", {**data, "changes": changes})


def _unless_none(text: str | None, read: Any) -> tuple[Any] | None:
    """Parse an option and wrap the value in a 1-tuple; return `None` if it was not given."""
    if text is None:
        return None
    return (None,) if at.choice(text) is None else (read(text),)


def _shares(text: str) -> Any:
    if at.choice(text) is None:
        return {}
    shares = how.bounds(text, "--control")
    if not isinstance(shares, dict):
        raise InvalidInput(f"--control must be arm=share, such as A=0.1, got {text!r}")
    return shares


def _bound(text: str, option: str) -> Any:
    bound = how.bounds(text, option)
    if isinstance(bound, str):
        raise InvalidInput(
            f"{option} must be a number here, got {text!r}: 'driftanchor shift' suggests one"
        )
    return bound
