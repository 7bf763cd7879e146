"""The options for a campaign's units, reward window, late rewards and minimum shares."""

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
    str | None,
    typer.Option(
        metavar="NAME",
        help="number, or binary if every reward is 0 or 1.",
        show_default="binary if all logged rewards are 0 or 1, else number",
        rich_help_panel=REWARDS,
    ),
]
RewardWindow = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="How long to wait for a reward: seconds, or 30m, 12h, 7d.",
        show_default="for ever",
        rich_help_panel=REWARDS,
    ),
]
DefaultReward = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        help="The reward that counts if none arrives in the window, such as 0.",
        show_default="such a decision does not count",
        rich_help_panel=REWARDS,
    ),
]
Late = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What happens to a reward after the window: ignore it, or replace the default reward.",
        rich_help_panel=REWARDS,
    ),
]
Sticky = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How long a unit that asks again gets the same decision: until its reward has come "
        "(decision), for ever (campaign), or not at all (none).",
        rich_help_panel=DECISIONS,
    ),
]
Exposure = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="When a decision starts to wait for its reward: when it is made (ask), or when "
        "'campaign expose' says that it was shown (report).",
        rich_help_panel=DECISIONS,
    ),
]
Floor = Annotated[
    str,
    typer.Option(
        metavar="P", help="The smallest probability of each arm.", rich_help_panel=DECISIONS
    ),
]
Control = Annotated[
    str | None,
    typer.Option(
        metavar="ARM=P",
        help="A larger smallest probability for some arms, such as A=0.1,B=0.05.",
        rich_help_panel=DECISIONS,
    ),
]
OnAlarm = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What a shift alarm does: report it, or distrust the arm's logs from then on.",
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
AllowOutside = Annotated[
    bool,
    typer.Option(
        "--allow-outside",
        help="Accept rewards far outside the range of the logged rewards.",
        rich_help_panel=REWARDS,
    ),
]
IfExists = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="If the campaign exists: error, or load it if it was created with the same options.",
        rich_help_panel=at.WHERE,
    ),
]


def read(
    reward_kind: str | None,
    reward_window: str | None,
    default_reward: str | None,
    late: str,
    sticky: str,
    exposure: str,
    floor: str,
    control: str | None,
    on_alarm: str,
    matters: str | None,
    allow_outside: bool,
    if_exists: str,
) -> dict[str, Any]:
    """Convert the options to arguments for `Campaign.create`."""
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
        "allow_outside": allow_outside,
        "if_exists": if_exists,
    }
