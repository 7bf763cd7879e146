"""Compare arms within files, periods or groups if the arms' shares of the rows differ there.

Several files are strata, and each is divided further by `by`. Without `by` it is divided into days,
weeks or months of `time`: the shortest periods that have enough rewards. If some arms never share a
stratum, because each has its own file or its own days, coarser strata are tried: without files,
with weeks instead of days, or with files alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.provenance import Strata, strata_text
from driftanchor.core.stats.stratified import Stratified, components, stratified
from driftanchor.core.stats.summary import is_binary
from driftanchor.logs import calendar, labels, row_rules
from driftanchor.logs.aggregate import Group, fetch
from driftanchor.logs.query import LogQuery
from driftanchor.logs.sources import FileSource, LogSource

MOST_CELLS = 100_000  # pairs of arm and stratum with rewards
MOST_EQUATIONS = 2_000  # the smaller of arms and strata
MOST_NUMBERS = 10_000_000  # arms times strata
FEWEST = 20  # mean number of rewards per arm and period
DAYS = {"day": 1.0, "week": 7.0, "month": 30.4}
CLEAR, CHANGED = 2.0, 3.0  # in standard errors: a clear order, a real change

Numbers = tuple[int, float, float]  # n, mean, variance
Cells = dict[tuple[Any, Any], dict[str, list[float]]]  # (file, period), arm -> n, sum of rewards
Key = Callable[[Any, Any], object]  # maps (file, period) to a stratum


class _TooMany(Exception):
    """Raised if there are too many strata to compare arms within."""


class ArmNumbers(NamedTuple):
    """The statistics to use for each arm, how they were computed, and warnings."""

    arms: dict[str, Numbers]
    strata: Strata | None
    warnings: list[str]


def compare(rows: LogSource, query: LogQuery, arms: Mapping[str, Group]) -> ArmNumbers:
    """Compare arms within strata.

    Args:
        rows: The rows, already read once.
        query: The columns, filters and limits.
        arms: The groups from the first pass.
    """
    used = {label: (group.n, group.mean, group.variance) for label, group in arms.items()}
    known = {label: group for label, group in arms.items() if group.n > 0}
    try:
        found = _strata(rows, query, known) if len(known) > 1 else None
    except _TooMany as error:
        return ArmNumbers(used, None, [str(error)])
    if found is None:
        return ArmNumbers(used, None, [])
    within, n, mean = found
    fit = stratified(n, mean)
    means = np.clip(fit.mean, mean[n > 0].min(), mean[n > 0].max())
    effective = {
        label: max(min(group.n, 2), min(group.n, math.floor(x * (1 + 1e-12))))
        for (label, group), x in zip(known.items(), fit.n.tolist(), strict=True)
    }
    what = strata_text(within)
    strata = Strata(
        within,
        n.shape[1],
        "stratified" if fit.shares_differ else "pooled",
        _why(fit, what),
        tuple((label, group.n, group.mean) for label, group in known.items()),
        tuple((x, effective[x], m) for x, m in zip(known, means.tolist(), strict=True)),
    )
    if fit.shares_differ:
        for label, size, m in strata.stratified:
            used[label] = size, m, _variance(arms[label], size, m)
    warned = [
        _apart(list(known), fit, what),
        _misleads(known, strata) if fit.shares_differ else None,
    ]
    return ArmNumbers(used, strata, [text for text in warned if text])


def _why(fit: Stratified, what: str) -> str:
    if fit.shares_differ:
        return f"the arms' shares of the rows differ between {what}"
    if fit.component.max() > 0:
        return f"some arms never share any of the {what}"
    return f"the arms' shares of the rows are the same in all {what}, up to chance"


def _strata(
    rows: LogSource, query: LogQuery, arms: Mapping[str, Group]
) -> tuple[tuple[str, ...], Floats, Floats] | None:
    """Choose the strata; return them with reward counts and means by arm and stratum."""
    files = isinstance(rows, FileSource) and len(rows.files) > 1
    period = query.within or _period(query, rows, arms)
    if not files and period is None:
        return None
    cells = _cells(rows, query, list(arms), files, period)
    best, fewest, skipped = None, len(arms), None
    for within, key in _choices(files, period, needed=query.within is not None):
        many = len({key(*cell) for cell in cells})
        if min(many, len(arms)) > MOST_EQUATIONS or many * len(arms) > MOST_NUMBERS:
            skipped = within
        elif many > 1:
            n, mean = _table(cells, key, list(arms))
            parts = int(components(n > 0)[0].max())
            if parts < fewest:
                best, fewest = (within, n, mean), parts
    if best is None and skipped is not None:
        raise _too_many(skipped)
    return best


def _too_many(within: tuple[str, ...]) -> _TooMany:
    return _TooMany(
        f"there are too many {strata_text(within)} to compare arms within them, so the means are "
        "those of all rows: if the arms' shares of the rows changed, they may mislead; name fewer "
        "groups with by (--by)"
    )


def _choices(
    files: bool, period: str | None, needed: bool
) -> Iterator[tuple[tuple[str, ...], Key]]:
    """Yield the candidate strata of (file, period), finest first."""
    if period is not None:
        if files:
            yield ("file", period), lambda file, by: (file, by)
        yield (period,), lambda _, by: by
        if period == "day" and not needed:
            if files:
                yield ("file", "week"), lambda file, day: (file, (day - 1) // 7)
            yield ("week",), lambda _, day: (day - 1) // 7
    if files and not needed:
        yield ("file",), lambda file, _: file


def _period(query: LogQuery, rows: LogSource, arms: Mapping[str, Group]) -> str | None:
    """Return the shortest calendar period with enough rewards; None without times."""
    first = [group.first for group in arms.values() if group.first]
    last = [group.last for group in arms.values() if group.last]
    if query.time is None or not first or not last:
        return None
    days = (max(last) - min(first)).total_seconds() / 86_400
    rewards = sum(group.n for group in arms.values())
    dated = isinstance(rows.frame.collect_schema()["time"], nw.Datetime)
    for part, length in DAYS.items():
        periods = days / length + 1
        enough = rewards >= FEWEST * len(arms) * periods and len(arms) * periods <= MOST_CELLS
        if enough and (dated or part != "month"):
            return part
    return None


def _cells(
    rows: LogSource, query: LogQuery, arms: list[str], files: bool, period: str | None
) -> Cells:
    """Aggregate the usable rows with one GROUP BY."""
    frame = rows.by_file() if files and isinstance(rows, FileSource) else rows.frame
    schema = frame.collect_schema()
    kept, good = row_rules.kept(query, schema), row_rules.usable(query)
    parts = {"arm": nw.col("arm")}
    if files:
        parts["file"] = nw.col("file")
    is_column = query.within is not None and query.within_calendar is None
    if period is not None:
        named = nw.col("within") if is_column else calendar.number(period, query, schema["time"])
        parts["period"] = named
    keys = list(parts)
    count = nw.col("count") if query.shape != "events" else nw.lit(1)
    total = {
        "events": nw.col("reward"),
        "totals": nw.col("total"),
        "moments": nw.when(nw.col("count") > 0).then(nw.col("count") * nw.col("mean")),
    }[query.shape]
    if kept is not None:
        frame = frame.with_columns(kept=kept)
        good = nw.col("kept") & good
    sums = (  # filtering by time would make DuckDB parse the times again
        frame.select(**parts, n=nw.when(good).then(count), total=nw.when(good).then(total))
        .group_by(*keys)
        .agg(nw.col("n").sum(), nw.col("total").sum())
        .head(MOST_CELLS + 1)
    )
    found: Cells = defaultdict(dict)
    listed = fetch(sums)
    if len(listed) > MOST_CELLS:
        raise _too_many(tuple(key for key in ("file" if files else "", period) if key))
    wanted = set(arms)
    for row in listed:
        label = labels.label_of(row["arm"])
        if label not in wanted or not row["n"]:
            continue
        by = row.get("period")
        by = _value(by) if is_column or by is None else int(by)
        cell = found[row.get("file"), by].setdefault(label, [0.0, 0.0])
        cell[0] += float(row["n"])
        cell[1] += float(row["total"])
    return found


def _value(value: object) -> str | None:
    """Normalize a grouping value; all missing values become None."""
    return None if labels.label_problem(value) == "arm_missing" else labels.label_of(value)


def _table(cells: Cells, key: Key, arms: list[str]) -> tuple[Floats, Floats]:
    """Return reward counts and means by arm and stratum."""
    column: dict[object, int] = {}
    for cell in cells:
        column.setdefault(key(*cell), len(column))
    row = {label: i for i, label in enumerate(arms)}
    n, total = np.zeros((2, len(arms), len(column)))
    for cell, inside in cells.items():
        at = column[key(*cell)]
        for label, (size, rewards) in inside.items():
            n[row[label], at] += size
            total[row[label], at] += rewards
    return n, np.divide(total, n, out=np.zeros_like(n), where=n > 0)


def _variance(group: Group, n: int, mean: float) -> float:
    """Return the variance of an arm's rewards; for 0/1 rewards it follows from the mean."""
    if n > 1 and is_binary(group.n, group.mean, group.variance):
        return mean * (1 - mean) * n / (n - 1)
    return group.variance


