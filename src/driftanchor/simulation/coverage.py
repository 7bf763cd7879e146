"""How logged rewards are spread over the arms."""

from __future__ import annotations

from collections.abc import Sequence

from driftanchor.core import check
from driftanchor.core.arms import MAX_ARMS, Arms
from driftanchor.errors import InvalidInput

COVERAGES = ("uniform", "optimal", "suboptimal")


def cover(offline_total: int, arms: int, coverage: str | Sequence[float]) -> list[int]:
    """How many of `offline_total` logged rewards each arm has.

    `uniform` spreads them evenly. `optimal` gives 80 % of them to arm 1 and `suboptimal` 80 % to
    arm 2, and spreads the rest evenly over the others. A list gives each arm's share. What does
    not divide evenly goes to the first arms, one each.

    Example:
        >>> cover(2000, 10, "optimal")
        [1600, 45, 45, 45, 45, 44, 44, 44, 44, 44]
        >>> cover(10, 3, [0.5, 0.5, 0.0])
        [5, 5, 0]
    """
    if not isinstance(coverage, str):
        return _by_share(check.whole(offline_total, "offline_total"), arms, coverage)
    check.choice(coverage, "coverage", COVERAGES)
    total = check.whole(offline_total, "offline_total")
    arms = check.whole(arms, "arms", low=1 if coverage == "uniform" else 2, high=MAX_ARMS)
    if coverage == "uniform":
        return _evenly(total, arms)
    most = total * 4 // 5
    rest = _evenly(total - most, arms - 1)
    return [most, *rest] if coverage == "optimal" else [rest[0], most, *rest[1:]]


def _evenly(total: int, arms: int) -> list[int]:
    share, left = divmod(total, arms)
    return [share + (i < left) for i in range(arms)]


def _by_share(total: int, arms: int, shares: Sequence[float]) -> list[int]:
    parts = check.per_arm(shares, "coverage", Arms.numbered(arms), low=0.0, high=1.0)
    if abs(parts.sum() - 1.0) > 1e-9:
        raise InvalidInput(
            f"sums to {parts.sum():g}: the shares of the arms must sum to 1", argument="coverage"
        )
    counts = [int(total * part + 1e-9) for part in parts.tolist()]
    owed = [i for i, part in enumerate(parts) if part > 0][: total - sum(counts)]
    return [count + (i in owed) for i, count in enumerate(counts)]
