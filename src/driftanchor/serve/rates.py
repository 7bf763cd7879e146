"""Rates: how often somebody may do something, with one number kept for each."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

MOST = 10_000  # callers that are remembered


class Rates:
    """Lets each caller do something so many times a second.

    For each caller it keeps the moment at which all it did would be paid for at the given rate.
    That moment may be ahead of now by as much as a burst costs.

    Args:
        rate: How often in a second, in the long run.
        burst: How often at once, after a pause.
        clock: A clock that never goes back, in seconds.

    Example:
        >>> rates = Rates(rate=2.0, burst=1.0, clock=lambda: 5.0)
        >>> rates.wait("a"), rates.wait("a"), rates.wait("b")
        (0.0, 0.5, 0.0)
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._cost, self._clock = 1.0 / rate, clock
        self._ahead = burst / rate
        self._paid: dict[str, float] = {}

    def wait(self, caller: str) -> float:
        """Count one; 0 if it is allowed, else how many seconds to wait, and it is not counted."""
        now = self._clock()
        paid = max(self._paid.get(caller, now), now) + self._cost
        if paid - now > self._ahead + 1e-9:
            return paid - now - self._ahead
        if caller not in self._paid and len(self._paid) >= MOST:
            self._forget(now)
        self._paid[caller] = paid
        return 0.0

    def _forget(self, now: float) -> None:
        """Make room: for those who paused long enough, or else for the one that came first."""
        self._paid = {caller: paid for caller, paid in self._paid.items() if paid > now}
        while len(self._paid) >= MOST:
            del self._paid[next(iter(self._paid))]


def retry_after(seconds: float) -> str:
    """The value of the header `Retry-After`, in whole seconds.

    Example:
        >>> retry_after(0.2), retry_after(3.0)
        ('1', '3')
    """
    return str(max(1, math.ceil(seconds)))
