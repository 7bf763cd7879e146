"""The table of losses, for pages and terminals."""

from __future__ import annotations

from driftanchor.planning.assess import Assessment
from driftanchor.planning.verdict_prose import legend
from driftanchor.planning.words import interval
from driftanchor.render.numbers import MISSING, rounded
from driftanchor.render.table import Table


def losses(found: Assessment) -> Table:
    """Return the table of each policy's loss, saving and risk; the lowest mean is marked."""
    summary = found.summary()
    means = [numbers["mean"] for numbers in summary.values()]
    rows = []
    for label, x in summary.items():
        saved, risk = found.saved(label), found.safety[label]
        compared = [MISSING] * 2
        if label != found.baseline:
            compared = [f"{rounded(y.value)} ({interval(y)})" for y in (saved, risk.extra)]
        mean = f"{rounded(x['mean'])} ± {rounded(x['se'])}"
        quantiles = (rounded(x[word]) for word in ("median", "q95", "max"))
        safe = MISSING if found.contenders[label].cold else "yes" if risk.safe else "no"
        rows.append((label, mean, *quantiles, *compared, safe))
    return Table(
        f"Rewards lost in {found.horizon:,} decisions, and the difference from {found.baseline}",
        ("policy", "mean ± se", "median", "95 %", "max", "saved", "worst case", "safe"),
        tuple(rows),
        frozenset({(means.index(min(means)), 1)}),
        "\n".join(("* lowest mean.", *legend(found))),
    )
