"""Packages that Upworthy tested twice: the earlier test is the log, the later one the world."""

import itertools
import math
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.shift.next_period import NextPeriod
from driftanchor.shift.period_table import PeriodTable
from driftanchor.shift.two_way import Spread, TwoWay

Counts = tuple[int, int]  # impressions, clicks
COVERAGE = 0.95
QUERY = """
    SELECT clickability_test_id, md5(concat(headline, chr(31), eyecatcher_id)) AS arm,
        min(test_week), sum(impressions)::BIGINT, sum(clicks)::BIGINT
    FROM read_parquet(?) GROUP BY ALL
"""


@dataclass(frozen=True)
class Pair:
    """Two tests that share arms: impressions and clicks of these in the earlier and the later."""

    tests: tuple[str, str]
    earlier: dict[str, Counts]
    later: dict[str, Counts]

    @property
    def offline(self) -> OfflineData:
        """The earlier test as a log."""
        return offline_of(self.earlier)

    @property
    def online(self) -> Floats:
        """The later click rates."""
        return np.array([clicks / shown for shown, clicks in self.later.values()])

    @property
    def impressions(self) -> int:
        """Of all shared arms in the later test."""
        return sum(shown for shown, _ in self.later.values())


class Retests:
    """Every arm that was in more than one test, with its tests in the order they were made."""

    def __init__(self, path: Path) -> None:
        seen: dict[str, dict[tuple[int, str], Counts]] = defaultdict(dict)
        with duckdb.connect() as connection:
            for test, arm, week, shown, clicks in connection.execute(QUERY, [str(path)]).fetchall():
                seen[arm][week, test] = (shown, clicks)  # a test's id starts with when it was made
        self.arms = {
            arm: {test: counts for (_, test), counts in sorted(tests.items())}
            for arm, tests in sorted(seen.items())
            if len(tests) > 1
        }

    def pairs(self, least: int = 2) -> list[Pair]:
        """Pairs of tests that share at least so many arms."""
        shared: dict[tuple[str, str], list[str]] = defaultdict(list)
        for arm, tests in self.arms.items():
            for earlier, later in itertools.combinations(tests, 2):
                shared[earlier, later].append(arm)
        return [
            Pair(tests, *({arm: self.arms[arm][test] for arm in arms} for test in tests))
            for tests, arms in sorted(shared.items())
            if len(arms) >= least
        ]

    def history(self, without: Collection[str] = ()) -> PeriodTable:
        """The first, second, … test of each arm as periods; some tests left out."""
        periods: dict[str, dict[str, Counts]] = defaultdict(dict)
        for arm, tests in self.arms.items():
            kept = [counts for test, counts in tests.items() if test not in without]
            for place, counts in enumerate(kept if len(kept) > 1 else ()):
                periods[f"test {place + 1}"][arm] = counts
        return PeriodTable.of({label: offline_of(counts) for label, counts in periods.items()})

    def bias_bound(self, pair: Pair) -> float:
        """V for a pair, from all retests but those with one of its tests.

        The move of an arm from one test to the next is of two periods: √2 τ.
        """
        law = self.history(pair.tests).one_way(pooled=True).law
        factors = np.full(len(pair.earlier), math.sqrt(2))
        return NextPeriod.one_way(law, factors).bound(COVERAGE)

    def contrasts(self, without: Collection[str] = ()) -> TwoWay:
        """Pairs of tests that share arms, without some tests; own moves are seen within pairs.

        Every pair is a part of the table for itself, with two periods that no other pair has: its
        common moves and the levels of its arms take no part in Q_d.
        """
        pairs = [pair for pair in self.pairs() if not set(pair.tests) & set(without)]
        arms = sum(len(pair.earlier) for pair in pairs)
        mean, noise = np.zeros((arms, 2 * len(pairs))), np.full((arms, 2 * len(pairs)), np.inf)
        first = 0
        for number, pair in enumerate(pairs):
            last = first + len(pair.earlier)
            for place, counts in enumerate((pair.earlier, pair.later)):
                shown, clicks = np.array(list(counts.values()), dtype=np.float64).T
                column = 2 * number + place
                mean[first:last, column] = clicks / shown
                noise[first:last, column] = (
                    np.maximum(clicks, 1.0) / shown**2 * (1 - clicks / shown)
                )
            first = last
        return TwoWay(mean, noise)

    def relative_bound(self, pair: Pair) -> float:
        """W for a pair, from all pairs but those with one of its tests; infinite if there are none.

        The own move of an arm from one test to the next is of two periods: √2 τ_d.
        """
        table = self.contrasts(pair.tests)
        if not table.mean.size or not table.df:
            return math.inf
        law = Spread(table).law
        arms = len(pair.earlier)
        return NextPeriod(law, np.full(arms, 2.0), np.zeros(arms), 0.0).bound(COVERAGE)


def offline_of(counts: dict[str, Counts]) -> OfflineData:
    """Impressions and clicks as offline data."""
    return OfflineData.from_summary(
        {
            arm: (shown, clicks / shown, clicks * (1 - clicks / shown) / (shown - 1))
            for arm, (shown, clicks) in counts.items()
        }
    )
