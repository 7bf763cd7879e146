"""Long runs in batches: the rewards of many decisions arrive together.

Between two batches of rewards a policy learns nothing, so the pulls of a batch are one multinomial
draw from the exact propensities of the arms. A batch is a share of all decisions before it, so the
cost of a run grows with the logarithm of the horizon. Early decisions come one by one.

Guard pulls of the default rule depend on the pulls that are pending. They are decided one by one at
the start of a batch, until none is due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from driftanchor.compiled import kernels, rules
from driftanchor.compiled.overloads import parameters_of
from driftanchor.core.binomial import binomial
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.index_law import IndexLaw
from driftanchor.core.noise import Stream, keyed_stream, uniform, wrapping
from driftanchor.core.win_chances import win_chances
from driftanchor.policies.base import Policy, caches_beliefs, has_law, write_laws
from driftanchor.simulation.chunk import Chunk, instances_of
from driftanchor.simulation.engine import (
    ALL,
    Keys,
    RunState,
    interpreted_chooser,
    keys_of,
    prepare,
)
from driftanchor.simulation.world import World, draw_total, settle, world_of

SHARE = 16  # a batch is the 16th part of all decisions before it
MOVES = 8  # draws of the common move in a batch, one from each of as many equal strata


def can_batch(policy: type[Policy]) -> bool:
    """Return whether a batch of decisions is one draw: the policy samples from a known law.

    An upper bound is no sample: it would play one arm for a whole batch.
    """
    return has_law(policy) and policy.normals + policy.uniforms > 0


def largest_batch(horizon: int) -> int:
    """Return the size of the largest batch in a run."""
    return max(size for _, size in batches(horizon))


def batches(horizon: int) -> Iterator[tuple[int, int]]:
    """Yield the first decision and the size of each batch.

    Example:
        >>> [size for _, size in batches(40)]
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    """
    done = 0
    while done < horizon:
        size = min(max(1, done // SHARE), horizon - done)
        yield done + 1, size
        done += size
