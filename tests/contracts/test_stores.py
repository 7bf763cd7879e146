"""The contract of a store, in the words of its base class, on SQLite and PostgreSQL."""

from __future__ import annotations

import dataclasses
import math
import os
import threading

import pytest

from driftanchor.errors import Conflict, NotFound
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import (
    ArmRow,
    CampaignRow,
    Counters,
    DecisionRow,
    HistoryRow,
    KeyedRequest,
    Snapshot,
    new_arms,
)
from driftanchor.live.stores.store import Changes, Reader, Store, open_store

NEW = CampaignRow(0, "c", 5.0, {"a": [1, "ä"]}, {"b": None})


@pytest.fixture
def campaign(store: Store) -> int:
    return store.create(NEW, new_arms(["A", "B"], 2)).id


def decision(number: int, **fields: object) -> DecisionRow:
    row = DecisionRow(f"id-{number}", number, number, 0, None, None, 0, 0.5, "open", 1.5)
    return dataclasses.replace(row, **fields)  # type: ignore[arg-type]


def add(store: Store, campaign: int, *rows: DecisionRow, **fields: object) -> None:
    """Keep decisions, each with its event."""

    def work(reader: Reader) -> Changes:
        seq = reader.counters.seq
        entries = [Entry(seq + i + 1, "decided", 1.5, row.number, 0) for i, row in enumerate(rows)]
        changes = Changes(Counters(seq + len(rows), len(rows)), entries, made=list(rows))
        return dataclasses.replace(changes, **fields)  # type: ignore[arg-type]

    store.transact(campaign, work)


def test_a_campaign_is_found_by_its_name(store: Store) -> None:
    assert store.names() == []
    assert store.find("c") is None
    made = store.create(NEW, new_arms(["A"], 0))
    assert store.find("c") == made == dataclasses.replace(NEW, id=made.id)
    other = store.create(dataclasses.replace(NEW, name="b"), new_arms(["A"], 0))
    assert other.id != made.id
    assert store.names() == ["b", "c"]


def test_a_name_is_taken_once(store: Store, campaign: int) -> None:
    with pytest.raises(Conflict, match="there is a campaign 'c' already"):
        store.create(NEW, new_arms(["A"], 0))
    assert store.names() == ["c"]


def test_what_a_new_campaign_has(store: Store, campaign: int) -> None:
    with store.reading(campaign) as reader:
        assert reader.counters == Counters()
        assert reader.arms() == [ArmRow(i, x, memory=[0.0, 0.0]) for i, x in enumerate("AB")]
        assert list(reader.entries(0)) == []
        assert list(reader.all_decisions()) == []
        assert reader.history() == []
        assert reader.expected() == b""
        assert reader.snapshot(10**9) is None


def test_an_unknown_campaign_is_not_found(store: Store, campaign: int) -> None:
    with (
        pytest.raises(NotFound, match="no longer has campaign number 99"),
        store.reading(99) as reader,
    ):
        reader.arms()
    with pytest.raises(NotFound, match="no longer has"):
        store.transact(99, lambda reader: None)


