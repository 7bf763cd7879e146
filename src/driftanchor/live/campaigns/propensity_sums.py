"""The sums of propensities: how often each arm should have been played, and evidence against it.

No event holds them, so the store keeps them beside the events.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.live.campaigns.sample_ratio import look
from driftanchor.live.stores.damage import damaged, reads_store

SEEN_AT_ONCE = 100  # arms, in a look at the traffic after each decision


class PropensitySums:
    """What is summed over the propensities of all decisions; see `RatioCheck`.

    Args:
        arms: How many arms there are.

    Attributes:
        expected: The sum of the propensities of each arm.
        variance: The sum of p (1 − p) of each arm, p its propensities.

    Example:
        >>> sums = PropensitySums(2)
        >>> sums.drawn(np.array([0.75, 0.25]))
        >>> sums.expected.tolist(), sums.variance.tolist()
        ([0.75, 0.25], [0.1875, 0.1875])
        >>> again = PropensitySums(2)
        >>> again.take_over(sums.to_bytes())
        >>> again.expected.tolist()
        [0.75, 0.25]
    """

    def __init__(self, arms: int) -> None:
        self._lay_out(arms)
        self._last: Floats | None = None  # the probabilities of the last decision,
        self._spread: Floats = self.variance  # and what they add to the variance

    def _lay_out(self, arms: int) -> None:
        """Make room for all numbers in one array, in the order in which the store has them."""
        self._stored = np.zeros(2 * arms + 2, "<f8")
        self._numbers: Floats = self._stored[:-1]
        self._checksum = self._stored[-1:].view("<u8")
        self.expected: Floats = self._stored[:arms]
        self.variance: Floats = self._stored[arms : 2 * arms]
        self._quiet = 0  # the decision through which a look would find nothing new

    @property
    def log_e(self) -> float:
        """The evidence against the propensities, the largest so far."""
        return self._numbers.item(-1)

    def to_bytes(self) -> bytes:
        """The sums as the store keeps them.

        For each arm the sum of p, then for each the sum of p (1 − p), the evidence against p, and
        a checksum.
        """
        self._checksum[0] = zlib.crc32(self._numbers.data)
        return self._stored.tobytes()

    @reads_store
    def take_over(self, sums: bytes) -> None:
        """Take over the sums from the store; arms that were added since have none."""
        if not sums:
            return
        if len(sums) % 16 == 0:  # older ones have no checksum
            sums, checked = sums[:-8], sums[-8:]
            if checked != struct.pack("<Q", zlib.crc32(sums)):
                raise damaged("the sums of propensities are not what their checksum says")
        found = np.frombuffer(sums, "<f8")
        arms = found.size // 2
        self.expected[:arms], self.variance[:arms] = found[:arms], found[arms : 2 * arms]
        self._numbers[-1] = found[-1]
        self._quiet = 0

    def add_arm(self) -> None:
        """One more arm, whose propensity was 0 until now."""
        before = self.expected, self.variance, self.log_e
        self._lay_out(self.expected.size + 1)
        self.expected[:-1], self.variance[:-1], self._numbers[-1] = before

    def drawn(self, probabilities: Floats) -> None:
        """Count the probabilities that a decision was drawn with; they must not change later."""
        if probabilities is not self._last:
            self._last, self._spread = probabilities, probabilities * (1.0 - probabilities)
        self.expected += probabilities
        self.variance += self._spread

    def weigh(self, decisions: Ints, now: int, made: int) -> None:
        """Look whether arms are played as often as their probabilities say.

        A look costs as much as there are arms, so with many it is rarer than decisions are. It is
        left out where the decisions since the last look are too few to add to the evidence.

        Args:
            decisions: How many decisions chose each arm.
            now: How many decisions there are.
            made: How many decisions were made since the last time.
        """
        apart = max(1, self.expected.size // SEEN_AT_ONCE)
        if now <= self._quiet or now // apart == (now - made) // apart:
            return
        found, spare = look(decisions - self.expected, self.variance, self.log_e)
        self._numbers[-1], self._quiet = found, now + spare
