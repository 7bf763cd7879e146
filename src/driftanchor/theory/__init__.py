"""Regret bounds and savings as functions of horizon, gaps, logs and bias bounds.

All functions take numbers or arrays and broadcast as NumPy does; all return arrays, of shape () for
numbers. Bounds count online pulls of a sub-optimal arm: its regret is the gap times that. `horizon`
is T, `gap` Δ, `offline_pulls` N, `bias_bound` V and `omega` ω = V + μ_off − μ_on.
"""

from driftanchor.theory.arm_terms import TERMS, arm_terms
from driftanchor.theory.bounds import (
    AnchorBound,
    anchor_pulls_shape,
    anchor_savings,
    effective_discrepancy,
    kl_bernoulli,
    lai_robbins,
    lai_robbins_bernoulli,
    min_ucb_bound,
    min_ucb_savings,
    min_ucb_worst_case,
    online_anchor_pulls,
    online_ts_pulls,
    tau_star,
)

__all__ = [
    "TERMS",
    "AnchorBound",
    "anchor_pulls_shape",
    "anchor_savings",
    "arm_terms",
    "effective_discrepancy",
    "kl_bernoulli",
    "lai_robbins",
    "lai_robbins_bernoulli",
    "min_ucb_bound",
    "min_ucb_savings",
    "min_ucb_worst_case",
    "online_anchor_pulls",
    "online_ts_pulls",
    "tau_star",
]
