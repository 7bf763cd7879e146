"""A store that was tampered with does not pass."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import Clock, create

from driftanchor import UnreadableState

TAMPERED = {
    "UPDATE arms SET total = total + 1 WHERE arm = 0": "total of arm 'A'",
    "UPDATE arms SET squares = 7 WHERE arm = 1": "squares of arm 'B'",
    "UPDATE arms SET pending = 9 WHERE arm = 1": "pending of arm 'B'",
    "UPDATE arms SET label = 'Z' WHERE arm = 1": "the arms are not those",
    "UPDATE decisions SET reward = 0.125 WHERE number = 1": "reward of decision 1 is 0.125",
    "UPDATE decisions SET state = 'open' WHERE number = 1": "state of decision 1",
    "UPDATE decisions SET propensity = 0 WHERE number = 2": "propensity of decision 2",
    "DELETE FROM decisions WHERE number = 3": "decision 3 is missing",
    "DELETE FROM decisions WHERE number = 6": "there are 5 decisions",
    "DELETE FROM events WHERE seq = 4": "event 5 follows event 3",
    "UPDATE events SET value = 0.125 WHERE kind = 'rewarded'": "total of arm",
    "UPDATE events SET kind = 'rewarded', value = 1, decision = 1, arm = 0 WHERE seq = 11": (
        "rewarded, cannot be for decision 1"
    ),
    "UPDATE heads SET epoch = 4": "epoch of the campaign is 4",
    "UPDATE traffic SET expected = zeroblob(56)": "the propensities add up to 0",
}


@pytest.mark.parametrize("change", TAMPERED)
def test_what_does_not_fit_the_events_is_named(tmp_path: Path, change: str) -> None:
    path = tmp_path / "store.db"
    campaign = create(f"sqlite:///{path}", clock=Clock())
    for i, decision in enumerate(campaign.ask(n=6)):
        if i < 4:
            campaign.tell(str(decision.id), 0.5)
    campaign.pause()
    found = campaign.verify()
    assert (found.events, found.decisions, found.rewards) == (11, 6, 4)
    campaign.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute(change).rowcount > 0
    connection.close()
    with pytest.raises(UnreadableState, match=TAMPERED[change]):
        campaign.verify()
    campaign.close()
