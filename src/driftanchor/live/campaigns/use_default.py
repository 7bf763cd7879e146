"""Defaults: word of callers that got no answer in time and played an arm of their own choice.

Such an arm was not drawn, so it has no propensity, and its reward does not count. What is kept is
that it happened, as an event. If the request that was not answered made a decision all the same,
nobody has seen that decision, and it is given up: else its default reward would count. A decision
that the unit held before is left alone, and so is one that waits for nothing: it was only assigned,
or its unit keeps it for the whole campaign and will see it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from driftanchor.core import check
from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.asking import text_of
from driftanchor.live.campaigns.batch import Batch, Needs
from driftanchor.live.campaigns.telling import give_up
from driftanchor.live.stores.store_rows import WAITING, KeyedRequest

SLACK = 5.0  # seconds that a report may take, or clocks of servers may differ


@dataclass(frozen=True)
class UseDefault:
    """Word that a default was played.

    Attributes:
        key: The key of the request that was not answered in time. It makes no decision from now on.
        arm: The arm that was played instead.
        ago: How many seconds ago the request was sent.
        unit: The unit of a request that was sent without a key; `key` is then that of this report.
    """

    key: str
    arm: str
    ago: float = 0.0
    unit: str | None = None

    @classmethod
    def checked(cls, key: object, arm: str, ago: float, unit: object = None) -> UseDefault:
        """A request from what a caller gave, if that is right."""
        given = text_of(key, "key")
        if given is None:
            raise InvalidInput("is missing: say which request was not answered", argument="key")
        return cls(given, arm, check.number(ago, "ago", low=0.0), text_of(unit, "unit"))

    @property
    def needs(self) -> Needs:
        """What must be known before."""
        units = () if self.unit is None else (self.unit,)
        return Needs(units=units, keys=(self.key, self._mark))

    def __call__(self, batch: Batch) -> str:
        """`"recorded"`, or `"replayed"` if that is known already."""
        column = batch.books.terms.arms.column(self.arm, "arm")
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
        """The key under which it is kept that this was reported."""
        return f"default:{hashlib.sha256(self.key.encode()).hexdigest()}"

    def _give_up(self, batch: Batch) -> None:
        """Give up what the request decided, if it decided something."""
        if batch.books.settings.sticky == "campaign":
            return  # its unit gets it from now on
        first = batch.now - self.ago - SLACK
        for one in batch.keyed[self.key].ids:
            row = batch.found.get(one)
            if row is not None and row.state == WAITING and row.asked_at >= first:
                give_up(batch, row)

    def _give_up_of_unit(self, batch: Batch, unit: str) -> None:
        """Give up the decision of the unit that was made when the request was sent, if any.

        A decision of another time was made for another request, and may have been shown.
        """
        row, sent = batch.held.get(unit), batch.now - self.ago
        if row is None or row.state != WAITING or batch.books.settings.sticky == "campaign":
            return
        if abs(row.asked_at - sent) <= SLACK:
            give_up(batch, row)


def _keep(batch: Batch, key: str) -> None:
    """Keep a key that stands for no decision."""
    batch.keep_key(key, KeyedRequest([]))
