"""Running totals: counted rows in which each row repeats the events of the rows before it.

Exports of experiments often hold checkpoints: the count so far, day after day. Read as new events,
the first day would count once for every later row. Such logs are refused. Four things are asked:

1. Of every arm with at least three rows, the largest count is in the last row. The one GROUP BY
   over the rows answers this, so logs of new events need no second look: k rows in no special order
   pass with probability 1/k an arm.
2. Rows are summed by arm and time, as segments share both. Of every arm with at least three times
   the counts never fall, and rise at least twice.
3. The differences between rows are possible as new events: totals never fall, and rewards of 0 and
   1, or of a given range, stay within it.
4. The rewards do not contradict it. Counts n₁ ≤ n₂ ≤ … with sums S₁, S₂, … are read in two ways,
   as independent rows of n_t events and as rows of m_t = n_t − n_{t−1} events with sums
   S_t − S_{t−1}. Q is the sum of squares of a reading's means around the mean of the arm, each
   weighted by its events, and D the rows less the arms. With a flat prior of the means and 1/σ² of
   one noise for all arms, the logarithm of the Bayes factor for running totals is::

       ½ Σ_arms [Σ_t log(n_t/m_t) + log(Σ_t n_t / Σ_t m_t)] + D/2 log(Q_new/Q_running)

   Rows are refused above −3: by Markov's inequality at most e⁻³ = 5 % of running totals are below.
   Where no arm has more than three times, chance is too likely: they are refused above 0, and down
   to −3 there is a warning.

False alarms. Counts of k times in random order grow with probability 1/k!: for each arm if arms are
independent, once if all follow the same traffic. Measured for rewards of 0 and 1 at a rate of 0.1
and about 1,000 events a row, the share of logs that is refused is:

====================================================  =====  =====  =====  =====
times of each arm                                         3      4      6     10
====================================================  =====  =====  =====  =====
new events, two arms, Poisson noise                   0.1 %    0 %    0 %    0 %
new events, two arms, common traffic varies by 40 %     4 %    2 %    0 %    0 %
new events, two arms, counts grow by 10 % a row        19 %   19 %    5 %    1 %
new events, two arms, counts 1, 2, … times the first   36 %  100 %   78 %   25 %
new events, four arms, the same                        29 %   88 %   37 %    5 %
running totals, two arms                               65 %  100 %   99 %   99 %
====================================================  =====  =====  =====  =====

Counts that really grow cannot always be distinguished from running totals: `allow_growth` says that
rows count new events.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import narwhals as nw

from driftanchor.errors import InvalidInput
from driftanchor.logs import labels, row_rules
from driftanchor.logs.aggregate import Group, fetch, moment_of
from driftanchor.logs.query import LogQuery
from driftanchor.logs.sources import LogSource
from driftanchor.logs.sql import identifier
from driftanchor.logs.times import bound, shown_time

FEWEST = 3  # times of an arm
MOST = 10_000  # sums by arm and time that are looked at
ROUNDING = 1e-9
DOUBT = -3.0  # the evidence below which rows are taken for new events


@dataclass(frozen=True)
class Row:
    """All rows of an arm with one time."""

    time: datetime
    count: float
    total: float


Series = dict[tuple[str, ...], list[Row]]  # by arm, or arm and segment; in order of time


def refuse_running_totals(rows: LogSource, query: LogQuery, cells: Sequence[Group]) -> str | None:
    """Refuse counted rows that are running totals, and give a warning where this is in doubt.

    Args:
        rows: The rows.
        query: What is asked of them; nothing is done without counts, and times or periods that are
            dates.
        cells: What one pass found, of the arms wanted.
    """
    if query.shape == "events" or query.allow_growth:
        return None
    if query.time is None:
        series = _dated(cells)
    elif _may_be(cells, query):
        series = _series(rows, query, cells)
    else:
        return None
    found = {name: part for name, part in series.items() if len(part) >= FEWEST}
    coins = query.shape == "totals" and all(_coins(part) for part in found.values())
    if not found or not all(_grows(part, query, coins) for part in found.values()):
        return None
    speaks = evidence(list(found.values()))
    if speaks <= DOUBT:
        return None
    if speaks <= 0 and max(map(len, found.values())) == FEWEST:
        return _message(rows, query, found, "may hold")
    raise InvalidInput(_message(rows, query, found, "looks like"))


def evidence(found: Sequence[Sequence[Row]]) -> float:
    """The logarithm of the Bayes factor for running totals against new events.

    Example:
        >>> day = datetime(2026, 1, 1)
        >>> running = (100, 14), (200, 22), (300, 31), (400, 40)
        >>> round(evidence([[Row(day, n, s) for n, s in running]]), 2)
        1.31
        >>> new = (100, 14), (200, 15), (300, 36), (400, 37)
        >>> round(evidence([[Row(day, n, s) for n, s in new]]), 2)
        -0.87
    """
    sizes, freedom = 0.0, 0
    spread = [0.0, 0.0]
    for part in found:
        fresh = list(_differences(part))
        kept = [(b.count, b.total) for b, (m, _) in zip(part, fresh, strict=True) if m > 0]
        fresh = [(m, d) for m, d in fresh if m > 0]
        sizes += sum(math.log(n / m) for (n, _), (m, _) in zip(kept, fresh, strict=True))
        for i, reading in enumerate((kept, fresh)):
            events = sum(n for n, _ in reading)
            mean = sum(s for _, s in reading) / events
            spread[i] += sum(n * (s / n - mean) ** 2 for n, s in reading)
            sizes += math.log(events) * (1 - 2 * i)
        freedom += len(kept) - 1
    if min(spread) <= 0:  # as in made-up examples; one reading alone without noise is no accident
        return (
            sizes / 2 if spread[0] == spread[1] else math.copysign(math.inf, spread[0] - spread[1])
        )
    return (sizes + freedom * math.log(spread[0] / spread[1])) / 2


def _may_be(cells: Sequence[Group], query: LogQuery) -> bool:
    """Whether the largest count of every arm is in its last row."""
    arms: dict[Any, list[Group]] = defaultdict(list)
    for cell in cells:
        if cell.used:
            arms[cell.value if query.calendar else (cell.value, cell.by)].append(cell)
    many = [part for part in arms.values() if sum(cell.used for cell in part) >= FEWEST]
    return bool(many) and all(_peaks(part) for part in many)


def _peaks(part: Sequence[Group]) -> bool:
    last = max((cell for cell in part if cell.last), key=lambda cell: cell.last or datetime.min)
    most = max(cell.most for cell in part)
    return last.peaks and last.most == most and min(cell.least for cell in part) < most


def _series(rows: LogSource, query: LogQuery, cells: Sequence[Group]) -> Series:
    """The sums by arm and time, of at most `MOST` of them; those of an arm are in order."""
    frame = rows.frame
    kept, good = row_rules.kept(query, frame.collect_schema()), row_rules.usable(query)
    frame = frame.filter(good if kept is None else kept & good)
    total = nw.col("total") if query.shape == "totals" else nw.col("count") * nw.col("mean")
    keys = ["arm"] if query.by is None or query.calendar else ["arm", "by"]
    sums = (
        frame.filter(nw.col("count") > 0)
        .select(*keys, "time", "count", total=total)
        .group_by(*keys, "time")
        .agg(nw.col("count").sum(), nw.col("total").sum())
        .sort(*keys, "time")
        .head(MOST)
    )
    wanted = {cell.value for cell in cells}
    found: Series = defaultdict(list)
    for row in fetch(sums):
        time = moment_of(row["time"])
        if row["arm"] in wanted and time is not None:
            name = tuple(labels.label_of(row[key]) for key in keys)
            found[name].append(Row(time, row["count"], row["total"]))
    return found


def _dated(cells: Sequence[Group]) -> Series:
    """The sums by arm and period, where there are no times and every period is a date or time."""
    found: Series = defaultdict(list)
    for cell in cells:
        if cell.used and cell.n:
            time = _date(cell.by)
            if time is None:
                return {}
            found[labels.label_of(cell.value),].append(Row(time, cell.n, cell.n * cell.mean))
    return {name: sorted(part, key=lambda row: row.time) for name, part in found.items()}


def _date(period: object) -> datetime | None:
    """What a period's label reads as; numbers may be of anything."""
    if not isinstance(period, str | date):
        return None
    try:
        return bound(period, "by")
    except InvalidInput:
        return None


