"""The hazard table: how likely each arm but the leader is above each of some levels.

The hazard of an arm at a level is −log of the chance that its index is at most that level. Hazards
of independent arms add up, so one exponential number on the axis of their sum says how high the
highest index is, and a second look which arm has it: "arm i has its index between levels j and
j + 1" is a segment of length D[i, j] = hazard at j − hazard at j + 1, and a Poisson process of rate
1 on the axis of all segments, highest levels first, hits each arm's as often as it should.

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
from driftanchor.core.noise import Stream, exponential
from driftanchor.policies.base import Best, Policy, belief_at, challenge
from driftanchor.simulation.tails import above, below, draw_above, draw_below

MANY = 500  # arms from which the table has many levels
LEVELS = 24
CERTAIN = 40.0  # hazard of an arm that is surely above; no exponential drawn exceeds 37


class Table(NamedTuple):
    """Levels, the tree of segments, the leader (whose segments are 0) and how worn it is."""

    levels: Floats  # ascending
    tree: Floats  # (node, level): the sum of the segments below that node; the root is node 1
    leader: Ints
    worn: Ints  # draws that better levels would have spared


def make_table(arms: int) -> Table:
    """A table for so many arms, to be filled."""
    leaves = 1 << max(arms - 1, 0).bit_length()
    levels = LEVELS if arms >= MANY else 1
    return Table(
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
def fill(policy: Policy, evidence: Evidence, table: Table) -> None:
    """Every arm's segments at the levels that are set; the leader has none."""
    for arm in range(evidence.pulls.size):
        set_leaf(policy, evidence, table, arm)
    for node in range(table.tree.shape[0] // 2 - 1, 0, -1):
        add_children(table, node)


@apart
def update(policy: Policy, evidence: Evidence, table: Table, arm: int) -> None:
    """An arm's segments, after it was played or took or lost the lead."""
    set_leaf(policy, evidence, table, arm)
    node = (table.tree.shape[0] // 2 + arm) // 2
    while node > 0:
        add_children(table, node)
        node //= 2


def set_leaf(policy: Policy, evidence: Evidence, table: Table, arm: int) -> None:
    """An arm's own segments."""
    leaf = table.tree[table.tree.shape[0] // 2 + arm]
    higher = CERTAIN if arm == table.leader[0] else 0.0
    belief = belief_at(policy, evidence, arm)
    for j in range(leaf.size - 1, -1, -1):
        if higher >= CERTAIN:  # above all lower levels, in effect
            leaf[j] = 0.0
            continue
        here = max(hazard(policy, belief, table.levels[j]), higher)
        leaf[j] = here - higher
        higher = here


def add_children(table: Table, node: int) -> None:
    """The sums of a node, added up anew: a running sum would keep the rounding of what is gone."""
    for j in range(table.tree.shape[1]):
        table.tree[node, j] = table.tree[2 * node, j] + table.tree[2 * node + 1, j]


def hazard_from(table: Table, j: int) -> float:
    """The hazard that some arm but the leader is above level j."""
    rate = 0.0
    for i in range(j, table.levels.size):
        rate += table.tree[1, i]
    return rate


def find(table: Table, j: int, position: float) -> tuple[int, float]:
    """The arm whose segment holds a position on the axis of bin j, and where the segment ends."""
    node, passed = 1, 0.0
    while node < table.tree.shape[0] // 2:
        node *= 2
        left = table.tree[node, j]
        if position >= passed + left and table.tree[node + 1, j] > 0.0:
            passed += left
            node += 1
    return node - table.tree.shape[0] // 2, passed + table.tree[node, j]


def pick(
    policy: Policy,
    evidence: Evidence,
    table: Table,
    value: float,
    position: float,
    stream: Stream,
) -> int:
    """The arm with the largest index.

    The leader's index is `value`; `position` is that of the highest other arm on the axis of all
    segments, an exponential number unless more is known.
    """
    leader: int = table.leader[0]
    top = math.inf
    for j in range(table.levels.size - 1, -1, -1):
        if value > top:
            return leader
        if position < table.tree[1, j]:
            return pick_in_bin(policy, evidence, table, j, value, position, stream)
        position -= table.tree[1, j]
        top = table.levels[j]
    if value > top:
        return leader
    best = challenge(Best(-math.inf, -1, 0), value, leader, stream)
    for arm in range(evidence.pulls.size):  # all are below the lowest level
        if arm != leader:
            index = draw_below(policy, belief_at(policy, evidence, arm), top, stream)
            best = challenge(best, index, arm, stream)
    table.worn[0] += evidence.pulls.size
    return best.column


def pick_in_bin(
    policy: Policy,
    evidence: Evidence,
    table: Table,
    j: int,
    value: float,
    position: float,
    stream: Stream,
) -> int:
    """The arm with the largest index, when the highest other arm lies between levels j and j + 1.

    Past a segment that was hit the process goes on afresh: it hits all arms of the bin.
    """
    low = table.levels[j]
    high = table.levels[j + 1] if j + 1 < table.levels.size else math.inf
    end = table.tree[1, j]
    arm, passed = find(table, j, position)
    position = passed + exponential(stream)
    if position >= end and value <= low:  # alone in its bin, and the leader is below
        return arm
    best = challenge(Best(-math.inf, -1, 0), value, table.leader[0], stream)
    while True:
        index = draw_between(policy, belief_at(policy, evidence, arm), low, high, stream)
        best = challenge(best, index, arm, stream)
        if position >= end:
            return best.column
        table.worn[0] += 1
        arm, passed = find(table, j, position)
        position = passed + exponential(stream)


@apart
def draw_between(policy: Policy, belief: Any, low: float, high: float, stream: Stream) -> float:
    """An index given that it is above `low` and at most `high`."""
    if high == math.inf or above(policy, belief, low) < below(policy, belief, high):
        while True:
            index = draw_above(policy, belief, low, stream)
            if index <= high:
                return index
    while True:
        index = draw_below(policy, belief, high, stream)
        if index > low:
            return index
