"""Known keys: the keys of a store, read again often enough that a revoked key ends at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from driftanchor.errors import StoreUnavailable
from driftanchor.live.stores.access_keys import KeyRow
from driftanchor.live.stores.store import Store

YOUNG = 0.5  # seconds in which the keys are taken as they were read
OLDEST = 1.0  # seconds after which nobody is let in before they are read again
PATIENCE = 2.0  # seconds to wait for a store that does not answer


class KnownKeys:
    """The keys of a store.

    While requests come, the store is asked about twice a second, beside them. After a pause the
    first request waits for it. While the store is away, the keys that were known stay: without
    the store there is nothing to decide and nothing to record.

    Args:
        store: The store.
        clock: A clock that never goes back, in seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._rows: dict[str, KeyRow] | None = None
        self._seen: object = None  # by which to tell whether they changed
        self._read_at = 0.0
        self._reading: asyncio.Task[None] | None = None

    async def rows(self) -> Mapping[str, KeyRow]:
        """All keys by their ids, as they are now or were a second ago.

        Raises:
            StoreUnavailable: The store is away, and was never asked before.
        """
        age = self._clock() - self._read_at
        if self._rows is not None and age < YOUNG:
            return self._rows
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        if self._rows is None or age >= OLDEST:
            await self._wait(self._reading)
        if self._rows is None:
            raise StoreUnavailable("the store does not answer")
        return self._rows

    async def _wait(self, reading: asyncio.Task[None]) -> None:
        """Wait until the keys are read, as others may too, but not for ever."""
        done, _ = await asyncio.wait([reading], timeout=PATIENCE)
        for task in done:
            task.result()

    async def _read(self) -> None:
        try:
            asked_at = self._clock()
            await asyncio.to_thread(self._look)
            self._read_at = asked_at
        except StoreUnavailable:
            if self._rows is None:
                raise
            self._read_at = self._clock()  # ask again, but not at once
        finally:
            self._reading = None

    def _look(self) -> None:
        """Read the keys, if they may have changed; of many keys few ever do."""
        seen = (self._store.key_counts(), self._store.generation())
        if seen != self._seen:
            rows = self._store.keys()  # whoever changes them meanwhile is seen the next time
            self._rows = {row.id: row for row in rows}
            self._seen = seen
