"""The tables of an assessment, for its page and for terminals."""

from __future__ import annotations

from driftanchor.core.stats.intervals import Estimate
from driftanchor.planning.assess import Assessment
from driftanchor.planning.contenders import RULE
from driftanchor.planning.verdict_prose import LEGEND
from driftanchor.planning.words import interval
from driftanchor.render.numbers import MISSING, rounded
from driftanchor.render.table import Table


def losses(found: Assessment) -> Table:
    """What each policy loses and saves, and whether it is safe; the lowest mean is marked."""
    summary = found.summary()
    means = [numbers["mean"] for numbers in summary.values()]
    rows = []
    for label, x in summary.items():
        saved, risk = found.saved(label), found.safety[label]
        gained = (
            MISSING if label == found.baseline else f"{rounded(saved.value)} ({interval(saved)})"
        )
        mean = f"{rounded(x['mean'])} ± {rounded(x['se'])}"
        quantiles = (rounded(x[word]) for word in ("median", "q95", "max"))
        safe = MISSING if found.contenders[label].cold else "yes" if risk.safe else "no"
        rows.append((label, mean, *quantiles, gained, rounded(risk.worst), safe))
    return Table(
        f"Rewards lost in {found.horizon:,} decisions, and how many fewer than by "
        f"{found.baseline}, the best rule without the logs",
        (
            "policy",
            "mean ± se",
            "median",
            "95 %",
            "max",
            "saved (95 % interval)",
            "bad case",
            "safe",
        ),
        tuple(rows),
        frozenset({(means.index(min(means)), 1)}),
        "\n".join(("* lowest mean.", *LEGEND)),
    )


def evens(found: Assessment) -> Table:
    """Up to which shift the default rule gains by the logs, by the bounds that are declared."""
    rows = [
        (*map(rounded, promise.sizes().values()), *even_of(found, even))
        for promise, even in found.break_evens
    ]
    heads = found.promise.letters
    title = f"Up to which shift {RULE} gains by the logs, if it is given {' and '.join(heads)}"
    return Table(title, (*heads, "shift", "95 % interval"), tuple(rows))


def even_of(found: Assessment, even: Estimate) -> tuple[str, str]:
    """A break-even and its interval, no further than was tried; "none" where logs never help."""
    if even.high == 0:
        return "none", MISSING
    value, low, high = (
        rounded(x) if x <= found.largest_shift else f"over {rounded(found.largest_shift)}"
        for x in even
    )
    return value, f"{low} to {high}" if low != high else MISSING
