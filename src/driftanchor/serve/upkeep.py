"""What a server does besides answering: upkeep of campaigns, and warming up."""

from __future__ import annotations

import threading
import time

from driftanchor.errors import DriftanchorError
from driftanchor.live import compiling
from driftanchor.serve.app_state import AppState
from driftanchor.serve.request_log import said_by


class Upkeep:
    """A thread that brings all campaigns up to date every few seconds, so that no GET writes.

    It closes decisions whose window is over, and checks bounds.

    Args:
        state: The campaigns and the interval (`ServeSettings.upkeep`).
    """

    def __init__(self, state: AppState) -> None:
        self._state = state
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
        for name, counters in self._state.store.counters().items():
            if self._stop.is_set():
                return
            try:
                campaign = self._state.campaign(name)
                is_same = counters.seq == self._seen.get(name)
                if is_same and campaign.settings.reward_window is None:
                    continue
                self._seen[name] = campaign.bring_up_to_date(self._seen.get(name, -1))
            except DriftanchorError as error:
                self._log(name, error)
            else:
                self._failed.pop(name, None)

    def _run(self) -> None:
        while not self._stop.wait(self._state.settings.upkeep):
            try:
                self.once()
            except Exception as error:  # continue: the next round may succeed
                self._log("", error)

    def _log(self, name: str, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        if self._failed.get(name) != text:
            self._failed[name] = text
            self._state.log.event("upkeep failed", "error", campaign=name, error=text)


def warm_up(state: AppState) -> None:
    """Load the kernels of all campaigns before the first request, within a time limit.

    Interpreted decisions may take longer than a client waits. Cached kernels load within a second.
    If a kernel must be compiled, the server starts meanwhile, and its first decisions are
    interpreted.
    """
    end = time.monotonic() + state.settings.warm_up
    try:
        names = state.names()
    except DriftanchorError as error:  # requests will report it too
        state.log.event("warm_up", "error", **said_by(error))
        return
    for name in names:
        if time.monotonic() >= end:
            return
        try:
            state.campaign(name).prepare()
        except Exception as error:  # the other campaigns can still be served
            state.log.event("warm_up", "error", campaign=name, **said_by(error))
    compiling.finish(max(end - time.monotonic(), 0.0))
