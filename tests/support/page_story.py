"""A campaign with a story, which all tests of the views read and none changes."""

from __future__ import annotations

import atexit
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from campaign_parts import Clock

from driftanchor import Campaign, OfflineData
from driftanchor.live.stores.store import Store, open_store

START = 1_790_000_100.0
PAYS = {"A": 0.35, "B": 0.2, "C": 0.1, "D": 0.1}
MOVED, STEP = 0.95, 4  # what C pays after so many steps


@dataclass(frozen=True)
class Story:
    """A campaign in which C moved by itself, with its store and its clock.

    Attributes:
        campaign: The campaign.
        clock: Its clock, which stands still at the end.
    """

    campaign: Campaign
    clock: Clock

    @property
    def store(self) -> Store:
        """The store."""
        return self.campaign.store

    def open(self, name: str) -> Campaign:
        """The campaign, as a server opens it."""
        assert name == self.campaign.name
        return self.campaign


@functools.cache
def played() -> Story:
    """The story, played once in each process; no test changes it."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    clock = Clock(START)
    logs = {"A": (400, 0.3), "B": (400, 0.2), "C": (400, 0.1)}
    store = open_store(f"sqlite:///{Path(folder.name) / 'store.db'}")
    campaign = Campaign.create(
        "story",
        offline=OfflineData.from_summary(logs),
        bias_bound=0.2,
        relative_bound=0.1,
        reward="binary",
        floor=0.1,
        seed=5,
        store=store,
        clock=clock,
    )
    rng = np.random.default_rng(3)
    for step in range(16):
        clock.now += 900.0
        if step == 12:
            campaign.add_arm("D")
            campaign.pause_arm("B")
            campaign.pause()
            campaign.resume()
            campaign.new_epoch()
        asked = [campaign.ask(f"u{step}"), *campaign.ask(n=23)]
        told = asked if step < 15 else asked[:20]
        pays = PAYS if step < STEP else {**PAYS, "C": MOVED}
        campaign.tell_many([(x.id or "", float(rng.random() < pays[x.arm])) for x in told])
        campaign.sweep()
    atexit.register(campaign.close)
    return Story(campaign, clock)
