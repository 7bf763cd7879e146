"""The rate of Lai and Robbins in figures: what every consistent policy loses in the long run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.render.figure import TICKS, points
from driftanchor.render.numbers import rounded
from driftanchor.render.palette import DARK_GREY, GREY, SHORT
from driftanchor.simulation.bandit import Bandit
from driftanchor.theory import lai_robbins, lai_robbins_bernoulli

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "Lai–Robbins rate"
CAPTION = (
    "Grey: the rate of Lai and Robbins, Σ 2σ² log t/Δ over the sub-optimal arms (with Bernoulli "
    "rewards Σ Δ log t/kl), which no consistent policy beats in the long run, from the round on "
    "in which so much can be lost; where it is far above all curves, its value at the end."
)


def look() -> dict[str, Any]:
    """How the line is drawn."""
    return {"color": GREY, "linestyle": SHORT, "linewidth": points(0.1), "zorder": 2.0}


def rate(bandit: Bandit) -> float:
    """Regret for each unit of log t; NaN where the theorem does not speak: logs, other laws.

    Example:
        >>> rate(Bandit([0.8, 0.5, 0.5], noise=1.0))
        13.333...
    """
    gaps = bandit.gaps
    worse = gaps > 0
    if bandit.offline_pulls.any() or bandit.means is not None or not worse.any():
        return float("nan")
    if bandit.reward == "gaussian":
        pulls = lai_robbins(gaps[worse], bandit.arm_noise[worse])
    elif bandit.reward == "bernoulli":
        pulls = lai_robbins_bernoulli(bandit.online[worse], bandit.online.max())
    else:
        return float("nan")
    return float((gaps[worse] * pulls).sum())


def draw(axes: Axes, bandit: Bandit, horizon: int, top: float) -> float:
    """Draw the line where it applies, and as far as it can be seen.

    Args:
        axes: The panel.
        bandit: The bandit of its cell.
        horizon: The last round.
        top: Where the highest curve ends; a line far above it is only named.

    Returns:
        The highest value of the panel: of the curves, or of the line if it is drawn.
    """
    each = rate(bandit)
    if not each > 0:
        return top
    rounds: Floats = np.geomspace(2.0, horizon, 200)
    lost = each * np.log(rounds)
    lost[lost > bandit.gaps.max() * rounds] = np.nan
    end = each * float(np.log(horizon))
    if end <= 1.6 * top and not np.isnan(lost).all():
        axes.plot(rounds, lost, **look())
        return max(top, end)
    note = axes.annotate(f"Lai–Robbins: {rounded(end)}", (0.03, 0.98), xycoords="axes fraction")
    note.set(color=DARK_GREY, fontsize=points(TICKS), va="top")  # curves start below
    return top
