"""Response bodies, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


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
    """What happened to one arm in one stretch of time."""

    start: float = Field(description="When it starts, in seconds since 1970.")
    arm: str
    decisions: int
    rewards: int
    total: float = Field(description="The sum of the rewards.")


class HistoryAnswer(Answer):
    """What happened, by stretches of 15 minutes."""

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
    """An error, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    code: str = Field(description="One word for programs.")
    detail: str = Field(description="What is wrong and what to do, for people.")
