"""Evidence: everything that a policy may see."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.offline import OfflineData


class ArmEvidence(NamedTuple):
    """Everything that a policy may see about one arm."""

    pulls: float  # T_i: a whole number, unless rewards are delayed (core.delays)
    total: float  # S_i, the sum of its online rewards
    offline_pulls: float  # N_i: a whole number, unless the logs were moved (core.common_move)
    offline_mean: float  # the mean of its offline rewards; 0 if N_i = 0
    bias_bound: float  # V_i ≥ |online mean − offline mean|
    pending: float = 0  # pulls still waiting for their reward, not counted in `pulls`
    relative_bound: float = math.inf  # W_i ≥ |online mean − offline mean − c|, c common to all arms


class Round(NamedTuple):
    """The round number t = 1, 2, … and the number of playable arms."""

    t: int
    arms: int


class Evidence(NamedTuple):
    """Everything that a policy may see: the statistics of all arms, one column per arm."""

    pulls: Ints  # floats if rewards are delayed
    totals: Floats
    offline_pulls: Ints
    offline_means: Floats
    bias_bounds: Floats
    playable: Bools
    memory: Floats  # (arms, memory): numbers that a policy with `memory > 0` keeps between rounds
    pending: Ints  # pulls still waiting for their reward; floats if rewards are delayed
    relative_bounds: Floats  # inf for an arm without a promised bound


def arm_at(evidence: Evidence, column: int) -> ArmEvidence:
    """Return the statistics of the arm in `column`."""
    if not 0 <= column < evidence.pulls.size:  # compiled code does not check array bounds
        raise IndexError("no arm has this column")
    return ArmEvidence(
        evidence.pulls[column],
        evidence.totals[column],
        float(evidence.offline_pulls[column]),  # a float, as it is for moved logs
        evidence.offline_means[column],
        evidence.bias_bounds[column],
        evidence.pending[column],
        evidence.relative_bounds[column],
    )


def means_seen(offline: OfflineData) -> Floats:
    """Return the mean of each arm's logged rewards; 0 for an arm without logs."""
    return np.where(offline.n > 0, np.nan_to_num(offline.mean), 0.0)
