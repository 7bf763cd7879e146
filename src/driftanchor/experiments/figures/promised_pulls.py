"""What theorems promise that logs save: online pulls of a sub-optimal arm, as a mean over arms.

Theorem 1 has two terms that logs make smaller. N logs of an arm of gap Δ save Anchor-TS
N (1 − 3ω/Δ)₊ of its pulls, and N₁ logs of the best arm save up to N₁ pulls of every other arm:
(C₂ log T/Δ² − N₁)₊. The theorem leaves C₂ open; here it is σ², as in `driftanchor theory`. Cheung
and Lyu's theorem says that N logs save MIN-UCB N ((1 − ω/Δ)₊)².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.simulation.bandit import Bandit
from driftanchor.theory import (
    anchor_pulls_shape,
    anchor_savings,
    effective_discrepancy,
    lai_robbins,
    min_ucb_savings,
)

ROUNDING = 1e-12  # by which means that are typed in may miss a bound


def by_own_logs(bandit: Bandit, horizon: int) -> float:
    """What the logs of the sub-optimal arms save Anchor-TS."""
    return _by_own(anchor_savings, bandit, horizon)


def by_best_logs(bandit: Bandit, horizon: int) -> float:
    """What the logs of the best arm save Anchor-TS on the others, if its bias bound is valid."""
    best = int(np.argmax(bandit.online))
    logs, square = float(bandit.offline_pulls[best]), bandit.noise**2
    if abs(float(bandit.shift[best])) > float(bandit.bias_bound[best]) + ROUNDING:
        return 0.0
    gaps = bandit.gaps[bandit.gaps > 0]
    without, with_logs = (
        anchor_pulls_shape(horizon, gaps, 0.0, 0.0, n, c2=square).optimal for n in (0.0, logs)
    )
    return float((without - with_logs).mean())


def for_min_ucb(bandit: Bandit, horizon: int) -> float:
    """What the logs of the sub-optimal arms save MIN-UCB."""
    return _by_own(min_ucb_savings, bandit, horizon)


def needed(bandit: Bandit, horizon: int) -> Floats:
    """Pulls that each sub-optimal arm needs online by Lai and Robbins: more cannot be saved."""
    worse = bandit.gaps > 0
    return np.asarray(lai_robbins(bandit.gaps[worse], bandit.arm_noise[worse]) * np.log(horizon))


def _by_own(savings: Callable[..., Floats], bandit: Bandit, horizon: int) -> float:
    worse = bandit.gaps > 0
    omega = effective_discrepancy(bandit.online, bandit.offline, bandit.bias_bound)[worse]
    saved = savings(bandit.offline_pulls[worse], np.maximum(omega, 0.0), bandit.gaps[worse])
    return float(np.minimum(saved, needed(bandit, horizon)).mean())
