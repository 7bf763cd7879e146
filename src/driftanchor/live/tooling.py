"""Tools that compute propensities: interpreted at first, compiled in the background.

To compile them takes some seconds the first time and half a second later on. A decision waits for
that only if it has thousands of arms, where to interpret takes longer. Both give the same numbers.
"""

from __future__ import annotations

import importlib.util
import os
import threading

import numpy as np

from driftanchor.core.evidence import Evidence, Round
from driftanchor.live.propensities import Tools, compiled, propensities
from driftanchor.policies.base import Policy

ENOUGH = 2_000  # arms whose propensity is interpreted before it pays to compile
MOVING = 100  # times as long as another arm: one whose propensity is a mean over common moves
MANY = 2_000  # arms of one decision, which take longer to interpret than to compile

Kind = tuple[type[Policy], str]  # the class, and its parameters

_ready: dict[Kind, Tools] = {}
_threads: dict[Kind, threading.Thread] = {}
_asking = threading.Lock()


class Tooling:
    """The tools for one policy.

    Args:
        policy: The policy.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._kind = type(policy), repr(policy.parameters())
        self._interpreted = 0

    def tools(self, evidence: Evidence, now: Round) -> Tools | None:
        """The compiled tools if they are ready, else `None`; asks for them when it pays.

        Args:
            evidence: What the policy sees now.
            now: The round.
        """
        found = _ready.get(self._kind)
        if found is None:
            weight = MOVING if np.isfinite(evidence.relative_bounds).any() else 1
            self._interpreted += weight * evidence.pulls.size
            if self._interpreted >= ENOUGH:
                self._ask(evidence, now)
            if evidence.pulls.size >= MANY:
                finish()
                found = _ready.get(self._kind)
        return found

    def _ask(self, evidence: Evidence, now: Round) -> None:
        if importlib.util.find_spec("numba") is None:
            return
        with _asking:
            if self._kind in _threads:
                return
            apart = Evidence._make(array.copy() for array in evidence)
            thread = threading.Thread(
                target=_compile,
                args=(self._policy, self._kind, apart, now),
                name="driftanchor-compile",
            )
            _threads[self._kind] = thread
            try:
                thread.start()
            except RuntimeError:  # the process is about to end, or has no more threads
                return


def _compile(policy: Policy, kind: Kind, evidence: Evidence, now: Round) -> None:
    try:
        tools = compiled(policy)
        if propensities(policy, evidence, now, tools) is None:
            return
    except Exception:
        return  # it cannot be compiled: a policy of one's own may be any Python
    _ready[kind] = tools


def finish() -> None:
    """Wait until all that was asked for is ready or has failed."""
    for thread in list(_threads.values()):
        if thread is not threading.current_thread() and thread.ident is not None:
            thread.join()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish)  # in the child, locks of the compiler would stay held
