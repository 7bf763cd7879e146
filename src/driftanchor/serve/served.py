"""Served: the store, campaigns and settings of one server process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.decision import Decision
from driftanchor.live.stores.store import Store
from driftanchor.serve.access import Access
from driftanchor.serve.bridge import Bridge
from driftanchor.serve.metrics import Metrics
from driftanchor.serve.owners import Owners
from driftanchor.serve.request_log import Log

P = ParamSpec("P")
T = TypeVar("T")
READERS = 4  # threads that read; writing has threads of its own


@dataclass(frozen=True)
class ServeSettings:
    """The settings of a server.

    Attributes:
        host: The address to listen on.
        port: The port; 0 for a free one.
        workers: The number of processes.
        patience: Seconds to wait for an unreachable store before answering 503.
        deadline: Seconds after which an unanswered request gets 503.
        grace: Seconds for pending requests to finish after the server was asked to stop.
        keys_required: Whether a key is needed even if the store has none; see `check_keys`.
        rate: Maximum requests per second, key and process; `None` for no limit.
        upkeep: Seconds between rounds of `Upkeep`.
        warm_up: Seconds that a process may spend on loading kernels before its first request.
    """

    host: str = "127.0.0.1"
    port: int = 8484
    workers: int = 1
    patience: float = 2.0
    deadline: float = 10.0
    grace: float = 20.0
    keys_required: bool = False
    rate: float | None = None
    upkeep: float = 5.0
    warm_up: float = 3.0


class Served:
    """What one process serves: the campaigns of a store.

    Attributes:
        store: The open store.
        settings: How the server is run.
        clock: Tells the time, in seconds since 1970.
        access: Lets requests in by their keys.
        bridge: Takes requests for campaigns from the event loop.
        owners: Knows which campaign made a decision.
        metrics: What is counted.
        log: What is logged.
        stopping: Whether the server was asked to stop.
        demo: Whether all of it is made up; the page says so.
    """

    def __init__(
        self,
        store: Store,
        settings: ServeSettings | None = None,
        clock: Callable[[], float] = time.time,
        log: Log | None = None,
        *,
        demo: bool = False,
    ) -> None:
        self.store = store
        self.demo = demo
        self.settings = ServeSettings() if settings is None else settings
        self.clock = clock
        required, rate = self.settings.keys_required, self.settings.rate
        self.access = Access(store, required=required, rate=rate, clock=clock)
        self.metrics = Metrics()
        self.log = Log() if log is None else log
        self.bridge = Bridge(self.metrics)
        self.owners = Owners(lambda decision_id: self.read(store.owner, decision_id))
        self.stopping = False
        self._open: dict[str, Campaign] = {}
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="driftanchor-read")

    def campaign(self, name: str) -> Campaign:
        """An open campaign; reads the store when it is asked for the first time.

        Raises:
            NotFound: There is no campaign of this name.
        """
        found = self._open.get(name)
        if found is None:
            found = Campaign.load(name, store=self.store, clock=self.clock)
            found = self._open.setdefault(name, found)
        return found

    async def opened(self, name: str) -> Campaign:
        """As `campaign`, for code that must not wait for the store."""
        found = self._open.get(name)
        return found if found is not None else await self.read(self.campaign, name)

    def answered(self, name: str, made: Sequence[Decision]) -> None:
        """Count decisions of a campaign that are answered, and remember who made them."""
        self.owners.note(name, made)
        self.metrics.decided(name, made)

    def forget(self, name: str) -> None:
        """Load a campaign again when it is asked for next."""
        self._open.pop(name, None)

    def names(self) -> list[str]:
        """The names of all campaigns, sorted; reads the store."""
        return self.store.names()

    async def read(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Let a thread do what reads the store, and wait for what it returns."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: work(*args, **options))

    def close(self) -> None:
        """Finish what was asked for, and close the store."""
        self.bridge.close()
        self._readers.shutdown()
        self.store.close()
        self.log.close()
