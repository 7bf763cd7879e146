"""Every row accounted for: filtered, rejected for a reason, or used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from driftanchor.errors import InvalidInput, RejectedRows, UnknownName, shown
from driftanchor.logs import calendar, labels, row_rules
from driftanchor.logs.aggregate import Group, groups
from driftanchor.logs.file_source import too_many_rows
from driftanchor.logs.query import LogQuery, NothingKept
from driftanchor.logs.rejects import Example, Scope, count, examples, first_rows, in_words
from driftanchor.logs.running_totals import refuse_running_totals
from driftanchor.logs.sources import LogSource
from driftanchor.render import numbers

GroupKey = tuple[str | None, str]  # period, arm
MOST_REJECTED = 0.01  # of the rows kept


@dataclass(frozen=True)
class RowAccount:
    """How many rows there were, how many were kept, and what happened to these.

    Attributes:
        read: All rows.
        kept: The rows that the filters keep.
        cells: The groups by period and arm; the period is None if none are asked for, or if a row
            has none.
        rejected: How many rows cannot be used, by the reason.
        examples: The first few of them.
        doubts: Warnings to give.
    """

    read: int
    kept: int
    cells: Mapping[GroupKey, Group]
    rejected: Mapping[str, int]
    examples: tuple[Example, ...]
    doubts: tuple[str, ...]


def account(rows: LogSource, query: LogQuery) -> RowAccount:
    """Read the rows: once, and again where rows cannot be used, to say why."""
    found = rows.certain(lambda: groups(rows.frame, query, rows.total))
    rejected = Counter(rows.rejected)
    read = sum(group.rows for group in found) + rejected.total()
    if query.max_rows is not None and read > query.max_rows:
        raise too_many_rows(rows.name, query)
    if read == 0:
        raise InvalidInput(f"{rows.name} has column names and no rows")
    cells, nameless, unused = _by_label(found, query)
    parts = (cells.values(), *nameless.values(), *unused.values())
    considered = [group for part in parts for group in part]
    kept = sum(group.kept for group in considered) + rejected.total()
    if kept == 0:
        raise NothingKept(f"{rows.name} has {read:,} rows, and the filters keep none of them")
    wanted = (
        None if query.arms is None else list(dict.fromkeys(group.value for group in cells.values()))
    )
    scope = Scope(query, wanted, {why: [g.value for g in part] for why, part in nameless.items()})
    if any(group.kept > group.used for group in considered):
        rejected.update(count(rows, scope))
    rejected.update({why: sum(group.used for group in part) for why, part in nameless.items()})
    rejected = +rejected
    where = examples(rows, scope, rejected) if rejected else []
    lost = rejected.total()
    if lost == kept or (lost > MOST_REJECTED * kept and not query.allow_rejects):
        raise RejectedRows(
            f"{lost:,} of {kept:,} rows of {rows.name} cannot be used: "
            f"{'; '.join(in_words(rejected, where))}; fix them, or leave them out with "
            "allow_rejects (--allow-rejects)"
        )
    doubts = [refuse_running_totals(rows, query, list(cells.values())), _no_arms(unused)]
    doubts += [_no_variances(rows, scope, list(cells.values())), *rows.doubts()]
    doubts += labels.look_alikes(dict.fromkeys(label for _, label in cells))
    warned = tuple(doubt for doubt in doubts if doubt)
    return RowAccount(read, kept, cells, rejected, tuple(where), warned)


def _by_label(
    found: Sequence[Group], query: LogQuery
) -> tuple[dict[GroupKey, Group], dict[str, list[Group]], dict[str, list[Group]]]:
    """The groups of arms, in order; those without a label, by reason; those of no use, by label.

    A label without a row that can be used is not an arm: it may be a line of column names in the
    middle of a file.
    """
    cells: dict[GroupKey, Group] = {}
    nameless: dict[str, list[Group]] = defaultdict(list)
    unused: dict[str, list[Group]] = defaultdict(list)
    for group in found:
        problem = labels.label_problem(group.value)
        if problem:
            nameless[problem].append(group)
            continue
        cell = _period(group, query), labels.label_of(group.value)
        if cell in cells:
            raise InvalidInput(
                f"is column {query.arm!r}, in which {cells[cell].value!r} and {group.value!r} "
                f"are both the arm {cell[1]!r}: make it a column of text",
                argument="arm",
            )
        if group.kept:
            cells[cell] = group
    known = dict.fromkeys(arm for (_, arm), group in cells.items() if group.used)
    for (_, arm), group in cells.items():
        if arm not in known:
            unused[arm].append(group)
    wanted = labels.in_order(known) if query.arms is None else tuple(query.arms)
    for label in wanted if known else ():
        if label in unused:
            raise InvalidInput(
                f"has {label!r}, none of whose rows can be used: leave it out, or fix its rows",
                argument="arms",
            )
        if label not in known:
            raise UnknownName("arm in the logs", label, known, argument="arms")
    place = {label: i for i, label in enumerate(wanted)}
    kept = sorted((cell for cell in cells if cell[1] in place), key=lambda cell: place[cell[1]])
    of_no_use = dict(unused) if query.arms is None else {}
    return {cell: cells[cell] for cell in kept}, dict(nameless), of_no_use


def _no_arms(unused: Mapping[str, Sequence[Group]]) -> str | None:
    """The warning of labels that are no arms; none if there are none."""
    if not unused:
        return None
    rows = sum(group.kept for part in unused.values() for group in part)
    what = "is not an arm" if len(unused) == 1 else "are not arms"
    return (
        f"{labels.listed(labels.in_order(unused))} {what}: no row of that name can be used "
        f"({numbers.count(rows, 'row')} rejected)"
    )


def _no_variances(rows: LogSource, scope: Scope, cells: Sequence[Group]) -> str | None:
    """The warning that a few totals take the variances of all arms; none if there are none or many.

    Where most totals are odd they are of something else than clicks, and no variance is expected.
    """
    query = scope.query
    odd, used = (sum(getattr(cell, what) for cell in cells) for what in ("odd", "used"))
    if not query.may_be_coins or not 0 < odd <= used / 2:
        return None
    worst = labels.label_of(max(cells, key=lambda cell: cell.odd).value)
    places = ", ".join(map(str, first_rows(rows, scope, row_rules.odd_total(), "total")))
    rows_of = f"{odd:,} of {used:,} rows" + (f" ({places})" if places else "")
    return (
        f"column {query.total!r} is no whole number from 0 to {query.count!r} in {rows_of}, most "
        f"of them of arm {worst!r}: so rewards are not all 0 or 1, and the variance of no arm is "
        "known; fix these rows, or say by reward_range (--range) what rewards may be"
    )


def _period(group: Group, query: LogQuery) -> str | None:
    """The label of a group's period; rows without one were rejected already."""
    if query.by is None or group.by is None:
        return None
    if query.calendar:
        return calendar.label(group.by, query.calendar)
    if labels.label_problem(group.by):
        raise InvalidInput(
            f"is column {query.by!r}, in which {shown(group.by)} cannot be the label of a "
            "period: leave these rows out with where, or fix them",
            argument="by",
        )
    return labels.label_of(group.by)
