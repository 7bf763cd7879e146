"""Request bodies."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from driftanchor.live.campaigns.asking import LONGEST, MOST
from driftanchor.live.campaigns.new_terms import BOUNDS, LONGEST_REASON
from driftanchor.live.campaigns.settings import CHANGEABLE
from driftanchor.serve.body import Body

TERMS = (*CHANGEABLE, *BOUNDS)
Label = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Bound = Annotated[float, Field(ge=0)]
Bounds = Bound | dict[Label, Bound] | None
Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
MOST_REWARDS = 1_000  # of one batch


class AskBody(Body):
    """A request for a decision, or for several."""

    unit: Annotated[str, Field(min_length=1, max_length=LONGEST)] | None = Field(
        None, description="Who it is for; a unit that asks again gets the same decision."
    )
    exclude: tuple[Label, ...] = Field((), description="Arms that cannot be played this time.")
    n: Annotated[int, Field(ge=1, le=MOST)] | None = Field(
        None, description="How many decisions; the answer is then a list. Not with a unit."
    )
    peek: bool = Field(False, description="Only show what would be decided; nothing is recorded.")


class DefaultItem(Body):
    """A default arm that a client played."""

    key: Label = Field(
        description="The Idempotency-Key of the request that timed out, or a new key if it "
        "had none."
    )
    arm: Label = Field(description="The arm that was played.")
    ago: Annotated[float, Field(ge=0, le=1e9)] = Field(
        0.0, description="How many seconds ago the request was sent."
    )
    unit: Label | None = Field(None, description="The unit of a request without a key.")


class DefaultsBody(Body):
    """Default arms that clients played because no answer came in time."""

    defaults: list[DefaultItem] = Field(description=f"At most {MOST_REWARDS:,} items.")


class RewardBody(Body):
    """The reward of a decision."""

    value: float = Field(description="A finite number in the range of the campaign.")
    allow_outside: bool = Field(
        False, description="Accept a value far outside the range of the logged rewards."
    )


class CorrectionBody(RewardBody):
    """A correction of a reported reward."""

    before: float = Field(description="The reward currently recorded.")
    reason: Reason | None = Field(None, description="The reason, recorded in the history.")


class RewardItem(RewardBody):
    """The reward of one of many decisions."""

    decision_id: str = Field(description="The id of the decision.")


class RewardsBody(Body):
    """Many rewards; each has its own result."""

    rewards: list[Any] = Field(
        description=f"At most {MOST_REWARDS:,} items, each with decision_id and value.",
    )


class Logged(Body):
    """What the logs say about one arm."""

    n: Annotated[int, Field(ge=0)] = Field(description="How many logged rewards it has.")
    mean: float | None = Field(None, description="Their mean.")
    variance: Annotated[float, Field(ge=0)] | None = Field(None, description="Their variance.")

    def summary(self) -> tuple[Any, ...]:
        """The numbers, as `OfflineData.from_summary` takes them."""
        if self.mean is None:
            return (self.n,)
        return (self.n, self.mean) if self.variance is None else (self.n, self.mean, self.variance)


class AddedArm(Logged):
    """A new arm."""

    n: Annotated[int, Field(ge=0)] = 0
    bias_bound: Bound | None = None
    relative_bound: Bound | None = None


class CreateBody(Body):
    """A new campaign: `offline` or `arms`, and its terms; see `Campaign.create`."""

    name: str = Field(description="Letters, digits and . _ : -", max_length=128)
    offline: dict[Label, Logged] | None = Field(None, description="Logged statistics by arm.")
    arms: list[Label] | None = Field(None, description="The arms, if there are no logs.")
    policy: str | None = Field(None, description="The name of a policy.")
    parameters: dict[str, float] = Field({}, description="Parameters of the policy.")
    bias_bound: Bounds = Field(None, description="V: one number, or one for each arm.")
    relative_bound: Bounds = Field(None, description="W: one number, or one for each arm.")
    bias_bound_source: str | None = Field(None, description="Where the bounds come from.")
    reward_range: Annotated[list[float], Field(min_length=2, max_length=2)] | None = None
    reward: Literal["number", "binary"] | None = None
    reward_window: Annotated[float, Field(gt=0)] | None = None
    default_reward: float | None = None
    late: Literal["ignore", "replace"] = "ignore"
    sticky: Literal["decision", "campaign"] | None = "decision"
    exposure: Literal["ask", "report"] = "ask"
    floor: Annotated[float, Field(ge=0, le=1)] = 0.0
    control: dict[Label, Annotated[float, Field(gt=0, le=1)]] = Field({})
    on_alarm: Literal["report", "distrust"] = "report"
    matters: Annotated[float, Field(gt=0)] | None = None
    allow_outside: bool = False
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class ChangeBody(Body):
    """Changes to a campaign, applied atomically."""

    paused: bool | None = Field(None, description="True to make no new decisions, false to resume.")
    new_epoch: Literal[True] | None = Field(None, description="Every unit gets a new decision.")
    add: dict[Label, AddedArm] = Field({}, description="New arms.")
    arms: dict[Label, Literal["active", "paused", "archived"]] = Field(
        {}, description="The new states of arms."
    )
    distrust: list[Label] = Field([], description="Arms whose logs no longer count.")
    reason: Reason | None = Field(
        None, description="The reason; required to change any of the settings and bounds below."
    )
    reward_window: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Seconds within which a reward counts; null to wait forever."
    )
    default_reward: float | None = Field(
        None, description="The reward to count if none arrives; null to count nothing."
    )
    floor: Annotated[float, Field(ge=0, le=1)] = 0.0
    control: dict[Label, Annotated[float, Field(gt=0, le=1)]] = Field({})
    allow_outside: bool = Field(
        False, description="Accept rewards far outside the range of the logged rewards."
    )
    bias_bound: Bound | dict[Label, Bound | None] | None = Field(
        None, description="V: one number, or one for each arm; null for no bound."
    )
    relative_bound: Bound | dict[Label, Bound | None] | None = Field(
        None, description="W: one number, or one for each arm; null for no bound."
    )

    def new_terms(self) -> dict[str, Any]:
        """Return the submitted settings and bounds."""
        sent = {name: getattr(self, name) for name in TERMS if name in self.model_fields_set}
        return {name: _bound(x) if name in BOUNDS else x for name, x in sent.items()}


def _bound(sent: Any) -> Any:
    """Convert bounds to arguments of `Campaign.change`."""
    if isinstance(sent, dict):
        return {label: _bound(x) for label, x in sent.items()}
    return math.inf if sent is None else sent
