"""AppState: the store, campaigns and settings of one server process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from driftanchor.errors import NotFound
from driftanchor.live.campaigns.batch import Request
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.decision import Decision, decision_id_text
from driftanchor.live.stores.store import Store
from driftanchor.serve.auth import Access
from driftanchor.serve.metrics import Metrics
from driftanchor.serve.page.recent_errors import RecentErrors
from driftanchor.serve.request_log import Log

if TYPE_CHECKING:
    from driftanchor.serve.routing import Route

P = ParamSpec("P")
T = TypeVar("T")
GATHER = 0.001  # seconds between two large transactions of a campaign
READERS = 4  # threads that read the store
MAX_OWNERS = 50_000  # decisions whose campaign is cached


@dataclass(frozen=True)
class ServeSettings:
    """The settings of a server.

    Attributes:
        host: The address to listen on.
        port: The port; 0 for a free one.
        workers: The number of processes.
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
    deadline: float = 10.0
    grace: float = 20.0
    keys_required: bool = False
    rate: float | None = None
    upkeep: float = 5.0
    warm_up: float = 3.0


class AppState:
    """State that all request handlers of one process share.

    Args:
        store: The open store.
        settings: The settings.
        clock: Returns the time, in seconds since 1970.
        log: The log; by default on stderr.
        demo: Whether all data is made up; the page says so.

    Attributes:
        access: Authorizes requests by their keys.
        metrics: The metrics of this process.
        routes: The table of routes.
        stopping: Whether the server was asked to stop.
        errors: The errors that the page shows.
        views: The cached views of the page, once it was opened.
        waiting: How many requests wait for the store.
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
        self.store, self.clock, self.demo = store, clock, demo
        self.settings = ServeSettings() if settings is None else settings
        required, rate = self.settings.keys_required, self.settings.rate
        self.access = Access(store, required=required, rate=rate, clock=clock)
        self.metrics = Metrics()
        self.log = Log() if log is None else log
        self.routes: Sequence[Route] = ()
        self.stopping = False
        self.views: Any = None
        self.errors = RecentErrors()
        self.waiting = 0
        self._open: dict[str, Campaign] = {}
        self._owners: dict[str, str] = {}
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="driftanchor-read")

    def campaign(self, name: str) -> Campaign:
        """Return an open campaign; reads the store on first use.

        Raises:
            NotFound: There is no campaign of this name.
        """
        campaign = self._open.get(name)
        if campaign is None:
            campaign = Campaign.load(name, store=self.store, clock=self.clock)
            campaign.queue.on_batch, campaign.queue.gather = self.metrics.written, GATHER
            campaign = self._open.setdefault(name, campaign)
        return campaign

    async def opened(self, name: str) -> Campaign:
        """Return an open campaign without blocking the event loop."""
        campaign = self._open.get(name)
        return campaign if campaign is not None else await self.read(self.campaign, name)

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted; reads the store."""
        return self.store.names()

    async def read(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Call a function that reads the store in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: work(*args, **options))

    async def write(self, campaign: Campaign, request: Request) -> Any:
        """Return the answer to a request once it is on disk."""
        self.waiting += 1
        try:
            return await asyncio.wrap_future(campaign.enqueue(request))
        finally:
            self.waiting -= 1

    async def owner(self, decision_id: str) -> Campaign:
        """Return the campaign of a decision.

        Raises:
            InvalidInput: The text is not a valid decision id.
            NotFound: The store has no such decision.
        """
        name = self._owners.get(decision_id)
        if name is None:
            name = await self.read(self.store.owner, decision_id_text(decision_id))
        if name is None:
            raise NotFound("there is no such decision: give the id that came with it")
        return await self.opened(name)

    def decided(self, name: str, decisions: Iterable[Decision]) -> None:
        """Count the decisions of a campaign, and cache that it made them."""
        for decision in decisions:
            self._owners[str(decision.id)] = name
            self.metrics.decided(name, decision)
        while len(self._owners) > MAX_OWNERS:
            del self._owners[next(iter(self._owners))]  # the oldest

    def close(self) -> None:
        """Finish reading and writing, and close the store and the log."""
        if self.views is not None:
            self.views.close()
        self._readers.shutdown()
        for campaign in self._open.values():
            campaign.queue.finish()
        self.store.close()
        self.log.close()
