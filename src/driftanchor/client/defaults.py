"""Defaults: the arms that a client played without the server, reported once it is back."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from driftanchor.errors import DriftanchorError, StoreUnavailable

MOST_KEPT = 10_000
MOST_AT_ONCE = 500  # in one report
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0  # seconds between two tries to report
MARK = "default-"  # how the id of such a decision starts

logger = logging.getLogger("driftanchor.client")


@dataclass(frozen=True)
class Default:
    """A default that was played.

    Attributes:
        campaign: The campaign that was asked; `None` for the only one of the server.
        key: The key of the request that was not answered in time, or of the report alone.
        arm: The arm that was played instead.
        at: When the request was sent, by a clock that never goes back.
        unit: The unit of a request that had no key.
    """

    campaign: str | None
    key: str
    arm: str
    at: float = 0.0
    unit: str | None = None

    def id(self, place: int = 0) -> str:
        """An id for the decision, which `arm_of_default` knows again in any process."""
        name = hashlib.sha256(f"{place} {self.key}".encode()).hexdigest()[:32]
        return f"{MARK}{name}:{self.arm}"


def arm_of_default(decision_id: object) -> str | None:
    """The arm of a default, by the id of its decision; `None` for any other decision.

    Example:
        >>> arm_of_default(Default("checkout", "9f1c", "A").id()), arm_of_default("9f1c")
        ('A', None)
    """
    if not isinstance(decision_id, str) or not decision_id.startswith(MARK):
        return None
    return decision_id.partition(":")[2]


class Defaults:
    """Defaults that wait to be reported, by a thread that runs while there are some.

    Args:
        send: Reports some defaults of one campaign, or raises.
    """

    def __init__(self, send: Callable[[str | None, list[Default]], None]) -> None:
        self._send = send
        self._waiting: deque[Default] = deque()
        self._lock = threading.Lock()  # of the queue
        self._sending = threading.Lock()  # one reports at a time
        self._runs = False
        self._ended = threading.Event()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, default: Default) -> None:
        """Keep a default, and let it be reported. Beyond 10,000 the oldest are dropped."""
        with self._lock:
            self._waiting.append(default)
            if len(self._waiting) > MOST_KEPT:
                self._waiting.popleft()
                self.dropped += 1
            if self._runs or self._ended.is_set():
                return
            self._runs = True
        threading.Thread(target=self._run, daemon=True).start()

    def shown(self, campaign: str | None, unit: str) -> None:
        """Note that a request for a unit was answered, so that its decision is shown.

        The server must not give up that decision, so reports that wait no longer name the unit.
        """
        if not self._waiting:
            return
        with self._lock:
            self._waiting = deque(
                replace(x, unit=None) if (x.campaign, x.unit) == (campaign, unit) else x
                for x in self._waiting
            )

    def report(self) -> int:
        """Try to report all of them now; how many still wait."""
        with self._sending:
            while self._waiting:
                with self._lock:
                    campaign = self._waiting[0].campaign
                    some = [x for x in self._waiting if x.campaign == campaign][:MOST_AT_ONCE]
                try:
                    self._send(campaign, some)
                except StoreUnavailable:
                    break
                except DriftanchorError as error:  # it will never work
                    logger.warning("defaults that were played cannot be reported: %s", error)
                with self._lock:
                    sent = set(some)
                    self._waiting = deque(x for x in self._waiting if x not in sent)
        return len(self._waiting)

    def end(self) -> None:
        """Report what can be reported now, and no more after that."""
        self._ended.set()
        self.report()

    def _run(self) -> None:
        wait = FIRST_WAIT
        while not self._ended.wait(wait):
            self.report()
            wait = min(LONGEST_WAIT, 2.0 * wait)
            with self._lock:
                if not self._waiting:
                    self._runs = False
                    return
        with self._lock:
            self._runs = False
