"""Ask: return the unit's current decision, or draw a new one."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from driftanchor.core import check
from driftanchor.errors import (
    CampaignPaused,
    Conflict,
    DefaultPlayed,
    InvalidInput,
    KeyReused,
    shown,
)
from driftanchor.live.campaigns.batch import Batch, Needs
from driftanchor.live.campaigns.decision import Decision
from driftanchor.live.campaigns.draw import draw
from driftanchor.live.campaigns.new_id import new_id
from driftanchor.live.campaigns.telling import show
from driftanchor.live.stores.damage import damaged
from driftanchor.live.stores.journal import decided_detail
from driftanchor.live.stores.rows import WAITING, DecisionRow, KeyedRequest

LONGEST = 256  # characters of a unit or a key
MOST = 1_000  # decisions of one call
COUNTING = 5.0  # seconds that one call may spend on simulating propensities


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
        labels: tuple[str, ...] = ()
        if not (isinstance(exclude, tuple) and not exclude):  # usually it is empty
            labels = tuple(str(x) for x in check.items(exclude, "exclude"))
        count = 1 if n is None else check.whole(n, "n", low=1, high=MOST)
        if count > 1 and (unit is not None or peek):
            raise InvalidInput(
                f"is {count} and a unit has one decision at a time: ask for each unit, and peek at "
                "one decision",
                argument="n",
            )
        looks = check.flag(peek, "peek")
        return cls(text_of(unit, "unit"), labels, count, looks, text_of(key, "key"))

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""
        return Needs(
            (),
            () if self.unit is None else (self.unit,),
            () if self.key is None else (self.key,),
        )

    def __call__(self, batch: Batch) -> list[Decision]:
        """Return the decisions."""
        excluded: list[int] = []
        if self.exclude:
            arms = batch.current.terms.arms
            excluded = sorted({arms.column(label, "exclude") for label in self.exclude})
        if self.key is not None and self.key in batch.keyed:
            return self._again(batch, batch.keyed[self.key])
        note, held = "", None
        if self.unit is not None and batch.current.settings.sticky is not None:
            held = batch.held.get(self.unit)
        if held is not None:
            note = _why_another(batch, held, excluded)
            if not note:
                if (
                    held.state == "assigned"
                    and batch.current.waits
                    and not (self.assign or self.peek)
                ):
                    show(batch, held)
                return self._kept(batch, [_answer(batch, held, True)])
        if batch.current.counters.paused:
            raise CampaignPaused(
                f"campaign {batch.campaign!r} is paused and makes no new decisions: resume it"
            )
        policy = batch.current.terms.policy
        if policy.not_live is not None:  # campaigns created by older versions may have one
            raise Conflict(
                f"campaign {batch.campaign!r} makes no new decisions, because {policy.name!r} is "
                f"not made for live use: {policy.not_live}; create a campaign with another policy"
            )
        until = time.monotonic() + COUNTING
        if self.peek:
            return [_look(batch, self, note, until)]
        answers = []
        for _ in range(self.count):
            waits = batch.current.waits and not self.assign
            row = _new_row(batch, self.unit, excluded, held, waits, until)
            answers.append(_answer(batch, row, False, note))
        return self._kept(batch, answers)

    @property
    def digest(self) -> str:
        """Return a digest of the request, to detect a key reused for another request."""
        asked = [self.unit, sorted(set(self.exclude)), self.count, self.peek, self.assign]
        return hashlib.blake2b(json.dumps(asked).encode(), digest_size=16).hexdigest()

    def _again(self, batch: Batch, request: KeyedRequest) -> list[Decision]:
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
        lost = [x for x in ids if x not in batch.found]
        if lost:
            raise damaged(f"the key {self.key!r} refers to a missing decision {lost[0]!r}")
        return [_answer(batch, batch.found[x], True) for x in ids]

    def _kept(self, batch: Batch, answers: list[Decision]) -> list[Decision]:
        """Store the answers under the key of the request, and return them."""
        if self.key is not None and not self.peek:
            batch.keep_key(self.key, KeyedRequest([str(x.id) for x in answers], self.digest))
        return answers


def text_of(value: object, argument: str) -> str | None:
    """A unit or a key: some printable text, or nothing."""
    if value is None:
        return None
    if not is_text(value):
        raise InvalidInput(
            f"must be printable text of 1 to {LONGEST} characters, got {shown(value)}",
            argument=argument,
        )
    return value


def is_text(value: object) -> TypeGuard[str]:
    """Whether something can be a unit or a key: printable text that is not too long."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= LONGEST


def _why_another(batch: Batch, held: DecisionRow, excluded: Sequence[int]) -> str:
    """Why a unit does not get the decision it holds; empty if it does."""
    label = batch.current.terms.arms[held.column]
    if held.column in batch.current.archived:
        return f"the arm of the decision before, {label!r}, is archived"
    if held.column in excluded:
        return f"the arm of the decision before, {label!r}, is excluded"
    return ""


def _new_row(
    batch: Batch,
    unit: str | None,
    excluded: list[int],
    held: DecisionRow | None,
    waits: bool,
    until: float,
) -> DecisionRow:
    """Draw and record a decision, which replaces the unit's previous one."""
    current, now = batch.current, batch.now
    decider, settings = current.decider, current.settings
    without = [decider.labels[i] for i in excluded]
    found = draw(decider, settings, without, waits=waits, known=current.propensities, until=until)
    if held is not None and held.holds is not None:
        held.holds = None
        batch.change(held)
    number, column = found.event.number, found.event.column
    decision_id, propensity = new_id(), found.propensity
    assigned = current.waits and not waits
    detail = decided_detail(found.event, excluded, decision_id, unit, assigned=assigned)
    entry = batch.record("decided", decision=number, column=column, value=propensity, detail=detail)
    current.traffic.drawn(found.probabilities)
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


def _answer(batch: Batch, row: DecisionRow, replayed: bool, note: str = "") -> Decision:
    return Decision(
        row.id,
        batch.current.decider.labels[row.column],
        row.propensity,
        replayed,
        batch.campaign,
        row.number,
        row.unit,
        row.epoch,
        row.due_at,
        note,
    )


def _look(batch: Batch, ask: Ask, note: str, until: float) -> Decision:
    """Return the decision that would be made now, without recording it."""
    current = batch.current
    found = draw(
        current.decider, current.settings, ask.exclude, known=current.propensities, until=until
    )
    number, column = found.event.number, found.event.column
    return Decision(
        None,
        current.terms.arms[column],
        found.propensity,
        False,
        batch.campaign,
        number,
        ask.unit,
        current.counters.epoch,
        None,
        note,
    )