def _apart(arms: list[str], fit: Stratified, what: str) -> str | None:
    """Return a warning if some arms share no stratum, even indirectly through other arms."""
    if fit.component.max() == 0:
        return None
    first, other = (arms[int(np.argmax(fit.component == k))] for k in (0, 1))
    return (
        f"{first!r} and {other!r} never appear together in any of the {what}, so they are compared "
        f"across {what}: their means may differ because the {what} differ, and not the arms"
    )


def _misleads(arms: Mapping[str, Group], strata: Strata) -> str | None:
    """Return a warning if pooled means rank the leading arms differently.

    The leader by either kind of mean is compared with all other arms. The rankings differ if one
    kind of mean shows a clear difference and the other does not, beyond the noise of the change.
    """
    pooled, within = (
        np.array([(n, mean) for _, n, mean in means], dtype=float).T
        for means in (strata.pooled, strata.stratified)
    )
    variances = np.array([group.variance for group in arms.values()])
    known = (pooled[0] > 1) & ~np.isnan(variances)
    noise2 = float(np.average(variances[known], weights=pooled[0][known])) if known.any() else 0.0
    largest, pair = 0.0, None
    for a in {int(pooled[1].argmax()), int(within[1].argmax())}:
        apart = [mean[a] - mean for _, mean in (pooled, within)]
        noises = [noise2 * (1 / n[a] + 1 / n) for n, _ in (pooled, within)]
        order, other_order = (
            np.sign(x) * (np.abs(x) > CLEAR * np.sqrt(noise))
            for x, noise in zip(apart, noises, strict=True)
        )
        change = np.abs(apart[0] - apart[1])
        rounding = 1e-9 * np.abs(pooled[1]).max()
        least = CHANGED * np.sqrt(np.maximum(noises[1] - noises[0], 0.0)) + rounding
        change = np.where((order != other_order) & (change > least), change, 0.0)
        b = int(change.argmax())
        if change[b] > largest:
            largest, pair = float(change[b]), (a, b)
    if pair is None:
        return None
    a, b = sorted(pair, key=lambda i: -pooled[1][i])
    names = list(arms)
    what = strata.what
    return (
        f"pooled over all rows, {names[a]!r} has the mean {pooled[1][a]:.4g} and {names[b]!r} "
        f"{pooled[1][b]:.4g}; compared within {what}, they have {within[1][a]:.4g} and "
        f"{within[1][b]:.4g}. Their shares of the rows differ between {what} (Simpson's paradox), "
        f"so the means within {what} are used"
    )
