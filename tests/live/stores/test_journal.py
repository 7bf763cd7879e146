"""Entries of the journal as events of a state."""

from __future__ import annotations

import math

import pytest

from driftanchor.errors import UnreadableState
from driftanchor.live.state_events import (
    ArmAdded,
    Corrected,
    Decided,
    Distrusted,
    Event,
    Exposed,
    GivenUp,
    Paused,
    Resumed,
    Rewarded,
)
from driftanchor.live.stores.journal import (
    WITHOUT_EFFECT,
    Entry,
    added_detail,
    checksum,
    core_event,
    decided_detail,
    excluded,
)

EVENTS: dict[str, tuple[Entry, Event]] = {
    "exposed": (Entry(1, "exposed", 0.0, 3, 1), Exposed(1)),
    "rewarded": (Entry(1, "rewarded", 0.0, 3, 1, 0.5), Rewarded((1,), (0.5,), (3,))),
    "defaulted": (Entry(1, "defaulted", 0.0, 3, 1, 0.0), Rewarded((1,), (0.0,), (3,))),
    "added": (Entry(1, "added", 0.0, 3, 1, 1.0), Rewarded((1,), (1.0,), (3,), late=True)),
    "expired": (Entry(1, "expired", 0.0, 3, 1), GivenUp(1, 1, (3,))),
    "corrected": (Entry(1, "corrected", 0.0, 3, 1, 1.0, {"before": 0.25}), Corrected(1, 0.25, 1.0)),
    "arm_paused": (Entry(1, "arm_paused", 0.0, None, 1), Paused(1)),
    "arm_archived": (Entry(1, "arm_archived", 0.0, None, 1), Paused(1)),
    "arm_distrusted": (Entry(1, "arm_distrusted", 0.0, None, 1), Distrusted(1)),
    "arm_restored": (Entry(1, "arm_restored", 0.0, None, 1), Resumed(1)),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_an_entry_becomes_an_event(kind: str) -> None:
    entry, event = EVENTS[kind]
    assert core_event(entry, waits=True) == event


def test_a_decision_and_a_new_arm_keep_their_details() -> None:
    event = Decided(2, 1, ((0, (0.5, 1.0)),), waits=False)
    entry = Entry(1, "decided", 0.0, 2, 1, 0.5, decided_detail(event, [2], "id-1", "u"))
    assert core_event(entry, waits=False) == event
    assert excluded(entry) == [2]
    assert decided_detail(Decided(1, 0), [], "id-1", None) == {"id": "id-1"}
    arm = ArmAdded("C", (9, 0.5, None), math.inf, None)
    assert core_event(Entry(1, "arm_added", 0.0, detail=added_detail(arm)), waits=True) == arm


def test_any_change_of_an_event_changes_the_checksum() -> None:
    entry = Entry(7, "decided", 1.5, 2, 1, 0.5, {"id": "id-1", "unit": "ä"})
    others = [
        entry._replace(seq=8),
        entry._replace(kind="exposed"),
        entry._replace(at=math.nextafter(1.5, 2.0)),
        entry._replace(decision=None),
        entry._replace(column=0),
        entry._replace(value=math.nextafter(0.5, 1.0)),
        entry._replace(detail={"id": "id-1", "unit": "a"}),
        entry._replace(detail=None),
    ]
    found = {checksum([one], 0) for one in [entry, *others]}
    assert len(found) == 1 + len(others)
    assert checksum([entry], 0) == checksum([entry._replace()], 0) != checksum([entry], 1)
    assert checksum([entry._replace(value=1)], 0) == checksum([entry._replace(value=1.0)], 0)


def test_the_checksum_of_some_events_is_that_of_one_after_the_other() -> None:
    entries = [Entry(i, "rewarded", at, 2, 1, 0.5) for i, at in enumerate((0.0, -0.0, 0, 1.5, 1.5))]
    one_by_one = 5
    for entry in entries:
        one_by_one = checksum([entry], one_by_one)
    assert checksum(entries, 5) == one_by_one


def test_some_entries_leave_the_state_as_it_is() -> None:
    for kind in WITHOUT_EFFECT:
        assert core_event(Entry(1, kind, 0.0, 1, 0, 1.0), waits=True) is None


@pytest.mark.parametrize(
    "entry",
    [
        Entry(7, "unheard", 0.0, 1, 0, 1.0),
        Entry(7, "rewarded", 0.0, 1, 0),
        Entry(7, "rewarded", 0.0, None, 0, 1.0),
        Entry(7, "decided", 0.0, 1),
    ],
)
def test_what_lacks_something_is_damage(entry: Entry) -> None:
    with pytest.raises(UnreadableState, match="event 7 is of kind"):
        core_event(entry, waits=True)
