from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.serve.demo import CAMPAIGNS, Demo, FastClock

SMALL = replace(CAMPAIGNS[0], visitors=6)


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with Demo(speed=0, start=1.79e9, campaigns=(SMALL, CAMPAIGNS[2])) as made:
        made.play(24)
        yield made


def test_visitors_come_and_most_of_their_rewards(demo: Demo) -> None:
    status = Campaign.load(SMALL.name, store=demo.store, clock=demo.clock).status()
    assert status.decisions == 24 * 6
    assert 0 < status.pending < 80
    assert status.rewards + status.pending == status.decisions
    assert min(arm.logs_n for arm in status.arms.values()) == 3_000


def test_a_paused_campaign_has_no_visitors(demo: Demo) -> None:
    campaign = Campaign.load(CAMPAIGNS[2].name, store=demo.store, clock=demo.clock)
    campaign.pause()
    before = campaign.status().decisions
    demo.play(1)
    assert campaign.status().decisions == before
    campaign.resume()


def test_one_arm_moves_by_itself_after_a_while() -> None:
    main = CAMPAIGNS[0]
    assert main.rate("Gift card", 0.0) == pytest.approx(0.2)
    assert main.rate("Gift card", main.after) == pytest.approx(0.7)
    assert main.rate("Free shipping", main.after) == main.rate("Free shipping", 0.0)
    assert main.rate("an arm added later", 0.0) > 0


def test_the_clock_runs_fast_or_when_told() -> None:
    slow = FastClock(5.0, 0.0)
    slow.advance(2.5)
    assert slow() == 7.5
    fast = FastClock(0.0, 1e9)
    assert fast() < fast()


def test_traffic_runs_in_the_background_and_the_store_is_deleted() -> None:
    with Demo(campaigns=(CAMPAIGNS[2],)) as made:
        folder = Path(made._folder.name)
        made.begin()
        campaign = Campaign.load(CAMPAIGNS[2].name, store=made.store, clock=made.clock)
        while campaign.status().decisions == 0:
            made._stopping.wait(0.01)
    assert not folder.exists()
