"""Statements that are compiled once."""

from __future__ import annotations

import math

import pytest
from sqlalchemy import bindparam, select

from driftanchor import Conflict, InvalidInput
from driftanchor.live.stores.sql import prepared
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Insert, Prepared, PreparedList
from driftanchor.live.stores.sql.schema import decisions, events, history, snapshots
from driftanchor.live.stores.sql.sql_store import open_sql


def test_statements_and_upserts_run_on_both_databases(store_url: str) -> None:
    store = open_sql(store_url)
    add = Insert(history, replaced=("total",), added=("decisions",))
    page = Prepared(
        select(history.c.arm, history.c.decisions, history.c.rewards, history.c.total)
        .where(history.c.arm > bindparam("after"))
        .order_by(history.c.arm)
        .limit(bindparam("most")),
        ["most", "after"],
    )

    def work(link: Link) -> None:
        link.run("INSERT INTO campaigns VALUES (1, 'c', 0, '{}', '{}')")
        add.run(link, [])
        for total in (0.5, 0.25):
            rows = [(1, 0.0, arm, 2, 3, total) for arm in range(4)]
            add.run(link, rows)

    store._write(work)
    with store._reading() as link:
        assert page.rows(link, 2, 0) == [(1, 4, 3, 0.25), (2, 4, 3, 0.25)]
        assert page.rows(link, 9, 9) == []
    store.close()


ODD = ("", "NULL", "None", '"', "\\", '\\"', "{a,b}", "a\nb\t", "ü 日本 🎯", "%s $1 'x'")


def test_many_rows_are_kept_to_the_bit_on_both_databases(store_url: str) -> None:
    store = open_sql(store_url)
    add = Insert(events)
    numbers = (0.1, -7.0, 1e-300, 1.7976931348623157e308, math.inf, -math.inf, 1 / 3, 5, None, 2.5)
    rows: list[tuple[object, ...]] = [
        (1, seq, f"k{seq}", 1763438400.123456, None if seq % 2 else 2**62 + seq, seq, number, text)
        for seq, (number, text) in enumerate(zip(numbers, ODD, strict=True))
    ]
    rows.append((1, 10, "none", 0.5, None, None, None, None))

    def work(link: Link) -> None:
        link.run("INSERT INTO campaigns VALUES (1, 'c', 0, '{}', '{}')")
        add.run(link, rows)

    store._write(work)
    with store._reading() as link:
        found = Prepared(select(events).order_by(events.c.seq), []).rows(link)
        assert [tuple(row) for row in found] == rows
    store.close()


def test_many_rows_are_kept_as_single_ones_are(store_url: str) -> None:
    numbers = (0.1 + 0.2, -0.1, 5e-324, 1.7976931348623157e308, 1794974997.4380324, math.inf)
    units = ("ä", "null", '"\\', "{}", "\U0001f600", "%s %(a)s ::")
    store = open_sql(store_url)
    add = Insert(decisions)
    rows = [
        (str(i), 1, 2**62 + i, i, 0, unit, None, 0, x, "open", x, None, x, None, None, x)
        for i, (x, unit) in enumerate(zip(numbers, units, strict=True))
    ]

    def work(link: Link) -> None:
        link.run("INSERT INTO campaigns VALUES (1, 'c', 0, '{}', '{}')")
        add.run(link, rows[:1])
        add.run(link, rows[1:5])
        add.run(link, rows[5:])

    store._write(work)
    with store._reading() as link:
        found = Prepared(select(decisions).order_by(decisions.c.seq), []).rows(link)
    assert [tuple(map(repr, row)) for row in found] == [tuple(map(repr, row)) for row in rows]
    with pytest.raises(Conflict):
        store._write(lambda link: add.run(link, rows[:2]))
    if store_url.startswith("postgres"):  # SQLite bounds no text
        with pytest.raises(InvalidInput, match="too long"):
            store._write(lambda link: add.run(link, [(f"{i}" * 65, *rows[i][1:]) for i in (0, 1)]))
    store.close()


def test_infinities_are_kept_beside_other_rows(store_url: str) -> None:
    store = open_sql(store_url)
    add = Insert(history, added=("total",))
    rows = [(1, 0.0, 0, 1, 1, math.inf), (1, 0.0, 1, 1, 1, 0.5)]

    def work(link: Link) -> None:
        link.run("INSERT INTO campaigns VALUES (1, 'c', 0, '{}', '{}')")
        add.run(link, rows)

    store._write(work)
    with store._reading() as link:
        assert Prepared(select(history).order_by(history.c.arm), []).rows(link) == rows
    store.close()


def test_lists_of_any_length_are_asked_in_parts(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "MOST", 4)
    store = open_sql(store_url)

    def work(link: Link) -> None:
        link.run("INSERT INTO campaigns VALUES (1, 'c', 0, '{}', '{}')")
        add = Prepared(snapshots.insert(), ["campaign_id", "seq", "state"])
        add.run_for(link, [(1, seq, str(seq)) for seq in range(20)])

    store._write(work)
    wanted = PreparedList(
        lambda places: (
            select(snapshots.c.state)
            .where(snapshots.c.campaign_id == bindparam("campaign"))
            .where(snapshots.c.seq.in_(places))
        ),
        "campaign",
    )
    with store._reading() as link:
        for length in (0, 1, 3, 4, 5, 11):
            found = wanted.rows(link, list(range(length)), 1)
            assert sorted(int(row[0]) for row in found) == list(range(length))
    store.close()
