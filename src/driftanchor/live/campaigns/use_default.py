"""Defaults: reports from callers whose request timed out and who played a default arm.

A default arm was not drawn, so it has no propensity and its reward does not count. Only an event
records it. If the timed-out request did make a decision, nobody saw that decision, so it is
abandoned; otherwise its default reward would count. Decisions that the unit had before are kept.
So are decisions that wait for no reward: they were only assigned, or the unit keeps them for the
whole campaign.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from driftanchor.core import check
from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.asking import text_of
from driftanchor.live.campaigns.batch import Batch, Needs
from driftanchor.live.campaigns.telling import give_up
from driftanchor.live.stores.rows import WAITING, KeyedRequest

SLACK = 5.0  # seconds that a report may take, or clocks of servers may differ


@dataclass(frozen=True)
class UseDefault:
    """A report that a default arm was played.

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
        given = text_of(key, "key")
        if given is None:
            raise InvalidInput("is missing: give the key of the request", argument="key")
        return cls(given, arm, check.number(ago, "ago", low=0.0), text_of(unit, "unit"))

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
        _keep(batch, self._mark)
        if self.unit is not None:
            self._give_up_of_unit(batch, self.unit)
        elif self.key in batch.keyed:
            self._give_up(batch)
        else:
            _keep(batch, self.key)
        batch.record("default_used", column=column)
        return "recorded"

    @property
    def _mark(self) -> str:
        """The key that marks this report as received."""
        return f"default:{hashlib.sha256(self.key.encode()).hexdigest()}"

    def _give_up(self, batch: Batch) -> None:
        """Abandon the decisions of the request, if it made any."""
        if batch.current.settings.sticky == "campaign":
            return  # the unit keeps it
        first = batch.now - self.ago - SLACK
        for one in batch.keyed[self.key].ids:
            row = batch.found.get(one)
            if row is not None and row.state == WAITING and row.asked_at >= first:
                give_up(batch, row)

    def _give_up_of_unit(self, batch: Batch, unit: str) -> None:
        """Abandon the unit's decision if it was made when the request was sent.

        A decision from another time belongs to another request, and may have been shown.
        """
        row, sent = batch.held.get(unit), batch.now - self.ago
        if row is None or row.state != WAITING or batch.current.settings.sticky == "campaign":
            return
        if abs(row.asked_at - sent) <= SLACK:
            give_up(batch, row)


def _keep(batch: Batch, key: str) -> None:
    """Store a key without decisions."""
    batch.keep_key(key, KeyedRequest([]))
