"""Requests for decisions and about them: ask, tell, correct, expose, and a default that was played.

A `Batch` executes them. A request either returns its answer, or raises without changing anything.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

from driftanchor.core import check
from driftanchor.errors import (
    CampaignPaused,
    Conflict,
    DefaultPlayed,
    InvalidInput,
    KeyReused,
    OtherReward,
    OutsideLogs,
    shown,
)
from driftanchor.live.campaigns.batch import Batch, Needs
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.decision import Decision, Receipt, decision_id_text, new_id
from driftanchor.live.campaigns.draw import Draw, draw
from driftanchor.live.stores.damage import damaged
from driftanchor.live.stores.journal import Detail, decided_detail
from driftanchor.live.stores.rows import WAITING, DecisionRow, KeyedRequest

MAX_TEXT = 256  # characters of a unit or a key
MAX_DECISIONS = 1_000  # in one call
MAX_SECONDS = 5.0  # that one call may spend on simulating propensities
SLACK = 5.0  # seconds that a report of a default may take, or clocks of servers may differ


@dataclass(slots=True)
class Ask:
    """A request for decisions.

    Attributes:
        unit: The unit that the decision is for, if given.
        exclude: Arms that cannot be played this time.
        count: The number of decisions.
        peek: Whether to record nothing.
        key: The idempotency key, if given.
        assign: Whether to assign without showing: the decision waits for its reward once it is
            shown, as with `exposure="report"`. A later ordinary ask marks it as shown, unless the
            campaign itself has `exposure="report"`.
    """

    unit: str | None = None
    exclude: tuple[str, ...] = ()
    count: int = 1
    peek: bool = False
    key: str | None = None
    assign: bool = False

    @classmethod
    def checked(
        cls,
        unit: object = None,
        exclude: Iterable[str] = (),
        n: int | None = None,
        peek: bool = False,
        key: object = None,
    ) -> Ask:
        """Validate a caller's arguments and build the request; see `Campaign.ask`."""
        labels = tuple(str(x) for x in check.items(exclude, "exclude"))
        count = 1 if n is None else check.whole(n, "n", low=1, high=MAX_DECISIONS)
        if count > 1 and (unit is not None or peek):
            raise InvalidInput(
                f"is {count} and a unit has one decision at a time: ask for each unit, and peek at "
                "one decision",
                argument="n",
            )
        peek = check.flag(peek, "peek")
        return cls(text_of(unit, "unit"), labels, count, peek, text_of(key, "key"))

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        units = () if self.unit is None else (self.unit,)
        return Needs((), units, () if self.key is None else (self.key,))

    def __call__(self, batch: Batch) -> list[Decision]:
        """Return the decisions."""
        current = batch.current
        arms = current.terms.arms
        excluded = sorted({arms.column(label, "exclude") for label in self.exclude})
        if self.key is not None and self.key in batch.keyed:
            return self._replay(batch, batch.keyed[self.key])
        note, held = "", None
        if self.unit is not None and current.settings.sticky is not None:
            held = batch.held.get(self.unit)
        if held is not None:
            if held.column in current.archived:
                note = f"the arm of the decision before, {arms[held.column]!r}, is archived"
            elif held.column in excluded:
                note = f"the arm of the decision before, {arms[held.column]!r}, is excluded"
            else:
                if held.state == "assigned" and current.waits and not (self.assign or self.peek):
                    show(batch, held)
                return self._keep(batch, [_decision(batch, held, replayed=True)])
        if current.counters.paused:
            raise CampaignPaused(
                f"campaign {batch.campaign!r} is paused and makes no new decisions: resume it"
            )
        policy = current.terms.policy
        if policy.not_live is not None:  # campaigns created by older versions may have one
            raise Conflict(
                f"campaign {batch.campaign!r} makes no new decisions, because {policy.name!r} is "
                f"not made for live use: {policy.not_live}; create a campaign with another policy"
            )
        until = time.monotonic() + MAX_SECONDS
        if self.peek:
            drawn = _draw(current, excluded, until)
            return [_peeked(batch, drawn, self.unit, note)]
        decisions = []
        for _ in range(self.count):
            row = self._decide(batch, excluded, held, until)
            decisions.append(_decision(batch, row, note=note))
        return self._keep(batch, decisions)

    @property
    def digest(self) -> str:
        """Return a digest of the request, to detect a key reused for another request."""
        asked = [self.unit, sorted(set(self.exclude)), self.count, self.peek, self.assign]
        return hashlib.blake2b(json.dumps(asked).encode(), digest_size=16).hexdigest()

    def _decide(
        self, batch: Batch, excluded: list[int], held: DecisionRow | None, until: float
    ) -> DecisionRow:
        """Draw and record a decision, which replaces the unit's previous one."""
        current, now, unit = batch.current, batch.now, self.unit
        settings = current.settings
        waits = current.waits and not self.assign
        drawn = _draw(current, excluded, until, waits=waits)
        if held is not None and held.holds is not None:
            held.holds = None
            batch.change(held)
        number, column = drawn.event.number, drawn.event.column
        decision_id, propensity = new_id(), drawn.propensity
        assigned = current.waits and not waits
        detail = decided_detail(drawn.event, excluded, decision_id, unit, assigned=assigned)
        entry = batch.record(
            "decided", decision=number, column=column, value=propensity, detail=detail
        )
        current.traffic.add(drawn.probabilities)
        window = settings.reward_window
        row = DecisionRow(
            decision_id,
            number,
            entry.seq,
            column,
            unit,
            unit if settings.sticky is not None else None,
            current.counters.epoch,
            propensity,
            WAITING if waits else "assigned",
            now,
            exposed_at=now if waits else None,
            due_at=now + window if waits and window is not None else None,
        )
        batch.make(row)
        return row

    def _replay(self, batch: Batch, request: KeyedRequest) -> list[Decision]:
        """Return the decisions of the earlier request with this key."""
        ids = request.ids
        if not ids:
            raise DefaultPlayed(
                f"the key {self.key!r} belongs to a request that timed out: its caller played "
                "a default arm; use another key"
            )
        if request.digest not in (None, self.digest):
            raise KeyReused(
                f"the key {self.key!r} belongs to another request: a key belongs to one unit, "
                "exclude, n and peek for 24 hours; use another key"
            )
        if len(ids) != self.count:  # written by an older version, without a digest
            raise KeyReused(
                f"the key {self.key!r} belongs to a request for {len(ids)} decisions, got n="
                f"{self.count}: a key belongs to one request; use another key"
            )
        lost = [x for x in ids if x not in batch.decisions]
        if lost:
            raise damaged(f"the key {self.key!r} refers to a missing decision {lost[0]!r}")
        return [_decision(batch, batch.decisions[x], replayed=True) for x in ids]

    def _keep(self, batch: Batch, decisions: list[Decision]) -> list[Decision]:
        """Store the decisions under the key of the request, and return them."""
        if self.key is not None and not self.peek:
            batch.keep_key(self.key, KeyedRequest([str(x.id) for x in decisions], self.digest))
        return decisions


