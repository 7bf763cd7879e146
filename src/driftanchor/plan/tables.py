"""The tables of an assessment, for its page and for terminals."""

from __future__ import annotations

from driftanchor.experiments.report import Table, shown
from driftanchor.plan.assess import Assessment
from driftanchor.plan.contenders import RULE
from driftanchor.plan.statistics import Estimate
from driftanchor.plan.words import interval


def losses(found: Assessment) -> Table:
    """What each policy loses, the lowest mean marked."""
    summary = found.summary()
    means = [numbers["mean"] for numbers in summary.values()]
    rows = []
    for label, x in summary.items():
        saved = found.saved(label)
        told = "–" if label == found.baseline else f"{shown(saved.value)} ({interval(saved)})"
        mean = f"{shown(x['mean'])} ± {shown(x['se'])}"
        rows.append((label, mean, *(shown(x[word]) for word in ("median", "q95", "max")), told))
    return Table(
        f"Rewards lost in {found.horizon:,} rounds, and how many fewer than {found.baseline}",
        ("policy", "mean ± se", "median", "95 %", "worst", "saved (95 % interval)"),
        tuple(rows),
        frozenset({(means.index(min(means)), 1)}),
    )


def evens(found: Assessment) -> Table:
    """Up to which shift the logs help, by the bias bound that is declared."""
    rows = [(shown(bound), *even_of(found, even)) for bound, even in found.break_evens]
    title = f"Up to which shift {RULE} gains by the logs, if it is told V"
    return Table(title, ("V", "shift", "95 % interval"), tuple(rows))


def even_of(found: Assessment, even: Estimate) -> tuple[str, str]:
    """A break-even and its interval, no further than was tried."""
    value, low, high = (
        shown(x) if x <= found.largest_shift else f"over {shown(found.largest_shift)}" for x in even
    )
    return value, f"{low} to {high}" if low != high else "–"
