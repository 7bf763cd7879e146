"""What a page reads of a store, on SQLite and PostgreSQL, without reading all of it."""

from __future__ import annotations

from campaign_parts import Clock, create

from driftanchor.live.stores.store import Store


def test_one_query_says_where_all_campaigns_are(store: Store) -> None:
    assert store.counters() == {}
    first, _ = create(store, "a"), create(store, "b")
    first.ask(n=3)
    first.pause()
    counters = store.counters()
    assert (counters["a"].seq, counters["a"].decisions, counters["a"].paused) == (4, 3, True)
    assert (counters["b"].seq, counters["b"].paused) == (0, False)


def test_changes_are_found_among_decisions(store: Store) -> None:
    campaign = create(store)
    campaign.ask(n=5)
    campaign.pause_arm("A")
    campaign.ask(n=5)
    campaign.new_epoch()
    with campaign.at_one_moment() as reading:
        found = reading.reader.changes()
        assert [(x.seq, x.kind) for x in found] == [(6, "arm_paused"), (12, "epoch")]
        assert [x.seq for x in reading.reader.changes(after=6)] == [12]


def test_decisions_of_a_unit_are_found_in_a_range(store: Store) -> None:
    campaign = create(store, sticky=None)
    for unit in ("u", "v", "u", "u"):
        campaign.ask(unit)
    with campaign.at_one_moment() as reading:
        find = reading.reader.of_unit
        assert [x.number for x in find("u", 0, 9)] == [1, 3, 4]
        assert [x.number for x in find("u", 1, 3)] == [3]
        assert find("w", 0, 9) == []


def test_the_history_is_added_up_to_longer_stretches(store: Store) -> None:
    clock = Clock(1_790_000_100.0)
    campaign = create(store, clock=clock)
    for _ in range(5):
        decision = campaign.ask()
        campaign.tell(decision.id or "", 0.25)
        clock.now += 900.0
    short, long = campaign.history(), campaign.history(stretch=1_800.0)
    assert len({row.start for row in short}) == 5
    assert all(row.start % 1_800.0 == 0.0 for row in long)
    for name in ("decisions", "rewards", "total"):
        assert sum(getattr(row, name) for row in long) == sum(getattr(row, name) for row in short)
    assert len({row.start for row in long}) == 3
    later = campaign.history(since=short[-1].start, stretch=900.0)
    assert later == short[-1:]