def _differences(part: Sequence[Row]) -> Iterator[tuple[float, float]]:
    yield part[0].count, part[0].total
    for a, b in itertools.pairwise(part):
        yield b.count - a.count, b.total - a.total


def _grows(part: Sequence[Row], query: LogQuery, coins: bool) -> bool:
    """Whether counts only grow, and what comes to them is possible."""
    if query.reward_range is not None:
        low, high = query.reward_range
    elif query.shape == "totals":
        low, high = 0.0, 1.0 if coins else math.inf
    else:
        low, high = -math.inf, math.inf
    steps = list(_differences(part))[1:]
    slack = ROUNDING * max(abs(row.total) for row in part)
    fits = [
        low * m - slack <= d <= high * m + slack if m > 0 else m == 0 and abs(d) <= slack
        for m, d in steps
    ]
    return all(fits) and sum(m > 0 for m, _ in steps) >= FEWEST - 1


def _coins(part: Sequence[Row]) -> bool:
    return all(0 <= row.total <= row.count and row.total == int(row.total) for row in part)


def _message(
    rows: LogSource, query: LogQuery, found: Mapping[tuple[str, ...], Sequence[Row]], looks: str
) -> str:
    name, part = next(iter(found.items()))
    first, last = part[0], part[-1]
    start, end = shown_time(first.time), shown_time(last.time)
    ends = {series[-1].time for series in found.values()}
    alone = f" (here since={end!r})" if len(ends) == 1 and query.time else ""
    keys = [query.arm, query.by] if len(name) > 1 else [query.arm]
    by = ", ".join(identifier(key) for key in keys if key)
    order = query.time or query.by
    count, time = identifier(str(query.count)), identifier(str(order))
    return (
        f"column {query.count!r} of {rows.name} {looks} running totals: it only grows with "
        f"{order!r} (of {', '.join(name)!r} from {first.count:,.0f} at {start} to "
        f"{last.count:,.0f} at {end}). As new events the same ones would count many times. Keep "
        f"the last row of each arm{alone}, or the differences between rows: in SQL {count} - "
        f"lag({count}, 1, 0) OVER (PARTITION BY {by} ORDER BY {time}). If every row "
        "counts new events, say allow_growth (--allow-growth)"
    )
