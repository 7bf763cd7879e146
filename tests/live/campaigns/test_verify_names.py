"""Who holds which decision, and keys of requests, follow from the events of any campaign."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import Clock, create

from driftanchor import Campaign, UnreadableState


def play(campaign: Campaign, clock: Clock) -> None:
    """Units that come again, lose their arm, get their reward, and meet a new epoch."""
    first = campaign.ask("u", key="k")
    campaign.ask("u", key="again")  # a key for a decision that was made before
    campaign.ask("v", exclude=["A"])
    campaign.ask("u", exclude=[first.arm])
    campaign.tell(str(campaign.ask("w").id), 1.0)
    campaign.ask("w")
    campaign.ask()
    campaign.new_epoch()
    campaign.ask("u")
    clock.now += 100.0
    campaign.sweep()
    campaign.ask("v")


@pytest.mark.parametrize("sticky", ["decision", "campaign", None])
@pytest.mark.parametrize("exposure", ["ask", "report"])
def test_a_campaign_fits_its_own_events(sticky: str | None, exposure: str, tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "store.db"
    campaign = create(
        f"sqlite:///{path}",
        clock=clock,
        sticky=sticky,
        exposure=exposure,
        reward_window=60.0,
        default_reward=0.0,
    )
    play(campaign, clock)
    assert campaign.verify().decisions > 5
    campaign.close()
    other = (
        "UPDATE decisions SET holds = CASE WHEN holds IS NULL THEN unit END "
        "WHERE number = (SELECT max(number) FROM decisions)"
    )
    with sqlite3.connect(path) as connection:
        assert connection.execute(other).rowcount == 1
    connection.close()
    with pytest.raises(UnreadableState, match="but not according to the events"):
        campaign.verify()
    campaign.close()


def test_what_older_events_do_not_say_is_not_compared(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "store.db"
    campaign = create(f"sqlite:///{path}", clock=clock)
    play(campaign, clock)
    campaign.close()
    with sqlite3.connect(path) as connection:  # as the first versions wrote them
        connection.execute("UPDATE events SET value = NULL, detail = NULL WHERE seq = 1")
        connection.execute("UPDATE heads SET checksum = NULL")
    connection.close()
    assert campaign.verify().decisions > 5
    campaign.close()