def test_everything_comes_back_as_it_was_written(store: Store, campaign: int) -> None:
    tiny = math.ulp(0.0)
    detail = {"before": 0.1 + 0.2, "exclude": [1], "label": "ä'; DROP TABLE arms;--"}
    entries = [
        Entry(1, "decided", 1e9 + 1e-7, 1, 0, None, detail),
        Entry(2, "rewarded", -5.0, 1, 0, 1e90 / 3),
        Entry(3, "paused", 0.0),
    ]
    arm = ArmRow(1, "B", "archived", 3, 2**60, 0.1 + 0.2, tiny, 1, [1 / 3, -0.0], 0, None, 2)
    new = ArmRow(2, "☃", "active", memory=[0.0, 0.0], added_seq=3, added=detail)
    rows = [
        decision(1, unit="u", holds="u", due_at=2.5, exposed_at=1.5),
        decision(2, state="rewarded", settled_at=3.0, reward=0.1 + 0.2, reported=-1e-300),
    ]
    history = [HistoryRow(900.0, 1, 2, 1, 0.1), HistoryRow(0.0, 1, 1, 1, 0.25)]
    counters = Counters(3, 2, 7, True, 3, 4)
    snapshot = Snapshot(3, {"tally": [0.1 + 0.2]})
    keys = {"k": KeyedRequest(["id-1", "id-2"], "digest")}
    changes = Changes(counters, entries, [arm, new], rows, [], history, keys, b"\0\xff", snapshot)
    store.transact(campaign, lambda reader: changes)
    with store.reading(campaign) as reader:
        assert reader.counters == counters
        assert list(reader.entries(0)) == entries
        assert list(reader.entries(1, 2)) == entries[1:2]
        assert reader.arms()[1:] == [arm, new]
        assert list(reader.all_decisions()) == rows
        assert list(reader.all_decisions(page=1)) == rows
        assert reader.decisions(["id-2", "nobody's"]) == rows[1:]
        assert reader.holding(["u", "v"], 0) == rows[:1]
        assert reader.holding(["u"], 1) == []
        at = entries[0].at
        assert reader.keyed(["k", "l"], at - 1.0) == keys
        assert reader.keyed(["k", "l"], at) == {}  # it has expired
        assert reader.history() == history[::-1]
        assert reader.history(900.0) == history[:1]
        assert reader.expected() == b"\0\xff"
        assert reader.snapshot(2) is None
        assert reader.snapshot(10) == snapshot
    assert store.owner("id-2") == "c"
    assert store.owner("id-3") is None


def test_history_adds_up(store: Store, campaign: int) -> None:
    one, other = HistoryRow(900.0, 0, 1, 1, 0.5), HistoryRow(900.0, 0, 1, 1, 0.25)
    store.transact(campaign, lambda reader: Changes(reader.counters, history=[one]))
    store.transact(campaign, lambda reader: Changes(reader.counters, history=[other]))
    with store.reading(campaign) as reader:
        assert reader.history() == [HistoryRow(900.0, 0, 2, 2, 0.75)]


def test_decisions_that_are_due_come_in_order(store: Store, campaign: int) -> None:
    times = {1: 9.0, 2: 3.0, 3: None, 4: 7.0}
    rows = [decision(number, due_at=due) for number, due in times.items()]
    add(store, campaign, *rows, decision(5, due_at=1.0, state="rewarded"))
    with store.reading(campaign) as reader:
        assert [row.number for row in reader.due(8.0, 10)] == [2, 4]
        assert [row.number for row in reader.due(9.0, 2)] == [2, 4]


def test_a_settled_decision_changes_and_lets_go_of_its_unit(store: Store, campaign: int) -> None:
    first = decision(1, unit="u", holds="u")
    add(store, campaign, first)
    first = dataclasses.replace(first, holds=None, state="rewarded", reward=1.0, settled_at=2.0)
    second = dataclasses.replace(decision(2, unit="u", holds="u"), seq=2)
    add(store, campaign, second, updated=[first])
    with store.reading(campaign) as reader:
        assert list(reader.all_decisions()) == [first, second]
        assert reader.holding(["u"], 0) == [second]


@pytest.mark.parametrize(
    "second",
    [
        decision(2, holds="u"),
        dataclasses.replace(decision(1), id="another"),
        dataclasses.replace(decision(2), id="id-1"),
    ],
    ids=["unit", "number", "id"],
)
def test_what_may_be_there_once_is_refused_twice(
    store: Store, campaign: int, second: DecisionRow
) -> None:
    add(store, campaign, decision(1, holds="u"))
    with pytest.raises(Conflict, match="refuses the change"):
        add(store, campaign, second)
    with store.reading(campaign) as reader:  # nothing of the transaction is there
        assert [row.id for row in reader.all_decisions()] == ["id-1"]
        assert reader.counters.seq == len(list(reader.entries(0))) == 1


