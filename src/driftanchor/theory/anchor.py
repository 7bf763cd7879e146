"""Theorem 1: Anchor-TS's pulls of a sub-optimal arm, with the proof's constants or with yours.

Li, Fu, Chen & Kong (2026), arXiv 2605.10289. For rewards in [0, 1] and posterior variance 1/(T+1)
the expected online pulls of a sub-optimal arm, of gap Δ, with N logs, and N₁ logs of the best, are
at most::

    (C₁ log T/Δ² − N (1 − 3ω/Δ)₊)₊  +  (C₂ log T/Δ² − N₁)₊  +  C₃/Δ²

in order. Regret is the sum of Δ times that over the arms.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.theory import inputs, proof
from driftanchor.theory.savings import anchor_savings


class AnchorBound(NamedTuple):
    """A bound on the online pulls of sub-optimal arms, in the three terms of Theorem 1.

    Attributes:
        suboptimal: Until the arm itself is known well enough; its own logs reduce it.
        optimal: Until the best arm is known well enough; logs of the best arm reduce it.
        constant: Until the online means can be relied on; logs do not reduce it.
    """

    suboptimal: Floats
    optimal: Floats
    constant: Floats

    @property
    def total(self) -> Floats:
        """The sum of the three terms."""
        return np.asarray(self.suboptimal + self.optimal + self.constant)


def anchor_bound(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    offline_pulls: npt.ArrayLike,
    omega: npt.ArrayLike,
    optimal_offline_pulls: npt.ArrayLike,
) -> AnchorBound:
    """Theorem 1 with every constant of its proof, errata corrected; rewards in [0, 1].

    The terms, with c = max(e¹¹, exp((28 + 16√3)/(N₁ + 1))) + 5::

        suboptimal = (36 · 2 log(2T³Δ²)/Δ² − N (1 − 3ω/Δ)₊)₊
        optimal    = c (288 log(TΔ² + e⁶)/Δ² − N₁)₊
        constant   = C₃/Δ²,   C₃ ≈ 56 e⁶⁴

    **Vacuous at any practical horizon**: T itself bounds the pulls, and e¹¹ = 6·10⁴ and e⁶⁴ =
    6·10²⁷ exceed it. What is of use is the shape, `anchor_pulls_shape`; this function is the record
    of what the proof gives. It says nothing on Gaussian rewards of noise 1 (E13).

    Source: Theorem 1 of arXiv 2605.10289 and the lemmas named in `driftanchor.theory.proof`.

    Args:
        horizon: T ≥ 1.
        gap: Δ in (0, 1].
        offline_pulls: N ≥ 0 of this arm.
        omega: ω ≥ 0 of this arm, from `effective_discrepancy`.
        optimal_offline_pulls: N₁ ≥ 0 of the best arm; its bias bound must be valid too.

    Example:
        >>> bound = anchor_bound(10_000, 0.3, 200, omega=0.0, optimal_offline_pulls=200)
        >>> [f"{term:.3g}" for term in bound]
        ['2.05e+04', '1.36e+09', '3.88e+30']
    """
    t = inputs.array(horizon, "horizon", low=1.0)
    delta = inputs.array(gap, "gap", above=0.0, high=1.0)
    best = inputs.array(optimal_offline_pulls, "optimal_offline_pulls", low=0.0)
    saved = anchor_savings(offline_pulls, omega, gap)
    inputs.fit(
        horizon=t, gap=delta, offline_pulls=offline_pulls, omega=omega, optimal_offline_pulls=best
    )
    width = inputs.positive_part(2.0 * (np.log(2.0) + 3.0 * np.log(t) + 2.0 * np.log(delta)))
    log_return = np.maximum(proof.RETURN_LOG, proof.RETURN_LOG_NO_LOGS / (best + 1.0))
    rounds_to_return = np.exp(log_return) + proof.RETURN_EXTRA
    log_rounds = np.log(t * delta**2 + proof.OPTIMAL_FLOOR)
    returns = inputs.positive_part(inputs.per_squared_gap(proof.OPTIMAL * log_rounds, delta) - best)
    return _bound(
        inputs.per_squared_gap(proof.SUBOPTIMAL * width, delta) - saved,
        rounds_to_return * returns,
        inputs.per_squared_gap(proof.CONSTANT, delta),
    )


def anchor_pulls_shape(
    horizon: npt.ArrayLike,
    gap: npt.ArrayLike,
    offline_pulls: npt.ArrayLike,
    omega: npt.ArrayLike,
    optimal_offline_pulls: npt.ArrayLike,
    *,
    c1: npt.ArrayLike = 2.0,
    c2: npt.ArrayLike = 1.0,
    c3: npt.ArrayLike = 1.0,
) -> AnchorBound:
    """Theorem 1 as it is stated, its constants being yours to set.

    The terms::

        suboptimal = (C₁ log T/Δ² − N (1 − 3ω/Δ)₊)₊
        optimal    = (C₂ log T/Δ² − N₁)₊
        constant   = C₃/Δ²

    It shows how pulls vary with logs, shift and gap; it is not a prediction of their number.

    Source: Theorem 1 of arXiv 2605.10289.

    Args:
        horizon: T ≥ 1.
        gap: Δ > 0.
        offline_pulls: N ≥ 0 of this arm.
        omega: ω ≥ 0 of this arm, from `effective_discrepancy`.
        optimal_offline_pulls: N₁ ≥ 0 of the best arm; its bias bound must be valid too.
        c1: C₁ ≥ 0. The default makes the first term `lai_robbins` at noise 1 when there are no
            logs, as in `min_ucb_bound`; use 2σ² for another noise.
        c2: C₂ ≥ 0. The default is a unit: in sharp analyses of Thompson sampling this term is of
            lower order than log T, so no value matches a lower bound. 0 leaves it out.
        c3: C₃ ≥ 0. The default is a unit.

    Example:
        >>> shape = anchor_pulls_shape(10_000, 0.3, [0, 200, 200], [0, 0, 0.05], [0, 0, 200])
        >>> shape.suboptimal.round(1).tolist(), shape.optimal.round(1).tolist()
        ([204.7, 4.7, 104.7], [102.3, 102.3, 0.0])
        >>> shape.total.round(1).tolist()
        [318.1, 118.1, 115.8]
    """
    t = inputs.array(horizon, "horizon", low=1.0)
    delta = inputs.array(gap, "gap", above=0.0)
    best = inputs.array(optimal_offline_pulls, "optimal_offline_pulls", low=0.0)
    one, two, three = (
        inputs.array(c, name, low=0.0) for name, c in (("c1", c1), ("c2", c2), ("c3", c3))
    )
    saved = anchor_savings(offline_pulls, omega, gap)
    inputs.fit(
        horizon=t,
        gap=delta,
        offline_pulls=offline_pulls,
        omega=omega,
        optimal_offline_pulls=best,
        c1=one,
        c2=two,
        c3=three,
    )
    return _bound(
        inputs.per_squared_gap(one * np.log(t), delta) - saved,
        inputs.per_squared_gap(two * np.log(t), delta) - best,
        inputs.per_squared_gap(three, delta),
    )


def _bound(suboptimal: Floats, optimal: Floats, constant: Floats) -> AnchorBound:
    """The three terms, none below 0, of one shape."""
    terms = np.broadcast_arrays(suboptimal, optimal, constant)
    return AnchorBound(*(inputs.positive_part(term) for term in terms))
