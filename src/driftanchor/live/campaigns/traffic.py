"""Traffic: test whether arms are played as often as their propensities say.

If decisions are lost, counted twice or not exposed more often for one arm than for others, every
comparison of arms is wrong, and no reward shows it. Under the propensities p, the number of plays
of arm i exceeds its expectation by M = Σ (1{played} − p_i), with variance Q = Σ p_i (1 − p_i). For
each stake λ > 0, exp(±λ M − (e^λ − 1 − λ) Q) is a supermartingale (Freedman 1975), so the
probability that its mean over stakes and arms ever exceeds 1/α is at most α. The test is valid at
any time, and propensities may change with each decision.

No event holds the sums of propensities, so the store keeps them beside the events.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.live.stores.damage import damaged, reads_store
from driftanchor.render.numbers import percent

LEVEL = 1e-3  # rate of false alarms: a mismatch is a fault of a program, not a matter of luck
STAKES = 2.0 ** -np.arange(1.0, 13.0)
_PRICE = np.expm1(STAKES) - STAKES
ARMS_PER_CHECK = 100  # a check takes longer with more arms, and is then made less often


@dataclass(frozen=True, eq=False, slots=True)
class RatioCheck:
    """Observed and expected numbers of plays of each arm.

    Attributes:
        played: The number of decisions of each arm.
        expected: The sum of each arm's propensities.
        variance: Q of each arm.
        log_e: The logarithm of the largest e-value so far: evidence against the propensities.

    Example:
        >>> ratio = RatioCheck.start(2)
        >>> for column in [0] * 60:
        ...     ratio = fold(ratio, column, [0.5, 0.5])
        >>> ratio.played.tolist(), ratio.expected.tolist(), ratio.is_off()
        ([60, 0], [30.0, 30.0], True)
    """

    played: Ints
    expected: Floats
    variance: Floats
    log_e: float = 0.0

    @classmethod
    def start(cls, arms: int) -> RatioCheck:
        """Return the check before the first decision."""
        zeros = check.frozen(np.zeros(arms))
        return cls(check.frozen(np.zeros(arms, np.int64)), zeros, zeros)

    @property
    def p_value(self) -> float:
        """The anytime-valid p-value of the evidence against the propensities."""
        return math.exp(-max(self.log_e, 0.0))

    def is_off(self, level: float = LEVEL) -> bool:
        """Return whether plays deviate from the propensities, at a false-alarm rate of `level`."""
        return self.p_value <= level

    def with_arm(self) -> RatioCheck:
        """Return the check with one more arm, whose propensity was 0 until now."""
        return RatioCheck(
            check.frozen(np.append(self.played, 0)),
            check.frozen(np.append(self.expected, 0.0)),
            check.frozen(np.append(self.variance, 0.0)),
            self.log_e,
        )

    def text(self, labels: Sequence[str], level: float = LEVEL) -> str:
        """Describe the result in words."""
        total = int(self.played.sum())
        if not self.is_off(level):
            if total == 1:
                return "With one decision, there is nothing to check yet."
            return f"The {total:,} decisions are shared among the arms as they should be."
        worst = int((np.abs(self._excess) / np.sqrt(np.maximum(self.variance, 1e-12))).argmax())
        share, due = self.played[worst] / total, self.expected[worst] / total
        return (
            f"Arms are not played as often as they should be: {labels[worst]!r} has "
            f"{self.played[worst]:,} of {total:,} decisions, {percent(share)}, and "
            f"{self.expected[worst]:,.0f} are expected, {percent(due)} (p = {self.p_value:.1g}, at "
            "any time). Decisions are lost, repeated or not exposed for some arms more than for "
            "others, so comparisons of arms are wrong. Look for redirects, caches, timeouts, bots "
            "or errors that depend on the arm."
        )

    def to_json(self) -> record.Record:
        """Return a JSON-ready record."""
        return {
            "played": self.played.tolist(),
            "expected": self.expected.tolist(),
            "variance": self.variance.tolist(),
            "log_e": self.log_e,
        }

    @classmethod
    def from_json(cls, data: object) -> RatioCheck:
        """Read what `to_json` wrote."""
        if not isinstance(data, dict):
            raise UnreadableState(f"the record of a ratio check is damaged: {shown(data)}")
        try:
            labels = Arms.numbered(len(check.items(data["played"], "played")))
            played = check.pulls_per_arm(data["played"], "played", labels)
            expected, variance = (
                check.per_arm(data[name], name, labels, low=0.0)
                for name in ("expected", "variance")
            )
            log_e = check.number(data["log_e"], "log_e")
        except (InvalidInput, KeyError) as error:
            raise UnreadableState(f"the record of a ratio check is damaged: {error}") from error
        return cls(check.frozen(played), check.frozen(expected), check.frozen(variance), log_e)

    @property
    def _excess(self) -> Floats:
        excess: Floats = self.played - self.expected
        return excess

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RatioCheck) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.played.tobytes(), self.expected.tobytes(), self.log_e))


def fold(ratio: RatioCheck, column: int, propensities: Sequence[float] | Floats) -> RatioCheck:
    """Return the ratio check, updated for one more decision.

    Args:
        ratio: The check before that decision.
        column: The arm that was played.
        propensities: The probability of each arm; 0 for those that could not be played.
    """
    shares = np.asarray(propensities, np.float64)
    if shares.shape != ratio.played.shape:
        raise InvalidInput(
            f"must be {ratio.played.size} numbers, got {shares.shape}", argument="propensities"
        )
    if not ((shares >= 0).all() and abs(shares.sum() - 1.0) < 1e-6):
        raise InvalidInput("must be at least 0 and add up to 1", argument="propensities")
    played = ratio.played.copy()
    played[column] += 1
    expected = ratio.expected + shares
    variance = ratio.variance + shares * (1.0 - shares)
    log_e = max(ratio.log_e, log_e_value(played - expected, variance))
    return RatioCheck(check.frozen(played), check.frozen(expected), check.frozen(variance), log_e)


def log_e_value(excess: Floats, variance: Floats) -> float:
    """Return the logarithm of the e-value against the propensities.

    Each arm has one bet that it is played too often and one that it is played too rarely. The
    losing bet of each arm counts as 0.

    Example:
        >>> round(log_e_value(np.zeros(2), np.zeros(2)), 3)
        -0.693
    """
    capital = np.abs(excess)[:, None] * STAKES - variance[:, None] * _PRICE
    largest = float(capital.max())
    return largest + math.log(0.5 * float(np.exp(capital - largest).mean()))


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
