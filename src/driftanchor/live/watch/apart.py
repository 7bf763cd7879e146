"""Whether one arm moved apart from all others together.

Intervals of single arms cannot be compared sharply: each has to be right by itself, and the common
move must fit into all of them. Here the others count as one. With D the moves of arms in units of
σ, d the true ones, and weights n, the capital exp(u Σ n (D − d) − u² Σ n/2) is a bet on one
deviation u that all others share, and that nobody gains by, whichever arm is played when:

- for normal rewards n = 1/(1/T + 1/N): a likelihood ratio that has the noise of the logs in it;
- for rewards in a range n = T, and σ is half of the range (Hoeffding), where d and D are those of
  the live mean. The logs have bets of their own, on each arm, made once.

Bets are mixed over u ~ N(0, 1/ρ). The product of the bets on the arm, on the others, and on the
logs exceeds 1/miss with a probability of at most `miss`, ever (Ville). If the promise holds, the
true moves are within W of a common move. So an alarm is right if the product is that large for all
moves that the promise allows. With a = n²/(2 (n + ρ)), b alike for the N rewards of a log, and Δ
the gap between the two moves that W leaves open, the smallest one is::

    log E = Δ² / (1/a + 1/a' + Σ w²/b) − Σ log(1 + n/ρ)/2

where w is 1 for the log of the arm and n/Σn for those of the others. Plain scalar code, interpreted
or compiled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

OWN = (
    0.25  # ρ of a bet on the log of the arm, in rewards of the log; for others as often as they are
)


class Side(NamedTuple):
    """One arm, or several that count as one."""

    n: float  # the weight
    move: float  # the mean of the moves, in σ, weighted by n
    bound: float  # the mean of the bounds, in σ, weighted alike
    prior: float  # ρ, in rewards; fixed before the first
    logs: float  # Σ w²/b
    price: float  # of the bets on logs


def with_log(side: Side, logged: float, share: float) -> Side:
    """An arm whose log has a bet of its own, with ρ = share · N."""
    b = 0.5 * logged / (1.0 + share)
    return Side(side.n, side.move, side.bound, side.prior, 1.0 / b, 0.5 * math.log1p(1.0 / share))


def added(every: Side, arm: Side) -> Side:
    """Sums over all arms with one more of them: of n, and of n times what an arm has."""
    return Side(
        every.n + arm.n,
        every.move + arm.n * arm.move,
        every.bound + arm.n * arm.bound,
        every.prior,
        every.logs + arm.n * arm.n * arm.logs,
        every.price + arm.price,
    )


def rest_of(every: Side, arm: Side, prior: float) -> Side:
    """All arms but one, as one.

    Args:
        every: Sums over all arms.
        arm: The one, as it was added to them.
        prior: ρ of the others, fixed when the arm came.
    """
    n = max(every.n - arm.n, 1e-9)
    return Side(
        n,
        (every.move - arm.n * arm.move) / n,
        max((every.bound - arm.n * arm.bound) / n, 0.0),
        prior,
        max(every.logs - arm.n * arm.n * arm.logs, 0.0) / (n * n),
        max(every.price - arm.price, 0.0),
    )


def log_e_apart(one: Side, other: Side) -> float:
    """The evidence that two sides moved further apart than their bounds allow.

    Example:
        >>> one, other = Side(500, 0.5, 0.1, 25, 0, 0), Side(900, 0, 0.1, 99, 0, 0)
        >>> round(log_e_apart(one, other), 2)
        10.82
    """
    gap = max(abs(one.move - other.move) - one.bound - other.bound, 0.0)
    return gap * gap / _spread(one, other) - _price(one) - _price(other)


def reach_apart(one: Side, other: Side, miss: float) -> float:
    """How far the difference of two moves may be from its estimate, but for a chance of `miss`."""
    return math.sqrt((_price(one) + _price(other) - math.log(miss)) * _spread(one, other))


def _spread(one: Side, other: Side) -> float:
    a = 0.5 * one.n * one.n / (one.n + one.prior)
    b = 0.5 * other.n * other.n / (other.n + other.prior)
    return 1.0 / a + one.logs + 1.0 / b + other.logs


def _price(side: Side) -> float:
    return 0.5 * math.log1p(side.n / side.prior) + side.price


NOBODY = Side(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
