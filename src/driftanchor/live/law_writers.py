"""Compiles the functions that write a policy's laws, in the background, for fast propensities.

Until a compiled writer is ready, propensities use the interpreted one. Both give the same numbers.
"""

from __future__ import annotations

import functools

import numpy as np

from driftanchor.compiled import kernels
from driftanchor.core.evidence import Evidence, Round
from driftanchor.live.background import compile_once
from driftanchor.live.propensities import ChanceCache, Writer, compiled, propensities
from driftanchor.policies.base import Policy, has_law

ENOUGH = 2_000  # propensities of single arms that are interpreted before it pays to compile
MOVING = 40  # an arm counts this often if propensities are averaged over common moves
MANY = 2_000  # with this many arms, interpreting decisions takes longer than compiling

Kind = tuple[type, str, type]  # of the policy, parameters, type of pulls

_ready: dict[Kind, Writer] = {}


class LawWriters:
    """The compiled law writers of one policy, one for each type of pulls.

    Args:
        policy: The policy.

    Attributes:
        cache: Caches chances between calls.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._has_law = has_law(type(policy))
        kind = kernels.policy_type(policy) if self._has_law else type(policy)
        self._class_and_parameters = kind, repr(policy.parameters())
        self._interpreted = 0
        self.cache = ChanceCache()

    def compile_early(self, evidence: Evidence, now: Round) -> None:
        """Start a background compile now, without waiting for more calls."""
        self._interpreted = ENOUGH
        self.compiled(evidence, now)

    def compiled(self, evidence: Evidence, now: Round) -> Writer | None:
        """Return the compiled writer if it is ready, else `None`.

        After enough calls this starts a background compile.

        Args:
            evidence: The numbers of all arms now.
            now: The round.
        """
        if not self._has_law:
            return None
        kind = (*self._class_and_parameters, evidence.pulls.dtype.type)
        ready = _ready.get(kind)
        if ready is None:
            weight = MOVING if np.isfinite(evidence.relative_bounds).any() else 1
            self._interpreted += weight * evidence.pulls.size
            if self._interpreted >= ENOUGH:
                copy = _copied(evidence)
                work = functools.partial(_compile, self._policy, kind, copy, now)
                compile_once(("propensities", *kind), work)
        return ready


def _copied(evidence: Evidence) -> Evidence:
    """Copy the evidence for another thread, with types that Numba sees as the same.

    Numba distinguishes read-only arrays, so they stay read-only.
    """
    copies = Evidence._make(array.copy() for array in evidence)
    for array, copy in zip(evidence, copies, strict=True):
        copy.setflags(write=array.flags.writeable)
    return copies


def _compile(policy: Policy, kind: Kind, evidence: Evidence, now: Round) -> None:
    writer = compiled(policy, evidence)
    if propensities(policy, evidence, now, writer) is not None:
        _ready[kind] = writer
