"""Pydantic models of request bodies, query parameters and answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from driftanchor.live.campaigns.change_requests import BOUNDS, MAX_REASON
from driftanchor.live.campaigns.requests import MAX_DECISIONS, MAX_TEXT
from driftanchor.live.campaigns.settings import CHANGEABLE
from driftanchor.serve.problem import Problem


class Body(BaseModel):
    """A request body: unknown members and values of another type are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Query(BaseModel):
    """Query parameters or headers, which are converted from text."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


def check_size(items: Sequence[Any], what: str) -> None:
    """Refuse a batch of more than `MAX_ITEMS` items.

    Raises:
        Problem: It has more.
    """
    if len(items) > MAX_ITEMS:
        raise Problem(413, "batch_too_large", f"send at most {MAX_ITEMS:,} {what} at once")


# Requests

TERMS = (*CHANGEABLE, *BOUNDS)
Label = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Bound = Annotated[float, Field(ge=0)]
Bounds = Bound | dict[Label, Bound] | None
Reason = Annotated[str, Field(min_length=1, max_length=MAX_REASON)]
MAX_ITEMS = 1_000  # of one batch


class AskBody(Body):
    """A request for a decision, or for several."""

    unit: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = Field(
        None, description="Who it is for; a unit that asks again gets the same decision."
    )
    exclude: tuple[Label, ...] = Field((), description="Arms that cannot be played this time.")
    n: Annotated[int, Field(ge=1, le=MAX_DECISIONS)] | None = Field(
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

    defaults: list[DefaultItem] = Field(description=f"At most {MAX_ITEMS:,} items.")


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
        description=f"At most {MAX_ITEMS:,} items, each with decision_id and value.",
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


class AskHeaders(Query):
    """Headers of a request for a decision."""

    idempotency_key: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)] | None = Field(
        None,
        description="An idempotency key: for 24 hours the same key returns the same decisions, "
        "and is refused with 422 for another body.",
    )


class ChangeHeaders(Query):
    """Headers of a change."""

    if_match: Annotated[str, Field(max_length=64)] | None = Field(
        None,
        description="The ETag that you saw: the change is refused if the campaign was changed "
        "since.",
    )


class HistoryQuery(Query):
    """Which part of the history to return."""

    since: float | None = Field(None, description="The first moment wanted, in seconds since 1970.")


class EventsQuery(Query):
    """Which events to return."""

    after: Annotated[int, Field(ge=0, le=2**62)] = Field(
        0, description="Return events after this sequence number."
    )


class ReadyQuery(Query):
    """How much to say about the health of the server."""

    verbose: str | None = Field(
        None, description="Show what was checked; its value does not matter."
    )


# Answers


class Answer(BaseModel):
    """An answer; clients should ignore members that they do not know."""

    model_config = ConfigDict(extra="allow")


class DecisionAnswer(Answer):
    """Which arm to play."""

    id: str | None = Field(
        description="The id to send rewards and exposures with; null for a peek."
    )
    arm: str = Field(description="The arm to play.")
    propensity: float = Field(ge=0, le=1, description="The probability with which it was drawn.")
    replayed: bool = Field(description="Whether it was made before, for the same unit or key.")
    campaign: str
    number: int = Field(ge=1, description="1 for the first decision of the campaign.")
    unit: str | None
    epoch: int
    due: float | None = Field(description="When the reward window ends, in seconds since 1970.")
    note: str = Field(description="Why a unit got a new decision although it had one.")


class DecisionsAnswer(Answer):
    """Several decisions, if `n` was asked for."""

    decisions: list[DecisionAnswer]


class ReceiptAnswer(Answer):
    """The result of reporting a reward or an exposure."""

    decision_id: str
    status: Literal["recorded", "replayed", "late", "corrected"]
    arm: str
    reward: float | None = Field(description="The reward that counts.")


class RefusedItem(Answer):
    """Why one reward of many was refused."""

    status: Literal["refused"]
    code: str
    detail: str


class RewardsAnswer(Answer):
    """The result for each reward, in the order in which they were sent."""

    results: list[ReceiptAnswer | RefusedItem]


class NotedItem(Answer):
    """The result of reporting one default."""

    status: Literal["recorded", "replayed"]


class DefaultsAnswer(Answer):
    """The result for each default, in the order in which they were sent."""

    results: list[NotedItem | RefusedItem]


class ListedCampaign(Answer):
    """A campaign in the list."""

    name: str


class CampaignsAnswer(Answer):
    """All campaigns."""

    campaigns: list[ListedCampaign]


class CampaignAnswer(Answer):
    """A campaign, as `driftanchor campaign show --json` prints it."""

    name: str
    policy: str
    paused: bool
    epoch: int
    decisions: int
    rewards: int
    pending: int
    late: int
    settings: dict[str, Any]
    arms: dict[str, dict[str, Any]]
    p_best: dict[str, float]
    shift: list[dict[str, Any]]
    problems: list[str]
    changes: list[dict[str, Any]]
    findings: list[str]


class Stretch(Answer):
    """The decisions and rewards of one arm in one time interval."""

    start: float = Field(description="When it starts, in seconds since 1970.")
    arm: str
    decisions: int
    rewards: int
    total: float = Field(description="The sum of the rewards.")


class HistoryAnswer(Answer):
    """The decisions and rewards of all arms, in intervals of 15 minutes."""

    seconds: float = Field(description="The length of a stretch.")
    history: list[Stretch]


class ExplanationAnswer(Answer):
    """Why a decision chose its arm."""

    decision: int
    policy: str
    arm: str
    reason: str
    arms: dict[str, dict[str, Any]]


class HealthAnswer(Answer):
    """The health of the server."""

    status: Literal["ok"]


class ProblemAnswer(Answer):
    """An error, as RFC 9457 defines it."""

    type: str
    title: str
    status: int
    code: str = Field(description="One word for programs.")
    detail: str = Field(description="What is wrong and what to do, for people.")
