"""Evidence: all that a policy may see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms, valid_arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally


class ArmEvidence(NamedTuple):
    """The numbers of one arm, as the paper writes them."""

    pulls: int  # T_i
    total: float  # S_i, the sum of its online rewards
    offline_pulls: int  # N_i
    offline_mean: float  # the mean of its offline rewards; 0 where N_i = 0
    bias_bound: float  # V_i ≥ |online mean − offline mean|
    pending: int = 0  # pulls whose reward has not come; they are not in `pulls`


class Round(NamedTuple):
    """Where we are: round `t = 1, 2, …` and the number of arms K that can be played."""

    t: int
    arms: int


class Evidence(NamedTuple):
    """The numbers of all arms, one column each."""

    pulls: Ints
    totals: Floats
    offline_pulls: Ints
    offline_means: Floats
    bias_bounds: Floats
    playable: Bools
    memory: Floats  # what a policy with `memory > 0` keeps between rounds, (arms, memory)
    pending: Ints  # pulls whose reward has not come


def arm_at(evidence: Evidence, column: int) -> ArmEvidence:
    """The numbers of the arm in `column`."""
    return ArmEvidence(
        evidence.pulls[column],
        evidence.totals[column],
        evidence.offline_pulls[column],
        evidence.offline_means[column],
        evidence.bias_bounds[column],
        evidence.pending[column],
    )


def gather(
    tally: Tally,
    offline: OfflineData,
    bias_bounds: Floats,
    playable: Bools,
    memory: Floats,
    pending: Ints,
) -> Evidence:
    """The evidence of a tally, offline data and bias bounds over the same arms."""
    means = np.where(offline.n > 0, np.nan_to_num(offline.mean), 0.0)
    return Evidence(
        tally.pulls, tally.totals, offline.n, means, bias_bounds, playable, memory, pending
    )


def bias_bounds(value: object, arms: Arms) -> Floats:
    """The declared bound on |online mean − offline mean| of each arm.

    Args:
        value: One number for all arms, a list, or a mapping from every label to its number;
            `inf` means that nothing is known.
        arms: The arms it is for.

    Example:
        >>> bias_bounds({"A": 0.1, "B": float("inf")}, Arms(["A", "B"])).tolist()
        [0.1, inf]
    """
    valid_arms(arms)
    if isinstance(value, Mapping):
        for label in value:
            arms.column(label)
        value = [value.get(label) for label in arms]
    bounds = check.per_arm(value, "bias_bound", arms, low=0.0, infinite=True)
    return check.frozen(bounds)
