"""Where data come from is read again, or the record is damaged."""

import pytest

from driftanchor import Provenance, UnreadableState
from driftanchor.core.provenance import Source

HOW = Provenance((Source("a.csv"),), (("arm", "ad"),), (), 5, 0, (), "2026-01-31T12:00:00Z")


def test_what_was_written_is_read() -> None:
    assert Provenance.from_json(HOW.to_json()) == HOW


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