@dataclass(slots=True)
class Tell:
    """A reward for a decision; it counts once, despite retries, late reports and sweeps.

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
        return Needs((self.decision_id,) if isinstance(self.decision_id, str) else ())

    def __call__(self, batch: Batch) -> Receipt:
        """Execute the request and return the receipt."""
        current = batch.current
        reward = current.settings.reward_of(self.reward, current.terms.reward_range)
        row = batch.decision(decision_id_text(self.decision_id))
        if row.reported is not None:
            if row.reported != reward:
                raise OtherReward(
                    f"decision {row.id!r} already has the reward {row.reported!r}; got "
                    f"{reward!r}: a decision has one reward, which only a correction replaces"
                )
            return _receipt(batch, row, "replayed")
        _refuse_outside(current, reward, self.allow_outside)
        settle_if_due(batch, row)
        if row.state in ("defaulted", "expired"):
            return _late(batch, row, reward)
        if row.state == "assigned":  # a reward implies that the arm was shown
            show(batch, row)
        _settle(batch, row, "rewarded", reward)
        row.reported = reward
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
        row = batch.decision(decision_id_text(self.decision_id))
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
        _refuse_outside(current, reward, self.allow_outside)
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


@dataclass(frozen=True)
class Expose:
    """A report that a decision was shown."""

    decision_id: str

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        return Needs((self.decision_id,))

    def __call__(self, batch: Batch) -> Receipt:
        """Execute the request and return the receipt."""
        row = batch.decision(self.decision_id)
        if row.state != "assigned":
            return _receipt(batch, row, "replayed")
        show(batch, row)
        return _receipt(batch, row, "recorded")


@dataclass(frozen=True)
class UseDefault:
    """A report that a caller played a default arm, because its request timed out.

    A default arm was not drawn, so it has no propensity and its reward does not count: an event
    records it, and that is all. If the request did make a decision, nobody saw it, so it is
    abandoned; otherwise its default reward would count. Earlier decisions of the unit are
    kept, and so are decisions that wait for no reward: a decision that was only assigned, or one
    that the unit keeps for the whole campaign.

    Attributes:
        key: The key of the request that timed out. It makes no decision from now on.
        arm: The arm that was played instead.
        ago: Seconds since the request was sent.
        unit: The unit, for a request without a key; `key` is then the key of this report.
    """

    key: str
    arm: str
    ago: float = 0.0
    unit: str | None = None

    @classmethod
    def checked(cls, key: object, arm: str, ago: float, unit: object = None) -> UseDefault:
        """Validate a caller's arguments and build the request."""
        valid_key = text_of(key, "key")
        if valid_key is None:
            raise InvalidInput("is missing: give the key of the request", argument="key")
        return cls(valid_key, arm, check.number(ago, "ago", low=0.0), text_of(unit, "unit"))

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        units = () if self.unit is None else (self.unit,)
        return Needs(units=units, keys=(self.key, self._mark))

    def __call__(self, batch: Batch) -> str:
        """Return `"recorded"`, or `"replayed"` if it was reported before."""
        column = batch.current.terms.arms.column(self.arm, "arm")
        if self._mark in batch.keyed:
            return "replayed"
        batch.keep_key(self._mark, KeyedRequest([]))
        if self.unit is None and self.key not in batch.keyed:
            batch.keep_key(self.key, KeyedRequest([]))
        elif batch.current.settings.sticky != "campaign":  # else the unit keeps its decision
            for row in self._unseen(batch):
                if row.state == WAITING:
                    _settle(batch, row, "expired")
        batch.record("default_used", column=column)
        return "recorded"

    @property
    def _mark(self) -> str:
        """The key that marks this report as received."""
        return f"default:{hashlib.sha256(self.key.encode()).hexdigest()}"

    def _unseen(self, batch: Batch) -> list[DecisionRow]:
        """Return the decisions that the request made.

        A unit's decision from another time belongs to another request, and may have been shown.
        """
        sent = batch.now - self.ago
        if self.unit is None:
            rows = [batch.decisions.get(x) for x in batch.keyed[self.key].ids]
            return [row for row in rows if row is not None and row.asked_at >= sent - SLACK]
        held = batch.held.get(self.unit)
        return [held] if held is not None and abs(held.asked_at - sent) <= SLACK else []


