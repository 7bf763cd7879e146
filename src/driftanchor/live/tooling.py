"""Tools that compute propensities: first interpreted, then compiled in the background.

Both give the same numbers.
"""

from __future__ import annotations

import functools

import numpy as np

from driftanchor.core.evidence import Evidence, Round
from driftanchor.live.background import compile_once
from driftanchor.live.propensities import ChanceCache, Writer, compiled, propensities
from driftanchor.policies.base import Policy

ENOUGH = 2_000  # arms whose propensity is interpreted before it pays to compile
MOVING = 40  # times as many laws per arm if propensities are a mean over common moves
MANY = 2_000  # arms whose decisions take longer to interpret than to compile

Kind = tuple[type[Policy], str, type]  # class, parameters, type of pulls

_ready: dict[Kind, Writer] = {}


class Tooling:
    """The tools for one policy.

    Args:
        policy: The policy.

    Attributes:
        cache: Chances of earlier calls.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._name = type(policy), repr(policy.parameters())
        self._interpreted = 0
        self.cache = ChanceCache()

    def ask_for_kernels(self, evidence: Evidence, now: Round) -> None:
        """Start a background compile, even after few calls."""
        self._interpreted = ENOUGH
        self.tools(evidence, now)

    def tools(self, evidence: Evidence, now: Round) -> Writer | None:
        """Return the compiled tools if they are ready, else `None`; may start a background compile.

        Args:
            evidence: What the policy sees now.
            now: The round.
        """
        kind = (*self._name, evidence.pulls.dtype.type)
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
    """A copy that another thread may look at, of the same types: only the memory can be written."""
    copies = Evidence._make(array.copy() for array in evidence)
    for array, copy in zip(evidence, copies, strict=True):
        copy.setflags(write=array.flags.writeable)
    return copies


def _compile(policy: Policy, kind: Kind, evidence: Evidence, now: Round) -> None:
    writer = compiled(policy, evidence)
    if propensities(policy, evidence, now, writer) is not None:
        _ready[kind] = writer
