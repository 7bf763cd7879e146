"""Default arms that a client played without the server, and reports once it is back."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from driftanchor.errors import DriftanchorError, StoreUnavailable

MAX_PENDING = 10_000
BATCH = 500  # defaults in one report
FIRST_WAIT, MAX_WAIT = 1.0, 30.0  # seconds between two tries to report
ID_PREFIX = "default-"

logger = logging.getLogger("driftanchor.client")


@dataclass(frozen=True)
class Default:
    """A default arm that was played.

    Attributes:
        campaign: The campaign's name; `None` for the server's only campaign.
        key: The idempotency key of the request, or a key for the report alone.
        arm: The arm.
        at: Monotonic time of the request.
        unit: The unit, if the request had no key.
    """

    campaign: str | None
    key: str
    arm: str
    at: float = 0.0
    unit: str | None = None

    def decision_id(self, position: int = 0) -> str:
        """Return a decision id from which any process can read the arm."""
        digest = hashlib.sha256(f"{position} {self.key}".encode()).hexdigest()[:32]
        return f"{ID_PREFIX}{digest}:{self.arm}"


def default_arm(decision_id: object) -> str | None:
    """Return the arm of a default's decision id; `None` for other ids.

    Example:
        >>> default_arm(Default("checkout", "9f1c", "A").decision_id()), default_arm("9f1c")
        ('A', None)
    """
    if not isinstance(decision_id, str) or not decision_id.startswith(ID_PREFIX):
        return None
    return decision_id.partition(":")[2]


class DefaultQueue:
    """A queue of defaults to report, emptied by a background thread.

    Args:
        send: Reports a batch of defaults of one campaign.
    """

    def __init__(self, send: Callable[[str | None, list[Default]], None]) -> None:
        self._send = send
        self._pending: deque[Default] = deque(maxlen=MAX_PENDING)  # drops the oldest
        self._lock = threading.Lock()  # guards the queue
        self._sending = threading.Lock()  # one report at a time
        self._running = False
        self._closed = threading.Event()

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, default: Default) -> None:
        """Queue a default; the oldest of more than 10,000 are dropped."""
        with self._lock:
            self._pending.append(default)
            if self._running or self._closed.is_set():
                return
            self._running = True
        threading.Thread(target=self._run, daemon=True).start()

    def keep_decision(self, campaign: str | None, unit: str) -> None:
        """Remove the unit from pending reports, so that the server keeps its decision.

        Call this when a decision for the unit was returned to the caller.
        """
        if not self._pending:
            return
        with self._lock:
            self._pending = deque(
                (
                    replace(x, unit=None) if (x.campaign, x.unit) == (campaign, unit) else x
                    for x in self._pending
                ),
                maxlen=MAX_PENDING,
            )

    def report(self) -> int:
        """Try to report all defaults; return how many remain."""
        with self._sending:
            while self._pending:
                with self._lock:
                    campaign = self._pending[0].campaign
                    batch = [x for x in self._pending if x.campaign == campaign][:BATCH]
                try:
                    self._send(campaign, batch)
                except StoreUnavailable:
                    break
                except DriftanchorError as error:  # retrying cannot help
                    logger.warning("cannot report the defaults that were played: %s", error)
                with self._lock:
                    sent = {x.key for x in batch}  # of this campaign
                    left = (x for x in self._pending if x.campaign != campaign or x.key not in sent)
                    self._pending = deque(left, maxlen=MAX_PENDING)
        return len(self._pending)

    def close(self) -> None:
        """Try once to report all defaults, then stop the thread."""
        self._closed.set()
        self.report()

    def _run(self) -> None:
        wait = FIRST_WAIT
        while not self._closed.wait(wait):
            self.report()
            wait = min(MAX_WAIT, 2.0 * wait)
            with self._lock:
                if not self._pending:
                    self._running = False
                    return
        with self._lock:
            self._running = False
