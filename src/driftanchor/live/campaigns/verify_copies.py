"""What a store keeps beside its events, sums and decisions, compared with the events."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from driftanchor.core.record import plain
from driftanchor.live.campaigns.batch import History, add_to_history
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.records import state_fields
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.store import Reader


class Copies:
    """The history and the snapshots that the events give.

    Args:
        reader: The campaign at one moment.
    """

    def __init__(self, reader: Reader) -> None:
        self.wrong: list[str] = []
        self._reader = reader
        self._past: History = {}
        self._subtracted: History = {}  # rewards that were corrected
        self._places = set(_places(reader))
        self._alarms: list[object] = []

    def note(self, entry: Entry, current: CampaignState) -> None:
        """Go on by one event, after which the state of the campaign is `current`."""
        add_to_history(self._past, entry)
        if entry.kind == "corrected" and entry.detail is not None:
            add_to_history(self._subtracted, entry._replace(value=0.0))
        if entry.kind == "alarm":
            self._alarms.append(entry.detail)
        if entry.seq not in self._places:
            return
        kept = self._reader.snapshot(entry.seq)
        state = json.loads(json.dumps(state_fields(current.state)))
        if kept is None or kept.state != state:
            self.wrong.append(f"the snapshot of event {entry.seq} is not what the events give")

    def differences(self) -> Iterator[str]:
        """What does not fit, after the last event."""
        yield from self.wrong
        last = max(self._places, default=0)
        if self._reader.counters.snapshot != last:
            yield f"the last snapshot is said to be {self._reader.counters.snapshot}, and is {last}"
        kept = {(row.start, row.column): row for row in self._reader.history()}
        for key in sorted(kept.keys() | self._past.keys()):
            here, said = kept.get(key), self._past.get(key)
            subtracted = self._subtracted.get(key)
            lost = 0.0 if subtracted is None else 1e-12 * abs(subtracted.total)
            if (
                here is None
                or said is None
                or (here.decisions, here.rewards) != (said.decisions, said.rewards)
                or not math.isclose(here.total, said.total, rel_tol=1e-6, abs_tol=1e-6 + lost)
            ):  # a sum of floats depends on how it was split into transactions
                yield f"the history from {key[0]:g} on is {here}, the events give {said}"
        alarms = [plain(alarm.to_json()) for alarm in alarms_of(self._reader.watch())]
        if alarms != plain(self._alarms):
            yield f"{len(alarms)} alarms are kept, the events give {len(self._alarms)}, or others"


def _places(reader: Reader) -> Iterator[int]:
    """The events after which there are snapshots, the last first."""
    place: int | None = reader.counters.seq
    while place is not None:
        found = reader.snapshot(place)
        place = None if found is None else found.seq - 1
        if found is not None:
            yield found.seq
