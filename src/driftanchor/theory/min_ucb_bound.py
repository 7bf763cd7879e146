"""MIN-UCB's regret: the instance-dependent bound on pulls, and the worst case over instances.

Cheung & Lyu 2024, "Leveraging (Biased) Information: Multi-armed Bandits with Offline Data", PMLR
235:8286, arXiv 2405.02594. The first is as arXiv 2605.10289 quotes it below its Theorem 1, the
second from general knowledge of the source: both are orders, so constants are parameters.
"""

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.theory import inputs
from driftanchor.theory.savings import min_ucb_savings

BEFORE_ARMS = "offline_pulls without its last axis"


def min_ucb_bound(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    offline_pulls: npt.ArrayLike,
    omega: npt.ArrayLike,
    *,
    c: npt.ArrayLike = 2.0,
) -> Floats:
    """Order of MIN-UCB's online pulls of a sub-optimal arm, (C log T/Δ² − N ((1 − ω/Δ)₊)²)₊.

    Logs of the optimal arm do not appear in it.

    Args:
        horizon: T ≥ 1.
        gap: Δ > 0.
        offline_pulls: N ≥ 0 of this arm.
        omega: ω ≥ 0 of this arm, from `effective_discrepancy`.
        c: C ≥ 0, which the quotation leaves open. The default makes the bound `lai_robbins` at
            noise 1 when there are no logs: use 2σ² for another noise.

    Example:
        >>> min_ucb_bound(10_000, 0.3, [0, 100, 200, 1000], omega=0.1).round(1).tolist()
        [204.7, 160.2, 115.8, 0.0]
    """
    t = inputs.array(horizon, "horizon", low=1.0)
    delta = inputs.array(gap, "gap", above=0.0)
    factor = inputs.array(c, "c", low=0.0)
    saved = min_ucb_savings(offline_pulls, omega, gap)
    inputs.fit(horizon=t, gap=delta, offline_pulls=offline_pulls, omega=omega, c=factor)
    return inputs.positive_part(inputs.per_squared_gap(factor * np.log(t), delta) - saved)


def tau_star(offline_pulls: npt.ArrayLike, horizon: npt.ArrayLike) -> Floats:
    """The most rewards, logged and online, that every arm can be given with T online pulls.

    τ* = max τ such that τ ≤ N_a + n_a for every arm a, n_a ≥ 0 and Σ n_a = T. Pouring T into the
    arms, lowest first, gives Σ_a (τ − N_a)₊ = T, solved by the smallest of (T + the sum of the m
    smallest N)/m over m = 1, …, K. Pulls are not rounded: the whole-number optimum is ⌊τ*⌋.

    Source: Cheung & Lyu 2024, instance-independent theorem.

    Args:
        offline_pulls: N ≥ 0 of each arm, along the last axis.
        horizon: T ≥ 1, broadcast with the axes before it.

    Example:
        >>> tau_star([0, 10, 100], 50).tolist()
        30.0
        >>> tau_star([0, 10, 100], [5, 50, 500]).round(2).tolist()
        [5.0, 30.0, 203.33]
    """
    n = _arms(offline_pulls)
    t = inputs.array(horizon, "horizon", low=1.0)
    poured = np.cumsum(np.sort(n, axis=-1), axis=-1)
    inputs.fit(**{BEFORE_ARMS: n[..., 0], "horizon": t})
    levels = (t[..., np.newaxis] + poured) / np.arange(1, n.shape[-1] + 1)
    return np.asarray(levels.min(axis=-1))


def min_ucb_worst_case(
    horizon: npt.ArrayLike, offline_pulls: npt.ArrayLike, bias_bound: npt.ArrayLike
) -> Floats:
    """Shape of MIN-UCB's regret on its worst instance, min(√(K T log T), (√(log T/τ*) + V_max) T).

    The first is UCB's own, and stays a bound however wrong the logs are. The second is what
    playing by logs and online rewards together costs: an error of √(log T/τ*) and V_max in every
    round. Constants are 1 and rewards have noise 1: compare shapes, not numbers.

    Source: Cheung & Lyu 2024, instance-independent theorem; `tau_star` has τ*.

    Args:
        horizon: T ≥ 1, broadcast with the axes before the arms'.
        offline_pulls: N ≥ 0 of each of the K arms, along the last axis.
        bias_bound: V ≥ 0, of each arm along the last axis or one for all; may be infinite.

    Example:
        >>> regret = min_ucb_worst_case(10_000, np.full(10, 200_000), [[0.0], [0.01], [1.0]])
        >>> regret.round().tolist()
        [68.0, 168.0, 960.0]
    """
    t = inputs.array(horizon, "horizon", low=1.0)
    n = _arms(offline_pulls)
    v = inputs.array(bias_bound, "bias_bound", low=0.0, infinite=True)
    inputs.fit(offline_pulls=n, bias_bound=v)
    n, v = np.broadcast_arrays(n, v)
    inputs.fit(**{BEFORE_ARMS: n[..., 0], "horizon": t})
    log_t = np.log(t)
    online = np.sqrt(n.shape[-1] * t * log_t)
    hybrid = (np.sqrt(log_t / tau_star(n, t)) + v.max(axis=-1)) * t
    return np.asarray(np.minimum(online, hybrid))


def _arms(offline_pulls: npt.ArrayLike) -> Floats:
    n = inputs.array(offline_pulls, "offline_pulls", low=0.0)
    if n.ndim == 0 or n.shape[-1] == 0:
        raise InvalidInput(
            f"must have one number for each arm, got shape {n.shape}", argument="offline_pulls"
        )
    return n
