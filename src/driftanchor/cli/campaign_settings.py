"""The options that say how a campaign treats units, windows, late rewards and small shares."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from driftanchor.cli import assess_options as how
from driftanchor.cli import parse
from driftanchor.cli import store_options as at
from driftanchor.errors import InvalidInput

REWARDS = "Rewards"
DECISIONS = "Decisions"

RewardKind = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="number, or binary if rewards are 0 or 1 and nothing else.",
        rich_help_panel=REWARDS,
    ),
]
RewardWindow = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="How long a reward is waited for: seconds, or 30m, 12h, 7d.",
        show_default="for ever",
        rich_help_panel=REWARDS,
    ),
]
DefaultReward = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        help="What counts if no reward came in the window, such as 0.",
        show_default="the decision counts nowhere",
        rich_help_panel=REWARDS,
    ),
]
Late = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What a reward after the window does: ignore, or replace to count it all the same.",
        rich_help_panel=REWARDS,
    ),
]
Sticky = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What a unit that asks again gets: the same decision while it waits for its reward "
        "(decision), for ever (campaign), or a new one (none).",
        rich_help_panel=DECISIONS,
    ),
]
Exposure = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="When a decision starts to wait for its reward: ask, or report for once it was shown.",
        rich_help_panel=DECISIONS,
    ),
]
Floor = Annotated[
    str,
    typer.Option(metavar="P", help="The least probability of each arm.", rich_help_panel=DECISIONS),
]
Control = Annotated[
    str | None,
    typer.Option(
        metavar="ARM=P",
        help="Arms with a larger least probability, such as A=0.1,B=0.05.",
        rich_help_panel=DECISIONS,
    ),
]
OnAlarm = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What a shift alarm does: report, or distrust for going on without the arm's logs.",
        rich_help_panel=DECISIONS,
    ),
]
Matters = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        help="The smallest difference of means that matters to you.",
        rich_help_panel=DECISIONS,
    ),
]
IfExists = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="error, or load to go on with a campaign of this name that is the same.",
        rich_help_panel=at.WHERE,
    ),
]


def read(
    reward_kind: str,
    reward_window: str | None,
    default_reward: str | None,
    late: str,
    sticky: str,
    exposure: str,
    floor: str,
    control: str | None,
    on_alarm: str,
    matters: str | None,
    if_exists: str,
) -> dict[str, Any]:
    """What was typed, as `Campaign.create` takes it."""
    shares = how.bounds(control, "--control") if control is not None else None
    if shares is not None and not isinstance(shares, dict):
        raise InvalidInput(f"--control must be arm=share, such as A=0.1, got {control!r}")
    return {
        "reward": reward_kind,
        "reward_window": at.seconds(reward_window, "--reward-window"),
        "default_reward": how.optional(default_reward, "--default-reward"),
        "late": late,
        "sticky": at.choice(sticky),
        "exposure": exposure,
        "floor": parse.number(floor, "--floor"),
        "control": shares,
        "on_alarm": on_alarm,
        "matters": how.optional(matters, "--matters"),
        "if_exists": if_exists,
    }
