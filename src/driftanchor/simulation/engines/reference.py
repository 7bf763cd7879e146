"""The reference loop: one obvious loop, interpreted as it stands, or compiled line by line.

Plain scalar Python over arrays. Called directly these functions are the reference;
`driftanchor.compiled` hands the same functions to Numba. Both give the same
bits.
"""

from __future__ import annotations

from typing import NamedTuple

from driftanchor.core.check import Floats, Ints
from driftanchor.core.common_move import Alone
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Policy, choose, moves_together, remember
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import desk as common
from driftanchor.simulation.engines.desk import Keys, prepare
from driftanchor.simulation.engines.engine import Loop
from driftanchor.simulation.engines.rewards import World, draw_reward


class ReferenceDesk(NamedTuple):
    """A desk that knows whether arms move together."""

    evidence: Evidence
    stream: Stream
    rewards: Stream
    together: bool | Alone


def lay_out(world: World, policy: Policy) -> ReferenceDesk:
    """A desk for the runs of a policy."""
    desk = common.lay_out(world, policy)
    own = type(policy).choose is not Policy.choose  # which sees for itself
    together = False if own else moves_together(policy, desk.evidence)
    return ReferenceDesk(*desk, together or Alone())


def play_runs(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: ReferenceDesk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """Play runs `first_run`, `first_run + 1`, … and fill the rows of `regret` and `pulls`.

    False when the policy could not choose, because every index was NaN.
    """
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        if not play_run(policy, world, desk, checkpoints, regret[row]):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def play_run(
    policy: Policy, world: World, desk: ReferenceDesk, checkpoints: Ints, regret: Floats
) -> bool:
    """Play one run; `regret` gets the pseudo-regret after each of the `checkpoints`."""
    evidence = desk.evidence
    arms = world.online.size
    for arm in range(arms):
        remember(policy, evidence, arm)
    reached = 0
    for t in range(1, checkpoints[-1] + 1):
        arm = choose(policy, evidence, Round(t, arms), desk.stream, desk.together)
        if arm < 0 or arm >= arms:
            return False
        evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
        evidence.pulls[arm] += 1
        remember(policy, evidence, arm)
        if t == checkpoints[reached]:
            regret[reached] = pseudo_regret(world.gaps, evidence.pulls)
            reached += 1
    return True


def pseudo_regret(gaps: Floats, pulls: Ints) -> float:
    """What the pulls lost against always playing the best arm, in expectation (E20)."""
    lost = 0.0
    for arm in range(gaps.size):
        lost += gaps[arm] * pulls[arm]
    return lost


def serves(policy: type[Policy], bandit: Bandit) -> bool:
    """Every policy, wherever a reward is seen before the next round."""
    return not bandit.is_late


EVERY_ROUND = Loop("every round", play_runs, lay_out, serves)
