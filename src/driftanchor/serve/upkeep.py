"""Upkeep: closes decisions whose window is over and checks bounds, so that no GET writes."""

from __future__ import annotations

import threading

from driftanchor.errors import DriftanchorError
from driftanchor.serve.served import Served


class Upkeep:
    """A thread that brings all campaigns up to date every few seconds.

    Args:
        served: The campaigns and the interval (`ServeSettings.upkeep`).
    """

    def __init__(self, served: Served) -> None:
        self._served = served
        self._seen: dict[str, int] = {}  # the last event of each campaign
        self._failed: dict[str, str] = {}  # the last error logged, to log it only once
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="driftanchor-upkeep", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread after its current campaign."""
        self._stop.set()
        self._thread.join()

    def once(self) -> None:
        """Bring all campaigns up to date. One that fails does not stop the others."""
        for name, counters in self._served.store.counters().items():
            if self._stop.is_set():
                return
            try:
                campaign = self._served.campaign(name)
                if campaign.settings.reward_window is None and counters.seq == self._seen.get(name):
                    continue
                self._seen[name] = campaign.bring_up_to_date(self._seen.get(name, -1))
            except DriftanchorError as error:
                self._log(name, error)
            else:
                self._failed.pop(name, None)

    def _run(self) -> None:
        while not self._stop.wait(self._served.settings.upkeep):
            try:
                self.once()
            except Exception as error:  # continue: the next round may succeed
                self._log("", error)

    def _log(self, name: str, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        if self._failed.get(name) != text:
            self._failed[name] = text
            self._served.log.event("upkeep failed", "error", campaign=name, error=text)
