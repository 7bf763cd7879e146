"""What logs are worth: the online pulls they replace, by the two theorems.

Both depend on the logs of a sub-optimal arm only through their number N and the *effective
discrepancy* ω, in units of the arm's gap Δ.
"""

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.theory import inputs

SPLIT = 3.0
"""Thompson sampling's analysis cuts the gap into three parts and gives one to the bias: Theorem 1's
3ω/Δ comes from N ω/(T + N) ≥ Δ/3 in the proof of Lemma "goodEvent:sub-optimalArm"."""


def effective_discrepancy(
    online_mean: npt.ArrayLike, offline_mean: npt.ArrayLike, bias_bound: npt.ArrayLike
) -> Floats:
    """How far the shifted logs over-state an arm, ω = V + μ_off − μ_on.

    It lies in [0, 2V] whenever V is valid, that is |μ_on − μ_off| ≤ V: 0 when the logs under-state
    the arm by exactly V, V when they are unbiased, 2V when they over-state it by V.

    A negative ω means that V is *not* valid: the logs under-state the arm by more than was
    promised, and its hybrid sample too. No theorem holds then, so the other functions refuse it.
    The converse fails: with V too small on the other side ω exceeds 2V and only the savings fall.

    Source: Theorem 1 of arXiv 2605.10289; the same ω in Cheung & Lyu 2024. Signed, as the proofs
    use it, although the events are printed two-sided (E11).

    Args:
        online_mean: μ_on.
        offline_mean: μ_off.
        bias_bound: V ≥ 0; infinite gives an infinite ω.

    Example:
        >>> effective_discrepancy(0.5, [0.25, 0.5, 0.75, 0.0], 0.25).tolist()
        [0.0, 0.25, 0.5, -0.25]
    """
    online = inputs.array(online_mean, "online_mean")
    offline = inputs.array(offline_mean, "offline_mean")
    bound = inputs.array(bias_bound, "bias_bound", low=0.0, infinite=True)
    inputs.fit(online_mean=online, offline_mean=offline, bias_bound=bound)
    return np.asarray(bound - (online - offline))  # in this order, exact at V = |μ_on − μ_off|


def anchor_savings(
    offline_pulls: npt.ArrayLike, omega: npt.ArrayLike, gap: npt.ArrayLike
) -> Floats:
    """Online pulls of a sub-optimal arm that its logs save Anchor-TS, N (1 − 3ω/Δ)₊.

    All N at ω = 0; none from ω = Δ/3 on. Never more than `min_ucb_savings` (E12).

    Source: first term of Theorem 1, arXiv 2605.10289. Logs of the *optimal* arm are not
    discounted: see `anchor_pulls_shape`.

    Args:
        offline_pulls: N ≥ 0.
        omega: ω ≥ 0, from `effective_discrepancy`.
        gap: Δ > 0, how far the arm's online mean is below the best.

    Example:
        >>> anchor_savings(200, [0.0, 0.05, 0.1, 0.2], gap=0.3).round(9).tolist()
        [200.0, 100.0, 0.0, 0.0]
    """
    n, ratio = _pulls_and_ratio(offline_pulls, omega, gap)
    return np.asarray(n * inputs.positive_part(1.0 - SPLIT * ratio))


def min_ucb_savings(
    offline_pulls: npt.ArrayLike, omega: npt.ArrayLike, gap: npt.ArrayLike
) -> Floats:
    """Online pulls of a sub-optimal arm that its logs save MIN-UCB, N ((1 − ω/Δ)₊)².

    The paper presents not squaring as an advantage of Anchor-TS's analysis. It is none (E12): with
    u = ω/Δ, (1 − u)² − (1 − 3u) = u + u² ≥ 0, so this is never smaller than `anchor_savings`, and
    logs with Δ/3 ≤ ω < Δ still save something here.

    Source: Cheung & Lyu 2024 (arXiv 2405.02594), as quoted below Theorem 1 of arXiv 2605.10289.

    Args:
        offline_pulls: N ≥ 0.
        omega: ω ≥ 0, from `effective_discrepancy`.
        gap: Δ > 0, how far the arm's online mean is below the best.

    Example:
        >>> min_ucb_savings(200, [0.0, 0.05, 0.1, 0.2, 0.3], gap=0.3).round(2).tolist()
        [200.0, 138.89, 88.89, 22.22, 0.0]
    """
    n, ratio = _pulls_and_ratio(offline_pulls, omega, gap)
    return np.asarray(n * inputs.positive_part(1.0 - ratio) ** 2)


def _pulls_and_ratio(
    offline_pulls: npt.ArrayLike, omega: npt.ArrayLike, gap: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """N and ω/Δ, checked."""
    n = inputs.array(offline_pulls, "offline_pulls", low=0.0)
    w = inputs.array(omega, "omega", low=0.0, infinite=True)
    delta = inputs.array(gap, "gap", above=0.0)
    inputs.fit(offline_pulls=n, omega=w, gap=delta)
    with np.errstate(over="ignore"):
        return n, np.asarray(w / delta)
