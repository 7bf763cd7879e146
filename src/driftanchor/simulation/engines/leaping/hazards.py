"""The hazard table: how likely each arm but the leader is above each of some levels.

The hazard of an arm at a level is −log of the chance that its index is at most that level. Hazards
of independent arms add up, so one exponential number on the axis of their sum says how high the
highest index is, and which arm has it. "Arm i has its index between levels j and j + 1" is a
segment of length D[i, j] = hazard at j − hazard at j + 1. A Poisson process of rate 1 on the axis
of all segments, highest levels first, hits each arm's segment with the chance of that event.

The segments are the leaves of a tree of sums, one tree for each level side by side, so an arm that
was played costs its own leaf and the path above it, and a search costs the depth of the tree. With
few arms there is one level, set anew for each leader; with many there are `LEVELS`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence
from driftanchor.core.hints import apart
from driftanchor.policies.base import Policy, belief_at
from driftanchor.policies.policy_tails import above, below

MANY = 500  # arms from which the table has many levels
LEVELS = 24
CERTAIN = 40.0  # hazard of an arm that is surely above; no exponential drawn exceeds 37


class Hazards(NamedTuple):
    """Levels, the tree of segments, the leader (whose segments are 0) and how worn it is."""

    levels: Floats  # ascending
    tree: Floats  # (node, level): the sum of the segments below that node; the root is node 1
    leader: Ints
    worn: Ints  # draws that better levels would have spared


def make_hazards(arms: int) -> Hazards:
    """An empty table for `arms` arms."""
    leaves = 1 << max(arms - 1, 0).bit_length()
    levels = LEVELS if arms >= MANY else 1
    return Hazards(
        np.zeros(levels),
        np.zeros((2 * leaves, levels)),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
    )


def hazard(policy: Policy, belief: Any, level: float) -> float:
    """−log of the chance that an index is at most the level."""
    p = above(policy, belief, level)
    if p < 0.5:
        return -math.log1p(-p)
    rest = below(policy, belief, level)  # has its own precision where it is small
    return min(-math.log(rest), CERTAIN) if rest > 0.0 else CERTAIN


@apart
def fill(policy: Policy, evidence: Evidence, hazards: Hazards) -> None:
    """Every arm's segments at the levels that are set; the leader has none."""
    for arm in range(evidence.pulls.size):
        set_leaf(policy, evidence, hazards, arm)
    for node in range(hazards.tree.shape[0] // 2 - 1, 0, -1):
        add_children(hazards, node)


@apart
def update(policy: Policy, evidence: Evidence, hazards: Hazards, arm: int) -> None:
    """An arm's segments, after it was played or took or lost the lead."""
    set_leaf(policy, evidence, hazards, arm)
    node = (hazards.tree.shape[0] // 2 + arm) // 2
    while node > 0:
        add_children(hazards, node)
        node //= 2


def set_leaf(policy: Policy, evidence: Evidence, hazards: Hazards, arm: int) -> None:
    """An arm's own segments."""
    leaf = hazards.tree[hazards.tree.shape[0] // 2 + arm]
    higher = CERTAIN if arm == hazards.leader[0] else 0.0
    belief = belief_at(policy, evidence, arm)
    for j in range(leaf.size - 1, -1, -1):
        if higher >= CERTAIN:  # above all lower levels, in effect
            leaf[j] = 0.0
            continue
        here = max(hazard(policy, belief, hazards.levels[j]), higher)
        leaf[j] = here - higher
        higher = here


def add_children(hazards: Hazards, node: int) -> None:
    """The sums of a node, added up anew: a running sum would keep the rounding of what is gone."""
    for j in range(hazards.tree.shape[1]):
        hazards.tree[node, j] = hazards.tree[2 * node, j] + hazards.tree[2 * node + 1, j]


def hazard_from(hazards: Hazards, j: int) -> float:
    """The hazard that some arm but the leader is above level j."""
    rate = 0.0
    for i in range(j, hazards.levels.size):
        rate += hazards.tree[1, i]
    return rate


def find(hazards: Hazards, j: int, position: float) -> tuple[int, float]:
    """The arm whose segment holds a position on the axis of bin j, and where the segment ends."""
    node, passed = 1, 0.0
    while node < hazards.tree.shape[0] // 2:
        node *= 2
        left = hazards.tree[node, j]
        if position >= passed + left and hazards.tree[node + 1, j] > 0.0:
            passed += left
            node += 1
    return node - hazards.tree.shape[0] // 2, passed + hazards.tree[node, j]
