"""Defaults: arms that a client played without the server, and reports once it is back."""

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
        key: The key of the request that timed out, or a key for the report.
        arm: The arm that was played instead.
        at: When the request was sent, by the monotonic clock.
        unit: The unit of a request that had no key.
    """

    campaign: str | None
    key: str
    arm: str
    at: float = 0.0
    unit: str | None = None

    def id(self, place: int = 0) -> str:
        """Return a decision id from which `arm_of_default` can read the arm in any process."""
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
    """A queue of defaults to report, emptied by a background thread.

    Args:
        send: Reports a batch of defaults of one campaign, or raises.
    """

    def __init__(self, send: Callable[[str | None, list[Default]], None]) -> None:
        self._send = send
        self._waiting: deque[Default] = deque()
        self._lock = threading.Lock()  # guards the queue
        self._sending = threading.Lock()  # one report at a time
        self._runs = False
        self._ended = threading.Event()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, default: Default) -> None:
        """Queue a default for reporting. Beyond 10,000 the oldest are dropped."""
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
        """Note that the server answered a request for a unit, so the unit's decision is shown.

        The server must keep that decision, so pending reports no longer name the unit.
        """
        if not self._waiting:
            return
        with self._lock:
            self._waiting = deque(
                replace(x, unit=None) if (x.campaign, x.unit) == (campaign, unit) else x
                for x in self._waiting
            )

    def report(self) -> int:
        """Try to report all defaults; return how many remain."""
        with self._sending:
            while self._waiting:
                with self._lock:
                    campaign = self._waiting[0].campaign
                    some = [x for x in self._waiting if x.campaign == campaign][:MOST_AT_ONCE]
                try:
                    self._send(campaign, some)
                except StoreUnavailable:
                    break
                except DriftanchorError as error:  # retrying cannot help
                    logger.warning("cannot report the defaults that were played: %s", error)
                with self._lock:
                    sent = set(some)
                    self._waiting = deque(x for x in self._waiting if x not in sent)
        return len(self._waiting)

    def end(self) -> None:
        """Try once to report all defaults, then stop the thread."""
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
