"""Where data come from is read again, or the record is damaged."""

from dataclasses import replace

import pytest

from driftanchor import Provenance, UnreadableState
from driftanchor.core.provenance import Source, Strata, reason_text

HOW = Provenance((Source("a.csv"),), (("arm", "ad"),), (), 5, 0, (), "2026-01-31T12:00:00Z")


def test_what_was_written_is_read() -> None:
    assert Provenance.from_json(HOW.to_json()) == HOW


def test_strata_are_read_and_older_records_lack_them() -> None:
    means = (("A", 5, 0.5), ("B", 7, 0.25))
    strata = Strata(("file", "day"), 4, "stratified", "shares differ", means, means)
    how = replace(HOW, strata=strata)
    assert Provenance.from_json(how.to_json()) == how
    assert "strata" not in HOW.to_json()
    for name, value in (("used", "neither"), ("count", -1), ("pooled", {"A": {"n": 5}})):
        damaged = how.to_json()
        damaged["strata"][name] = value
        with pytest.raises(UnreadableState, match="the provenance record is damaged"):
            Provenance.from_json(damaged)


def test_rejected_rows_in_a_sentence() -> None:
    assert HOW.rejected_text() == ""
    one = replace(HOW, rows_filtered=1, rows_rejected=(("arm_missing", 1),))
    assert one.rejected_text() == "1 of 4 rows was not used: 1 without an arm"
    known = ("line_in_quotes", "by_missing", "count_not_whole", "total_without_count", "odd")
    assert [reason_text(reason) for reason in known] == [
        "inside quotes that do not end",
        "without a value to group by",
        "whose count is not a whole number",
        "with a total but no count",
        "rejected as odd",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows_read": -1}, "the provenance record is damaged: rows_read must be at least 0"),
        ({"read_at": 3}, "the provenance record is damaged: read_at must be text, got 3"),
        ({"sources": "a.csv"}, "the provenance record is damaged: sources must be a list"),
    ],
)
def test_a_damaged_record_is_unreadable(change: dict[str, object], message: str) -> None:
    with pytest.raises(UnreadableState, match=message):
        Provenance.from_json(HOW.to_json() | change)


def test_what_is_no_record_is_unreadable() -> None:
    nothing: list[object] = [None, [], {}, 3]
    for data in nothing:
        with pytest.raises(UnreadableState, match="the provenance record is damaged"):
            Provenance.from_json(data)
