"""The demo: campaigns with made-up logs and traffic, on a fast clock.

In the main campaign, all arms pay more than in the logs from the start. This common move does no
harm. Later one arm alone starts to pay far more, which violates its relative bound. The policy
plays that arm more often, and an alarm is raised.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from driftanchor.core.offline import OfflineData
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.decision import Decision
from driftanchor.live.campaigns.requests import Ask
from driftanchor.live.stores.store import Store, open_store

# Times are in seconds of the demo.
SPEED = 900.0  # per real second: two minutes show more than a day
LOGGED = 3_000  # rewards of each arm in the logs
WINDOW = 3_600.0  # the reward window
LOST, LATE = 0.02, 0.01  # shares of rewards
STEP = 225.0  # between two steps: four in a real second
MOVE_AFTER = 24 * 900.0
QUIET_AFTER = 240 * 900.0  # then there is less traffic
SEED = 7


@dataclass(frozen=True)
class DemoCampaign:
    """A campaign of the demo.

    Attributes:
        name: Its name.
        rates: The mean reward of each arm in the logs.
        common: The common move since the logs.
        own: Moves of single arms.
        after: Seconds after which single arms move.
        visitors: Visitors in each step.
        logged: Whether there are logs.
    """

    name: str
    rates: Mapping[str, float]
    common: float = 0.0
    own: Mapping[str, float] = field(default_factory=dict)
    after: float = MOVE_AFTER
    visitors: int = 2
    logged: bool = True

    def rate(self, arm: str, elapsed: float) -> float:
        """Return the mean reward of an arm after some seconds."""
        moved = self.own.get(arm, 0.0) if elapsed >= self.after else 0.0
        return self.rates.get(arm, 0.3) + self.common + moved

    def create(
        self, store: Store, clock: Callable[[], float], rng: np.random.Generator
    ) -> Campaign:
        """Create the campaign in a store."""
        options: dict[str, Any] = {"arms": list(self.rates)}
        if self.logged:
            logs = {
                arm: (LOGGED, rng.binomial(LOGGED, rate) / LOGGED)
                for arm, rate in self.rates.items()
            }
            options = {
                "offline": OfflineData.from_summary(logs),
                "relative_bound": 0.04,
                "bias_bound": 0.15,
            }
        return Campaign.create(
            self.name,
            **options,
            reward="binary",
            reward_window=WINDOW,
            default_reward=0.0,
            floor=0.07,
            on_alarm="distrust",
            seed=SEED,
            store=store,
            clock=clock,
        )


CAMPAIGNS = (
    DemoCampaign(
        "demo-headlines",
        {
            "Free shipping": 0.3,
            "Ten per cent off": 0.24,
            "New arrivals": 0.2,
            "Bundle": 0.22,
            "Gift card": 0.15,
        },
        common=0.05,
        own={"Gift card": 0.5},
        visitors=30,
    ),
    DemoCampaign(
        "demo-checkout", {"One page": 0.51, "Three steps": 0.46}, common=-0.04, visitors=4
    ),
    DemoCampaign("demo-newsletter", {"Monday": 0.21, "Friday": 0.24}, logged=False),
)


class FastClock:
    """A clock that runs fast.

    Args:
        start: Its first time, in seconds since 1970.
        speed: Its seconds per real second; 0 for a clock that only `advance` moves.
    """

    def __init__(self, start: float, speed: float = SPEED) -> None:
        self.start, self._speed = start, speed
        self._began, self._advanced = time.monotonic(), 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.start + self._advanced + self._speed * (time.monotonic() - self._began)

    def advance(self, seconds: float) -> None:
        """Move the clock."""
        self._advanced += seconds


class Traffic:
    """The visitors of a campaign, who click or not after a while.

    Args:
        campaign: The campaign.
        made_up: Its rates.
        clock: The clock of the demo.
        rng: The random generator.
    """

    def __init__(
        self,
        campaign: Campaign,
        made_up: DemoCampaign,
        clock: FastClock,
        rng: np.random.Generator,
    ) -> None:
        self._campaign, self._made_up, self._clock, self._rng = campaign, made_up, clock, rng
        self._clicks: list[tuple[float, str, float]] = []  # time, decision and reward to come
        self._visitors = 0

    def step(self) -> None:
        """Report the rewards that are due, and ask for the next visitors."""
        now = self._clock()
        due = [(decision_id, reward) for at, decision_id, reward in self._clicks if at <= now]
        self._clicks = [click for click in self._clicks if click[0] > now]
        self._campaign.tell_many(due)
        visitors = self._made_up.visitors
        if now - self._clock.start >= QUIET_AFTER:
            visitors = -(-visitors // 4)
        asked = [Ask(unit=f"visitor-{self._visitors + i + 1}") for i in range(visitors)]
        self._visitors += visitors
        for outcome in self._campaign.submit(asked):
            if not isinstance(outcome, Exception):  # the campaign is not paused
                self._visit(outcome[0], now)

    def _visit(self, decision: Decision, now: float) -> None:
        """Draw whether and when a visitor clicks."""
        rate = self._made_up.rate(decision.arm, now - self._clock.start)
        reward, luck = float(self._rng.random() < rate), self._rng.random()
        if luck < LOST or decision.id is None:
            return
        delay = 1.2 if luck < LOST + LATE else self._rng.uniform(0.1, 0.8)
        self._clicks.append((now + delay * WINDOW, decision.id, reward))


class Demo:
    """The campaigns of the demo in a temporary store, and their traffic.

    Args:
        speed: Seconds of the demo per real second; 0 for tests, which move the clock.
        start: Start of the demo; by default some days ago, so that its times lie in the past.
        campaigns: The campaigns.

    Attributes:
        store: The store, deleted at the end.
        clock: The clock of the demo.
    """

    def __init__(
        self,
        speed: float = SPEED,
        start: float | None = None,
        campaigns: tuple[DemoCampaign, ...] = CAMPAIGNS,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="driftanchor-demo-")
        self.store: Store = open_store(f"sqlite:///{Path(self._folder.name) / 'demo.db'}")
        first = time.time() - 4 * 86_400 if start is None else start
        self.clock = FastClock(first // 900 * 900, speed)
        rng = np.random.default_rng(SEED)
        self._traffic = [
            Traffic(made_up.create(self.store, self.clock, rng), made_up, self.clock, rng)
            for made_up in campaigns
        ]
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def step(self) -> None:
        """Send the visitors of one step to all campaigns."""
        for traffic in self._traffic:
            traffic.step()

    def play(self, steps: int) -> None:
        """Advance the clock by some steps, with their traffic."""
        for _ in range(steps):
            self.clock.advance(STEP)
            self.step()

    def begin(self) -> None:
        """Send traffic from a background thread until the demo ends."""
        self._thread = threading.Thread(target=self._run, name="driftanchor-demo", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopping.wait(STEP / SPEED):
            self.step()

    def __enter__(self) -> Demo:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self.store.close()
        self._folder.cleanup()
