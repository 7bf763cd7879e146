"""Evidence: all that a policy may see."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms, valid_arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.offline import OfflineData
from driftanchor.core.tally import Tally
from driftanchor.errors import InvalidInput, shown


class ArmEvidence(NamedTuple):
    """The numbers of one arm, as the paper writes them."""

    pulls: int  # T_i
    total: float  # S_i, the sum of its online rewards
    offline_pulls: float  # N_i: a whole number, unless the logs were moved (core.common_move)
    offline_mean: float  # the mean of its offline rewards; 0 where N_i = 0
    bias_bound: float  # V_i ≥ |online mean − offline mean|
    pending: int = 0  # pulls whose reward has not come; they are not in `pulls`
    relative_bound: float = math.inf  # W_i ≥ |online mean − offline mean − c|, c common to all arms


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
    relative_bounds: Floats  # inf where nothing is promised of the arm beside the others


def arm_at(evidence: Evidence, column: int) -> ArmEvidence:
    """The numbers of the arm in `column`."""
    return ArmEvidence(
        evidence.pulls[column],
        evidence.totals[column],
        evidence.offline_pulls[column],
        evidence.offline_means[column],
        evidence.bias_bounds[column],
        evidence.pending[column],
        evidence.relative_bounds[column],
    )


def gather(
    tally: Tally,
    offline: OfflineData,
    bias_bounds: Floats,
    playable: Bools,
    memory: Floats,
    pending: Ints,
    relative_bounds: Floats,
) -> Evidence:
    """The evidence of a tally, offline data and both kinds of bounds over the same arms."""
    means = np.where(offline.n > 0, np.nan_to_num(offline.mean), 0.0)
    return Evidence(
        tally.pulls,
        tally.totals,
        offline.n,
        means,
        bias_bounds,
        playable,
        memory,
        pending,
        relative_bounds,
    )


def bias_bounds(value: object, arms: Arms) -> Floats:
    """The declared bound on |online mean − offline mean| of each arm.

    Args:
        value: One number for all arms, a list, or a mapping from every label to its number;
            `inf` means that nothing is known. Or a `driftanchor.shift.Suggestion`.
        arms: The arms it is for.

    Example:
        >>> bias_bounds({"A": 0.1, "B": float("inf")}, Arms(["A", "B"])).tolist()
        [0.1, inf]
    """
    return _bounds(value, "bias_bound", arms)


def relative_bounds(value: object, arms: Arms) -> Floats:
    """The declared bound on |online mean − offline mean − c| of each arm, c common to all arms.

    Args:
        value: As for `bias_bounds`; `None` promises nothing.
        arms: The arms it is for.

    Example:
        >>> relative_bounds(0.02, Arms(["A", "B"])).tolist()
        [0.02, 0.02]
    """
    return _bounds(math.inf if value is None else value, "relative_bound", arms)


def _bounds(value: object, name: str, arms: Arms) -> Floats:
    valid_arms(arms)
    if not isinstance(value, Real | Mapping | Iterable):
        value = getattr(value, name, value)  # of what suggests bounds, the one asked for
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, Mapping):
        value = _by_arm(value, name, arms)
    elif isinstance(value, str | bytes) or not isinstance(value, Real | Iterable):
        raise InvalidInput(
            f"must be a number, a list, a mapping of arms or a Suggestion, got {shown(value)}",
            argument=name,
        )
    return check.frozen(check.per_arm(value, name, arms, low=0.0, infinite=True))


def _by_arm(given: Mapping[Any, object], name: str, arms: Arms) -> list[object]:
    for label in given:
        arms.column(label, name)
    for label in arms:
        if label not in given:
            raise InvalidInput(
                f"has no number for arm {label!r}: give one for each arm, inf where nothing "
                "is promised",
                argument=name,
            )
    return [given[label] for label in arms]


def check_promises(
    bias_bounds: Floats, relative_bounds: Floats, offline_pulls: Ints, arms: Arms
) -> None:
    """Refuse relative bounds that the logs give nothing to hold for, or that say nothing new.

    Arms within V of their logs moved apart by at most V_i + V_j, so a larger W_i contradicts V:
    one of the two cannot be meant.

    Args:
        bias_bounds: V of each arm.
        relative_bounds: W of each arm.
        offline_pulls: N of each arm.
        arms: Their labels.
    """
    if np.isinf(relative_bounds).all():
        return
    logged = offline_pulls > 0
    told = np.flatnonzero(logged & np.isfinite(relative_bounds))
    if not logged.any():
        raise InvalidInput(
            "is given and no arm has logs: give the logs it speaks of, or leave it out",
            argument="relative_bound",
        )
    if told.size < 2:
        which = "no arm has both" if told.size == 0 else f"only arm {arms[int(told[0])]!r} has both"
        raise InvalidInput(
            "needs at least two arms with logs and a finite bound, and "
            f"{which}: with one logged arm a common move cannot be told from its own; give a "
            "bias bound instead",
            argument="relative_bound",
        )
    widest = float(bias_bounds[logged].max())
    for i in told.tolist():
        most = float(bias_bounds[i]) + widest
        if relative_bounds[i] > most * (1 + 1e-12):  # a sum may be rounded down
            raise InvalidInput(
                f"of arm {arms[i]!r} is {relative_bounds[i]:.12g} and contradicts "
                f"the bias bounds: with {bias_bounds[i]:.12g} of its own and at most "
                f"{widest:.12g} of the others it moves from them by at most {most:.12g}; "
                "leave one of the two out",
                argument="relative_bound",
            )
