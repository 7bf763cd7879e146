"""Snapshots that are not what the events give do not pass; those of a store that is used do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import Clock, create

from driftanchor import UnreadableState

TAMPERED = {
    "UPDATE snapshots SET state = replace(state, '\"decisions\": 300', '\"decisions\": 299')": (
        "the snapshot of event 300 is not what the events give"
    ),
    "DELETE FROM snapshots WHERE seq > 300": "the last snapshot is said to be 600, and is 300",
}


@pytest.mark.parametrize("change", TAMPERED)
def test_snapshots_are_compared(change: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    clock = Clock()
    campaign = create(f"sqlite:///{path}", clock=clock)
    made = campaign.ask(n=300)
    clock.now += 1_000.0
    campaign.tell_many([(str(x.id), 0.1) for x in made])
    assert campaign.verify().rewards == 300
    campaign.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount > 0
    connection.close()
    with pytest.raises(UnreadableState, match=TAMPERED[change]):
        campaign.verify()
    campaign.close()
