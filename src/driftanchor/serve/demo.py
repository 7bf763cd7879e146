"""The demo: campaigns with made-up logs and made-up traffic, on a clock that runs fast.

What happens in the main campaign:

- All arms pay more than in the logs from the first decision on: a common move, which does no harm.
- After a while one arm, and no other, starts to pay far more: an own move, which breaks a promise.
  The shares move to it, and the alarm rings.

A second of life is a quarter of an hour of the demo, so that two minutes show more than a day.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from driftanchor.core.offline import OfflineData
from driftanchor.live.campaigns.asking import Ask
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.decision import Decision
from driftanchor.live.stores.store import Store, open_store

SPEED = 900.0  # seconds of the demo in a second of life
LOGGED = 3_000  # rewards of each arm in the logs
WINDOW = 3_600.0  # seconds of the demo in which a click counts
LOST, LATE = 0.02, 0.01  # shares of rewards that never come, or come too late
STEP = 225.0  # seconds of the demo between two steps: four in a second of life
STORY = 24 * 900.0  # seconds of the demo after which one arm moves by itself
CALM = 240 * 900.0  # after which there is less traffic: all was seen
SEED = 7


@dataclass(frozen=True)
class Part:
    """One campaign of the demo.

    Attributes:
        name: Its name.
        rates: What each arm paid when the logs were written.
        common: How far all arms have moved together since.
        own: How far some arms move by themselves after a while.
        after: Seconds after which they do.
        each: Decisions of one step.
        logged: Whether there are logs.
    """

    name: str
    rates: Mapping[str, float]
    common: float = 0.0
    own: Mapping[str, float] = field(default_factory=dict)
    after: float = STORY
    each: int = 2
    logged: bool = True

    def rate(self, arm: str, since: float) -> float:
        """What an arm pays, some seconds after the start."""
        moved = self.own.get(arm, 0.0) if since >= self.after else 0.0
        return self.rates.get(arm, 0.3) + self.common + moved


PARTS = (
    Part(
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
        each=30,
    ),
    Part("demo-checkout", {"One page": 0.51, "Three steps": 0.46}, common=-0.04, each=4),
    Part("demo-newsletter", {"Monday": 0.21, "Friday": 0.24}, each=2, logged=False),
)


class FastClock:
    """A clock that runs fast, or that moves only when it is told to.

    Args:
        start: Where it starts, in seconds since 1970.
        speed: Its seconds in a second of life; 0 if it moves only by `forward`.
    """

    def __init__(self, start: float, speed: float = SPEED) -> None:
        self.start, self._speed = start, speed
        self._since, self._more = time.monotonic(), 0.0

    def __call__(self) -> float:
        """The time."""
        return self.start + self._more + self._speed * (time.monotonic() - self._since)

    def forward(self, seconds: float) -> None:
        """Move the clock on."""
        self._more += seconds


class Traffic:
    """The visitors of one campaign: they ask, and a little later they have clicked or not.

    Args:
        campaign: The campaign.
        part: What its arms pay.
        clock: The clock of the demo.
        rng: What is drawn from.
    """

    def __init__(
        self, campaign: Campaign, part: Part, clock: FastClock, rng: np.random.Generator
    ) -> None:
        self._campaign, self._part, self._clock, self._rng = campaign, part, clock, rng
        self._coming: deque[tuple[float, str, float]] = deque()
        self._visitors = 0

    def step(self) -> None:
        """Some visitors come, and it is known of others whether they clicked."""
        now = self._clock()
        due = [x for x in self._coming if x[0] <= now]
        self._coming = deque(x for x in self._coming if x[0] > now)
        self._campaign.tell_many([(decision_id, reward) for _, decision_id, reward in due])
        each = self._part.each if now - self._clock.start < CALM else -(-self._part.each // 4)
        asked = [Ask(unit=f"visitor-{self._visitors + i + 1}") for i in range(each)]
        self._visitors += each
        for outcome in self._campaign.submit(asked):
            if isinstance(outcome, Exception):
                continue  # it is paused, or all arms are
            (decision,) = outcome
            self._see(decision, now)

    def _see(self, decision: Decision, now: float) -> None:
        """A visitor sees an arm, and clicks or not; some rewards are lost, and few are late."""
        rate = self._part.rate(decision.arm, now - self._clock.start)
        clicked, luck = float(self._rng.random() < rate), self._rng.random()
        if luck < LOST or decision.id is None:
            return
        delay = 1.2 if luck < LOST + LATE else self._rng.uniform(0.1, 0.8)
        self._coming.append((now + delay * WINDOW, decision.id, clicked))


class Demo:
    """The campaigns of the demo in a temporary store, and their traffic.

    Args:
        speed: Seconds of the demo in a second of life; 0 for tests, which move the clock.
        start: When the demo starts; by default some days ago, so that its times lie in the past.
        parts: The campaigns.

    Attributes:
        store: The store; it goes when the demo ends.
        clock: The clock of the demo.
    """

    def __init__(
        self, speed: float = SPEED, start: float | None = None, parts: tuple[Part, ...] = PARTS
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="driftanchor-demo-")
        self.store: Store = open_store(f"sqlite:///{Path(self._folder.name) / 'demo.db'}")
        first = time.time() - 4 * 86_400 if start is None else start
        self.clock = FastClock(first // 900 * 900, speed)
        rng = np.random.default_rng(SEED)
        self._traffic = [
            Traffic(_create(part, self.store, self.clock, rng), part, self.clock, rng)
            for part in parts
        ]
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def step(self) -> None:
        """Let some visitors come."""
        for traffic in self._traffic:
            traffic.step()

    def play(self, steps: int) -> None:
        """Move the clock, with traffic on the way."""
        for _ in range(steps):
            self.clock.forward(STEP)
            self.step()

    def begin(self) -> None:
        """Let visitors come from now on, until the demo ends."""
        self._thread = threading.Thread(target=self._run, name="driftanchor-demo", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(STEP / SPEED):
            self.step()

    def __enter__(self) -> Demo:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self.store.close()
        self._folder.cleanup()


def _create(
    part: Part, store: Store, clock: Callable[[], float], rng: np.random.Generator
) -> Campaign:
    options: dict[str, Any] = {"arms": list(part.rates)}
    if part.logged:
        logs = {
            arm: (LOGGED, rng.binomial(LOGGED, rate) / LOGGED) for arm, rate in part.rates.items()
        }
        options = {
            "offline": OfflineData.from_summary(logs),
            "relative_bound": 0.04,
            "bias_bound": 0.15,
        }
    return Campaign.create(
        part.name,
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
