"""Read one campaign over a link, and write its changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftanchor.core.record import Record
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import (
    KEY_SECONDS,
    ArmRow,
    CampaignRow,
    CohortRow,
    Counters,
    DecisionRow,
    HistoryRow,
    KeyedRequest,
    Snapshot,
    UnclosedRow,
)
from driftanchor.live.stores.sql import (
    arm_sums,
    campaign_rows,
    cohorts,
    decisions,
    events,
    history,
)
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.store import Changes, Reader


class SqlReader(Reader):
    """Reads one campaign in one transaction."""

    def __init__(self, link: Link, campaign: int, head: Counters) -> None:
        self._link = link
        self._campaign = campaign
        self.counters = head

    def named(self, name: str) -> CampaignRow | None:
        """Return the campaign of this name."""
        return campaign_rows.find(self._link, name)

    def entries(self, after: int, through: int | None = None) -> Iterator[Entry]:
        """Return the events after a sequence number."""
        last = self.counters.seq if through is None else min(through, self.counters.seq)
        return events.after(self._link, self._campaign, after, last)

    def arms(self) -> list[ArmRow]:
        """All arms."""
        return arm_sums.all_rows(self._link, self._campaign)

    def expected(self) -> bytes:
        """Return the sums of propensities."""
        return campaign_rows.expected(self._link, self._campaign)

    def decisions(self, ids: Sequence[str]) -> list[DecisionRow]:
        """Return decisions by id."""
        return decisions.by_id(self._link, self._campaign, ids)

    def all_decisions(self, after: int = 0, page: int = 5_000) -> Iterator[DecisionRow]:
        """Yield every decision after a number."""
        return decisions.all_rows(self._link, self._campaign, after, page)

    def holding(self, units: Sequence[str], epoch: int) -> list[DecisionRow]:
        """Return the current decisions of units."""
        return decisions.holding(self._link, self._campaign, units, epoch)

    def due(self, now: float, most: int) -> list[DecisionRow]:
        """Return decisions whose window has ended."""
        return decisions.due(self._link, self._campaign, now, most)

    def keyed(self, keys: Sequence[str], since: float) -> dict[str, KeyedRequest]:
        """Return the requests with these keys since a time."""
        return decisions.keyed(self._link, self._campaign, keys, since)

    def all_keyed(self) -> Iterator[tuple[str, KeyedRequest, float]]:
        """Yield every request key."""
        return decisions.all_keyed(self._link, self._campaign)

    def history(self, since: float | None = None, stretch: float | None = None) -> list[HistoryRow]:
        """The history."""
        return history.rows(self._link, self._campaign, since, stretch)

    def changes(self, after: int = 0) -> list[Entry]:
        """Return the events that change the campaign."""
        return events.changes(self._link, self._campaign, after)

    def corrections(self, after: int, through: int) -> list[Entry]:
        """Return the events that change a reward."""
        return events.corrections(self._link, self._campaign, after, through)

    def reported(self, after: int, decision: int) -> dict[str, int]:
        """Count the rewards reported in time and late."""
        return events.reported(self._link, self._campaign, after, decision)

    def matured(self, before: float | None = None) -> Entry | None:
        """Return the last estimate of live rewards."""
        return events.matured(self._link, self._campaign, before)

    def cohorts(
        self, after: int, number: int, length: float, default: float, old: int
    ) -> list[CohortRow]:
        """Count decisions and rewards by the slot of the decision."""
        return cohorts.rows(self._link, self._campaign, after, number, length, default, old)

    def rewards(self, column: int) -> dict[int, float]:
        """Return all rewards of an arm."""
        return decisions.rewards(self._link, self._campaign, column)

    def unclosed(self, old: int, now: float, default: float) -> list[UnclosedRow]:
        """Count old decisions whose window is open."""
        return cohorts.unclosed(self._link, self._campaign, old, now, default)

    def of_unit(self, unit: str, after: int, through: int) -> list[DecisionRow]:
        """Return the decisions of a unit."""
        return decisions.of_unit(self._link, self._campaign, unit, after, through)

    def watch(self) -> Record | None:
        """Return the stored state of the shift tests."""
        return history.watch(self._link, self._campaign)

    def snapshot(self, through: int) -> Snapshot | None:
        """Return the last snapshot at or before a sequence number."""
        return history.snapshot(self._link, self._campaign, through)


def write(link: Link, campaign: int, changes: Changes) -> None:
    """Write all changes of a transaction."""
    events.add(link, campaign, changes.entries)
    if changes.settled:
        decisions.change(link, changes.settled)  # first, because units release their old decisions
    if changes.made:
        decisions.add(link, campaign, changes.made)
    arm_sums.put(link, campaign, changes.arms)
    history.add(link, campaign, changes.history)
    if changes.keys:
        at = changes.entries[0].at if changes.entries else 0.0
        decisions.add_keys(link, campaign, changes.keys, at)
    if changes.expected is not None:
        campaign_rows.expect(link, campaign, changes.expected)
    if changes.watch is not None:
        history.keep_watch(link, campaign, changes.watch)
    if changes.snapshot is not None:
        if changes.entries:
            before = changes.entries[0].at - KEY_SECONDS
            decisions.forget_keys(link, campaign, before)
        history.keep(link, campaign, changes.snapshot)
    campaign_rows.move(link, campaign, changes.counters)


def happened(link: Link, campaign: int, changes: Changes) -> bool:
    """Whether a transaction that was cut off while it ended is in the store."""
    if not changes.entries:
        return False  # to do it again changes nothing
    first = changes.entries[0]
    found = list(events.after(link, campaign, first.seq - 1, first.seq))
    made = [row.id for row in changes.made[:1]]
    return found == [first] and len(decisions.by_id(link, campaign, made)) == len(made)