def text_of(value: object, argument: str) -> str | None:
    """Validate a unit or a key: printable text, or `None`."""
    if value is None:
        return None
    if not is_text(value):
        raise InvalidInput(
            f"must be printable text of 1 to {MAX_TEXT} characters, got {shown(value)}",
            argument=argument,
        )
    return value


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value can be a unit or a key."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= MAX_TEXT


def show(batch: Batch, row: DecisionRow) -> None:
    """Mark a decision as shown; it waits for its reward from now on."""
    window = batch.current.settings_of(row.number).reward_window
    batch.record("exposed", decision=row.number, column=row.column)
    row.state, row.exposed_at = WAITING, batch.now
    row.due_at = None if window is None else batch.now + window
    batch.change(row)


def settle_if_due(batch: Batch, row: DecisionRow) -> None:
    """Settle a decision without a reward if its window is over."""
    if row.state == WAITING and row.due_at is not None and row.due_at <= batch.now:
        default = batch.current.settings_of(row.number).default_reward
        _settle(batch, row, "expired" if default is None else "defaulted", default)


def _settle(batch: Batch, row: DecisionRow, state: str, reward: float | None = None) -> None:
    """End the wait of a decision, with a reward if there is one."""
    batch.record(state, decision=row.number, column=row.column, value=reward)
    row.state, row.reward, row.settled_at = state, reward, batch.now
    if batch.current.settings.sticky != "campaign":
        row.holds = None
    batch.change(row)


def _late(batch: Batch, row: DecisionRow, reward: float) -> Receipt:
    """Record a reward after the window; it replaces the default, or does not count."""
    number, column = row.number, row.column
    row.reported = reward
    batch.change(row)
    if batch.current.settings.late == "ignore":
        batch.record("late", decision=number, column=column, value=reward)
        return _receipt(batch, row, "late")
    if row.state == "expired":
        batch.record("added", decision=number, column=column, value=reward)
    else:
        detail: Detail = {"before": row.reward}
        batch.record("corrected", decision=number, column=column, value=reward, detail=detail)
    row.state, row.reward = "rewarded", reward
    return _receipt(batch, row, "corrected")


def _refuse_outside(current: CampaignState, reward: float, allowed: bool) -> None:
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


def _draw(current: CampaignState, excluded: list[int], until: float, waits: bool = True) -> Draw:
    """Draw the next decision."""
    labels = [current.labels[column] for column in excluded]
    return draw(
        current.decider,
        current.settings,
        labels,
        waits=waits,
        known=current.propensities,
        until=until,
    )


def _decision(
    batch: Batch, row: DecisionRow, *, replayed: bool = False, note: str = ""
) -> Decision:
    return Decision(
        row.id,
        batch.current.labels[row.column],
        row.propensity,
        replayed,
        batch.campaign,
        row.number,
        row.unit,
        row.epoch,
        row.due_at,
        note,
    )


def _peeked(batch: Batch, drawn: Draw, unit: str | None, note: str) -> Decision:
    """Return a decision that is not recorded."""
    return Decision(
        None,
        batch.current.labels[drawn.event.column],
        drawn.propensity,
        False,
        batch.campaign,
        drawn.event.number,
        unit,
        batch.current.counters.epoch,
        None,
        note,
    )


def _receipt(batch: Batch, row: DecisionRow, status: str) -> Receipt:
    return Receipt(row.id, status, batch.current.labels[row.column], row.reward)
