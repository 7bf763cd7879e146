"""Sample-ratio check: tests whether arms are played as often as their propensities say.

If decisions are lost, counted twice or not exposed more often for one arm than for others, every
comparison of arms is wrong, and no reward shows it. Under the propensities p, the number of plays
of arm i exceeds its expectation by M = Σ (1{played} − p_i), with variance Q = Σ p_i (1 − p_i). For
each stake λ > 0, exp(±λ M − (e^λ − 1 − λ) Q) is a supermartingale (Freedman 1975), so the
probability that its mean over stakes and arms ever exceeds 1/α is at most α. The test is valid at
any time, and propensities may change with each decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftanchor.core import check, record
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput, UnreadableState, shown
from driftanchor.render.numbers import percent

LEVEL = (
    0.001  # the chance of a false alarm: a mismatch is a fault of a program, not a matter of luck
)
STAKES = 2.0 ** -np.arange(1.0, 13.0)
_PRICE = np.expm1(STAKES) - STAKES


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
    """The check after one more decision; `ratio` stays as it is.

    Fold what arrives, such as exposures, with the propensities that were drawn from. A decision
    that is replayed is none.

    Args:
        ratio: The check before.
        column: The arm that was played.
        propensities: How likely each arm was; 0 for those that could not be played.
    """
    return fold_many(ratio, [column], np.asarray(propensities, np.float64)[None])


def fold_many(ratio: RatioCheck, columns: Sequence[int] | Ints, propensities: Floats) -> RatioCheck:
    """As `fold`, for many decisions, with one row of propensities each; looks once, at the end."""
    shares = np.asarray(propensities, np.float64)
    if shares.ndim != 2 or shares.shape != (len(columns), ratio.played.size):
        raise InvalidInput(
            f"must be {len(columns)} rows of {ratio.played.size} numbers, got {shares.shape}",
            argument="propensities",
        )
    sums = shares.sum(axis=1)
    if not ((shares >= 0).all() and (np.abs(sums - 1.0) < 1e-6).all()):
        raise InvalidInput(
            "must be at least 0 and add up to 1 for each decision", argument="propensities"
        )
    played = ratio.played + np.bincount(np.asarray(columns, np.int64), minlength=shares.shape[1])
    expected = ratio.expected + shares.sum(axis=0)
    variance = ratio.variance + (shares * (1.0 - shares)).sum(axis=0)
    after = RatioCheck(check.frozen(played), check.frozen(expected), check.frozen(variance))
    return replace(after, log_e=max(ratio.log_e, log_e_value(played - expected, variance)))


def log_e_value(excess: Floats, variance: Floats) -> float:
    """The logarithm of the mean capital of the bets on the sides of all arms that gain.

    Half of the capital is on the other sides and is not counted.

    Args:
        excess: How much more often than expected each arm was played.
        variance: Q of each arm.

    Example:
        >>> round(log_e_value(np.zeros(2), np.zeros(2)), 3)
        -0.693
    """
    capital: Floats = np.abs(excess)[:, None] * STAKES
    capital -= variance[:, None] * _PRICE
    top = float(np.maximum.reduce(capital, axis=None))
    capital -= top
    np.exp(capital, out=capital)
    return top + math.log(0.5 * (float(np.add.reduce(capital, axis=None)) / capital.size))
