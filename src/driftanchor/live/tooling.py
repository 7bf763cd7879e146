"""Tools that compute propensities: first interpreted, then compiled in the background.

With hundreds of arms, a decision waits for the compiled tools as long as interpreting would take;
with thousands, until they are ready. Both give the same numbers.
"""

from __future__ import annotations

import functools

import numpy as np

from driftanchor.core.evidence import Evidence, Round
from driftanchor.live.background import compile_once, finish
from driftanchor.live.propensities import ChanceCache, Writer, compiled, propensities
from driftanchor.policies.base import Policy

ENOUGH = 2_000  # arms whose propensity is interpreted before it pays to compile
MOVING = 100  # times as long as another arm: one whose propensity is a mean over common moves
SOME = 300  # arms of one decision, which take longer to interpret than to load from disk
EACH = 1e-3  # seconds that it takes to interpret one of them
MANY = 2_000  # arms of one decision, which take longer to interpret than to compile

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
        found = _ready.get(kind)
        if found is None:
            weight = MOVING if np.isfinite(evidence.relative_bounds).any() else 1
            size = evidence.pulls.size
            self._interpreted += weight * size
            if self._interpreted >= ENOUGH or size >= SOME:
                apart = _copied(evidence)
                work = functools.partial(_compile, self._policy, kind, apart, now)
                compile_once(("propensities", *kind), work)
            if size >= SOME:  # at most as long as interpreting takes, unless that is too long
                finish(EACH * size if size < MANY else None)
                found = _ready.get(kind)
        return found


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
