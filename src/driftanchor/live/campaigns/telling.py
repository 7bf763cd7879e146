"""Tell: record each reward once, despite retries, late reports and concurrent sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from driftanchor.core import check
from driftanchor.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    OtherReward,
    OutsideLogs,
    shown,
)
from driftanchor.live.campaigns.batch import Batch, Needs, Spoiled, outcome
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.decision import Receipt, decision_id_text
from driftanchor.live.stores.journal import Detail
from driftanchor.live.stores.rows import WAITING, DecisionRow


@dataclass(slots=True)
class Tell:
    """A reward for a decision.

    Attributes:
        decision_id: The decision as the caller gave it.
        reward: The reward as the caller gave it; validated against the campaign.
        allow_outside: Whether it may be far outside the range of the logged rewards.
    """

    decision_id: object
    reward: object
    allow_outside: bool = False

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        return needs_of([self])

    def __call__(self, batch: Batch) -> Receipt:
        """Execute the request and return the receipt."""
        current = batch.current
        reward = current.settings.reward_of(self.reward, current.decider.terms.reward_range)
        row = found(batch, decision_id_text(self.decision_id))
        if row.reported is not None:
            if row.reported != reward:
                raise OtherReward(
                    f"decision {row.id!r} already has the reward {row.reported!r}; got "
                    f"{reward!r}: a decision has one reward, which only a correction replaces"
                )
            return _receipt(batch, row, "replayed")
        refuse_outside(current, reward, self.allow_outside)
        settle_if_due(batch, row)
        row.reported = reward
        if row.state in ("defaulted", "expired"):
            return _late(batch, row, reward)
        if row.state == "assigned":  # a reward implies that the arm was shown
            show(batch, row)
        _record(batch, [row])
        return _receipt(batch, row, "recorded")


@dataclass(frozen=True)
class Correct:
    """A correction of a reported reward that counts.

    Attributes:
        decision_id: The decision as the caller gave it.
        reward: The right reward.
        before: The reward that counts now, as the caller knows it.
        reason: The reason, if given.
        allow_outside: As in `Tell`.
    """

    decision_id: object
    reward: object
    before: object
    reason: str | None = None
    allow_outside: bool = False

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        return Needs((self.decision_id,) if isinstance(self.decision_id, str) else ())

    def __call__(self, batch: Batch) -> Receipt:
        """Execute the request and return the receipt."""
        current = batch.current
        reward = current.settings.reward_of(self.reward, current.terms.reward_range)
        before = check.number(self.before, "before")
        row = found(batch, decision_id_text(self.decision_id))
        if row.state != "rewarded" or row.reward is None:
            raise Conflict(
                f"decision {row.id!r} has no reported reward that counts: nothing to correct"
            )
        if row.reward == reward:
            return _receipt(batch, row, "replayed")
        if row.reward != before:
            raise OtherReward(
                f"decision {row.id!r} has the reward {row.reward!r}, not {before!r}: give the "
                "recorded reward as the old one"
            )
        refuse_outside(current, reward, self.allow_outside)
        detail: Detail = {"before": row.reward, "counted_at": row.settled_at}
        if self.reason is not None:
            detail["reason"] = self.reason
        if current.loses_digits(row.column, row.reward):
            rewards = {**batch.rewards_of(row.column), row.number: reward}
            detail.update(current.sums_of(row.column, rewards.values()))
        batch.record(
            "corrected", decision=row.number, column=row.column, value=reward, detail=detail
        )
        row.reward = reward
        batch.change(row)
        return _receipt(batch, row, "corrected")


def refuse_outside(current: CampaignState, reward: float, allowed: bool) -> None:
    """Refuse a reward that is far outside the range of the logged rewards."""
    low, high = current.usual
    if low <= reward <= high or allowed or current.settings.allow_outside:
        return
    smallest, largest = current.terms.offline.reward_ends()
    raise OutsideLogs(
        f"is far outside the logged rewards, which are from {smallest:g} to {largest:g}: check "
        f"its unit, and report it with allow_outside if it is right; got {reward!r}",
        argument="reward",
    )


def needs_of(tells: Sequence[Tell]) -> Needs:
    """What must be known before some rewards."""
    return Needs(tuple([x.decision_id for x in tells if isinstance(x.decision_id, str)]))


def tell_all(batch: Batch, tells: Sequence[Tell]) -> list[Receipt | Exception]:
    """Record many rewards; return a receipt or exception for each.

    Nearly all are first rewards of pending decisions. Their events are recorded together, because
    recording them one at a time takes longer than the SQL statements.
    """
    current, decisions = batch.current, batch.found
    reward_of, ends, labels = current.settings.reward_of, current.terms.reward_range, current.labels
    low, high = current.usual
    outcomes: list[Receipt | Exception] = []
    waiting: list[DecisionRow] = []
    for tell in tells:
        one = tell.decision_id
        row = decisions.get(one) if type(one) is str else None
        if row is None or row.state != WAITING or row.reported is not None or _is_due(batch, row):
            _record(batch, waiting)  # flush first: this request may record an event too
            waiting = []
            outcomes.append(outcome(batch, tell.__call__))
            continue
        try:
            reward = reward_of(tell.reward, ends)
            if not low <= reward <= high:
                refuse_outside(current, reward, tell.allow_outside)
            row.reported = reward
        except InvalidInput as error:
            outcomes.append(error)
            continue
        waiting.append(row)
        outcomes.append(Receipt(row.id, "recorded", labels[row.column], reward))
    _record(batch, waiting)
    return outcomes


def _record(batch: Batch, rows: Sequence[DecisionRow]) -> None:
    """Let rewards count that were reported."""
    for row in rows:
        row.reward = row.reported
    _settle(batch, rows, "rewarded")
    try:
        batch.record_rewards(rows)
    except Exception as error:
        raise Spoiled from error


@dataclass(frozen=True)
class Expose:
    """A report that a decision was shown.

    Attributes:
        decision_id: The decision.
    """

    decision_id: str

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        return Needs((self.decision_id,))

    def __call__(self, batch: Batch) -> Receipt:
        """Execute the request and return the receipt."""
        row = found(batch, self.decision_id)
        if row.state != "assigned":
            return _receipt(batch, row, "replayed")
        show(batch, row)
        return _receipt(batch, row, "recorded")


def found(batch: Batch, decision_id: str) -> DecisionRow:
    """The decision of this id."""
    row = batch.found.get(decision_id)
    if row is None:
        raise NotFound(
            f"campaign {batch.campaign!r} has no decision {shown(decision_id)}: give the id that "
            "ask() returned"
        )
    return row


def show(batch: Batch, row: DecisionRow) -> None:
    """Mark a decision as shown; it waits for its reward from now on."""
    window = batch.current.settings_of(row.number).reward_window
    batch.record("exposed", decision=row.number, column=row.column)
    row.state, row.exposed_at = WAITING, batch.now
    row.due_at = None if window is None else batch.now + window
    batch.change(row)


def settle_if_due(batch: Batch, row: DecisionRow) -> bool:
    """Settle a decision if its window is over; return whether it was."""
    if row.state != WAITING or not _is_due(batch, row):
        return False
    row.reward = default = batch.current.settings_of(row.number).default_reward
    kind = "expired" if default is None else "defaulted"
    batch.record(kind, decision=row.number, column=row.column, value=default)
    _settle(batch, [row], kind)
    return True


def _is_due(batch: Batch, row: DecisionRow) -> bool:
    """Whether the window of a decision is over."""
    return row.due_at is not None and row.due_at <= batch.now


def give_up(batch: Batch, row: DecisionRow) -> None:
    """End the wait of a decision without any reward."""
    batch.record("expired", decision=row.number, column=row.column)
    _settle(batch, [row], "expired")


def _settle(batch: Batch, rows: Iterable[DecisionRow], state: str) -> None:
    """End the wait of decisions that have their reward, if there is one."""
    now, keeps = batch.now, batch.current.settings.sticky == "campaign"
    for row in rows:
        row.state, row.settled_at = state, now
        if not keeps:
            row.holds = None
    batch.change(*rows)


def _late(batch: Batch, row: DecisionRow, reward: float) -> Receipt:
    """A reward after the window: it is noted, or it counts in place of the default."""
    about: Any = {"decision": row.number, "column": row.column}
    batch.change(row)
    if batch.current.settings.late == "ignore":
        batch.record("late", value=reward, **about)
        return _receipt(batch, row, "late")
    if row.state == "expired":
        batch.record("added", value=reward, **about)
    else:
        batch.record("corrected", value=reward, detail={"before": row.reward}, **about)
    row.state, row.reward = "rewarded", reward
    return _receipt(batch, row, "corrected")


def _receipt(batch: Batch, row: DecisionRow, status: str) -> Receipt:
    return Receipt(row.id, status, batch.current.labels[row.column], row.reward)
