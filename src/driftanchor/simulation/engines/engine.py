"""What an engine is: a name for a choice of loops, and whether Numba compiles them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

from driftanchor.policies.base import Policy, kept_belief
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines.rewards import World

PlayRuns = Callable[..., bool]


class Loop(NamedTuple):
    """A loop over runs.

    Attributes:
        name: What it is called among the loops.
        play_runs: Plays runs of a policy; see `driftanchor.simulation.engines.reference.play_runs`.
        lay_out: Makes the desk that it works at.
        serves: Whether it can play a policy in a bandit.
    """

    name: str
    play_runs: PlayRuns
    lay_out: Callable[[World, Policy], Any]
    serves: Callable[[type[Policy], Bandit], bool]


class Engine(NamedTuple):
    """A way to play runs.

    Attributes:
        compiled: Whether Numba compiles its loops, and threads share the runs.
        processes: Whether processes share the runs.
        paired: Whether the n-th reward of an arm is the same for every policy.
        leaps: Whether it leaps over rounds for the policies that allow it.
        loops: The loops it may use; the first that serves a policy in a bandit plays it.
    """

    compiled: bool
    processes: bool
    paired: bool
    leaps: bool
    loops: tuple[Loop, ...]

    @property
    def is_installed(self) -> bool:
        """Whether what it needs is installed."""
        return not self.compiled or importlib.util.find_spec("numba") is not None

    def loop_for(self, policy: type[Policy], bandit: Bandit) -> Loop:
        """The loop that plays a policy in a bandit."""
        return next(loop for loop in self.loops if loop.serves(policy, bandit))


def keeps_promise(promise: str, policy: type[Policy]) -> bool:
    """Whether `tails` or `grows`, which a class promises of its index, is true of a policy.

    A subclass that changes a method does not keep the promise that its parent gave.
    """
    home: Any = next(cls for cls in policy.__mro__ if promise in vars(cls))
    kept = all(getattr(home, x) is getattr(policy, x) for x in ("believe", "sample", "draw"))
    return kept_belief(policy) is not None and kept


def plays_arms_alone(policy: type[Policy], bandit: Bandit) -> bool:
    """Whether an arm's belief changes only when the arm is played, and at once.

    Not so where rewards come late, nor where logs move together and the policy uses them.
    """
    return not bandit.is_late and not (bandit.is_relative and policy.uses_logs)
