"""Regret bounds and savings as functions of horizon, gaps, logs and bias bounds."""

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
    online_anchor_pulls,
    online_ts_pulls,
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
    "online_anchor_pulls",
    "online_ts_pulls",
]
