"""PropensitySums: how often each arm should have been played, and the evidence against it.

These sums of propensities are in no event, so the store keeps them beside the events.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.live.campaigns.sample_ratio import log_e_value
from driftanchor.live.stores.damage import damaged, reads_store

ARMS_PER_CHECK = 100  # a check takes longer with more arms, and is then made less often


class PropensitySums:
    """Sums over the propensities of all decisions; see `RatioCheck`.

    Args:
        arms: The number of arms.

    Attributes:
        expected: The sum of the propensities p of each arm.
        variance: The sum of p (1 − p) of each arm.
        log_e: The largest evidence so far that plays deviate from the propensities.

    Example:
        >>> traffic = PropensitySums(2)
        >>> traffic.add(np.array([0.75, 0.25]))
        >>> traffic.expected.tolist(), traffic.variance.tolist()
        ([0.75, 0.25], [0.1875, 0.1875])
        >>> copy = PropensitySums(2)
        >>> copy.load(traffic.to_bytes())
        >>> copy.expected.tolist()
        [0.75, 0.25]
    """

    def __init__(self, arms: int) -> None:
        self.expected: Floats = np.zeros(arms)
        self.variance: Floats = np.zeros(arms)
        self.log_e = 0.0

    def to_bytes(self) -> bytes:
        """Return the sums of p, the sums of p (1 − p), the evidence and a checksum."""
        sums = np.concatenate((self.expected, self.variance, (self.log_e,))).astype("<f8").tobytes()
        return sums + struct.pack("<Q", zlib.crc32(sums))

    @reads_store
    def load(self, stored: bytes) -> None:
        """Read what `to_bytes` wrote; arms that were added since have no sums."""
        if not stored:
            return
        if len(stored) % 16 == 0:  # older ones have no checksum
            stored, checksum = stored[:-8], stored[-8:]
            if checksum != struct.pack("<Q", zlib.crc32(stored)):
                raise damaged("the sums of propensities do not match their checksum")
        sums = np.frombuffer(stored, "<f8")
        arms = sums.size // 2
        self.expected[:arms], self.variance[:arms] = sums[:arms], sums[arms : 2 * arms]
        self.log_e = sums.item(-1)

    def add_arm(self) -> None:
        """Add an arm, whose propensity was 0 until now."""
        self.expected, self.variance = np.append(self.expected, 0.0), np.append(self.variance, 0.0)

    def add(self, probabilities: Floats) -> None:
        """Add the probabilities that a decision was drawn with."""
        self.expected += probabilities
        self.variance += probabilities * (1.0 - probabilities)

    def check(self, decisions: Ints, now: int, made: int) -> None:
        """Update the evidence; with many arms, not after every decision.

        Args:
            decisions: The number of decisions for each arm.
            now: The number of decisions.
            made: The number of decisions since the last call.
        """
        every = max(1, self.expected.size // ARMS_PER_CHECK)
        if now // every > (now - made) // every:
            evidence = log_e_value(decisions - self.expected, self.variance)
            self.log_e = max(self.log_e, evidence)