def test_a_unit_holds_one_decision_in_each_epoch(store: Store, campaign: int) -> None:
    add(store, campaign, decision(1, holds="u"), decision(2, holds="u", epoch=1))
    with store.reading(campaign) as reader:
        assert [row.number for row in reader.holding(["u"], 1)] == [2]


def test_the_place_of_an_event_is_taken_once(store: Store, campaign: int) -> None:
    entry = Entry(1, "paused", 0.0)
    store.transact(campaign, lambda reader: Changes(Counters(1), [entry]))
    with pytest.raises(Conflict, match="refuses the change"):
        store.transact(campaign, lambda reader: Changes(Counters(1), [entry]))


def test_what_fails_leaves_nothing(store: Store, campaign: int) -> None:
    def fail(reader: Reader) -> Changes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.transact(campaign, fail)
    store.transact(campaign, lambda reader: None)
    with store.reading(campaign) as reader:
        assert reader.counters == Counters()


def test_writers_of_one_campaign_take_turns(store: Store, campaign: int) -> None:
    def count(reader: Reader) -> Changes:
        seq = reader.counters.seq + 1
        return Changes(Counters(seq), [Entry(seq, "paused", 0.0)])

    def loop() -> None:
        for _ in range(10):
            store.transact(campaign, count)

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading(campaign) as reader:
        assert [entry.seq for entry in reader.entries(0)] == list(range(1, 41))


def test_a_reader_sees_one_moment(store: Store, campaign: int) -> None:
    with store.reading(campaign) as reader:
        assert reader.history() == []
        row = HistoryRow(0.0, 0, 1)
        store.transact(
            campaign, lambda other: Changes(Counters(1), [Entry(1, "x", 0.0)], history=[row])
        )
        assert (reader.counters.seq, reader.history(), list(reader.entries(0))) == (0, [], [])
    with store.reading(campaign) as reader:
        assert (reader.counters.seq, reader.history()) == (1, [row])


def test_a_store_opens_again(store: Store, store_url: str, campaign: int) -> None:
    add(store, campaign, decision(1))
    store.close()
    again = open_store(store_url)
    with again.reading(campaign) as reader:
        assert [row.number for row in reader.all_decisions()] == [1]
    again.close()
    assert store.names() == ["c"]  # a closed store opens by itself


def test_a_process_may_be_forked_while_a_store_is_open(store: Store, campaign: int) -> None:
    add(store, campaign, decision(1))
    child = os.fork()
    if child == 0:
        try:
            add(store, campaign, dataclasses.replace(decision(2), seq=2))
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with store.reading(campaign) as reader:
        assert [row.number for row in reader.all_decisions()] == [1, 2]


def test_two_may_open_an_empty_store_at_once(store_url: str) -> None:
    opened: list[Store] = []
    threads = [
        threading.Thread(target=lambda: opened.append(open_store(store_url))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.names() for store in opened] == [[]] * 4
    for store in opened:
        store.close()


def test_the_history_is_added_up_to_longer_stretches(store: Store, campaign: int) -> None:
    rows = [HistoryRow(900.0 * i, i % 2, 2, 1, 0.25) for i in range(6)]
    add(store, campaign, decision(1), history=rows)
    with store.reading(campaign) as reader:
        assert reader.history() == rows
        assert reader.history(since=1_800.0) == rows[2:]
        assert reader.history(since=1_800.0, stretch=3_600.0) == [
            HistoryRow(0.0, 0, 2, 1, 0.25),
            HistoryRow(0.0, 1, 2, 1, 0.25),
            HistoryRow(3_600.0, 0, 2, 1, 0.25),
            HistoryRow(3_600.0, 1, 2, 1, 0.25),
        ]
        assert reader.history(stretch=36_000.0) == [
            HistoryRow(0.0, 0, 6, 3, 0.75),
            HistoryRow(0.0, 1, 6, 3, 0.75),
        ]
