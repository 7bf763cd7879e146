"""Loop to compile: a campaign that a rule plays and that is watched after every reward."""

from __future__ import annotations

import math
from collections.abc import Callable

from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import uniform
from driftanchor.live.watch.move_intervals import (
    Ruler,
    Side,
    add_side,
    apart_prior,
    log_evidence,
    move_interval,
    prediction,
    rest_of,
    side_of,
)
from driftanchor.simulation.engine import ALL, Keys, RunState, prepare
from driftanchor.simulation.world import World, draw_reward

SQUARES, LOW, HIGH = range(3)  # columns of `kept`: squared errors and the interval of the move
REST = Ruler._fields.index("rest")
ALARM, ONE_LOOK = range(2)  # entries of `found`: the round of each test's alarm


def play_watched(
    rule: Callable[..., int],
    parameters: Floats,
    world: World,
    keys: Keys,
    run: int,
    horizon: int,
    state: RunState,
    rulers: Floats,
    wide: float,
    floor: float,
    kept: Floats,
    found: Ints,
) -> bool:
    """Play a run until both tests have raised an alarm, or to the end.

    Args:
        rule: Chooses the arm of a round: see `compiled.rules.chooser`.
        parameters: The policy's numbers, for the rule.
        world: The bandit; its logs are given.
        keys: The keys of all noise.
        run: The number of the run.
        horizon: The maximum number of rounds.
        state: What `allocate` returned.
        rulers: The fields of each arm's `Ruler`.
        wide: Standard errors of the test for one look; 0 to leave the test out.
        floor: The minimum probability of each arm.
        kept: Scratch space, (arms, 3).
        found: Receives the rounds of the two alarms; 0 for none.

    Returns:
        False if the policy could not choose, because every index was NaN.
    """
    prepare(world, keys, run, state)
    evidence, arms = state.evidence, world.online.size
    for arm in range(arms):
        kept[arm, SQUARES], kept[arm, LOW], kept[arm, HIGH] = 0.0, -math.inf, math.inf
    found[ALARM] = found[ONE_LOOK] = 0
    for t in range(1, horizon + 1):
        if floor > 0.0 and uniform(state.stream) < floor * arms:
            arm = int(uniform(state.stream) * arms)
        else:
            arm = rule(parameters, evidence, t, arms, state.stream, world.relative, ALL)
        if arm < 0 or arm >= arms:
            return False
        ruler = ruler_at(rulers, arm)
        reward = draw_reward(world, arm, state.rewards[arm])
        error = reward - prediction(ruler, evidence.pulls[arm], evidence.totals[arm])
        kept[arm, SQUARES] += error * error
        evidence.totals[arm] += reward
        evidence.pulls[arm] += 1
        n, total = evidence.pulls[arm], evidence.totals[arm]
        if found[ALARM] == 0:
            low, high = move_interval(ruler, n, total, kept[arm, SQUARES])
            kept[arm, LOW], kept[arm, HIGH] = low, high
            if is_broken(rulers, kept, arm) or is_apart(rulers, evidence.pulls, evidence.totals):
                found[ALARM] = t
        if wide > 0.0 and found[ONE_LOOK] == 0:
            move, noise = total / n - ruler.mean, world.noise[arm]
            reach = wide * noise * math.sqrt(1.0 / n + 1.0 / ruler.logged)
            if abs(move) - reach > ruler.bias_bound:
                found[ONE_LOOK] = t
        if found[ALARM] > 0 and (wide == 0.0 or found[ONE_LOOK] > 0):
            return True
    return True


def ruler_at(rulers: Floats, arm: int) -> Ruler:
    """The ruler of an arm, from its fields."""
    row = rulers[arm]
    return Ruler(
        int(row[0]),
        row[1],
        row[2],
        int(row[3]),
        row[4],
        row[5],
        row[6],
        row[7],
        row[8],
        row[9],
        row[10],
        row[11],
        row[12],
    )


def is_apart(rulers: Floats, pulls: Ints, totals: Floats) -> bool:
    """Whether `look` would find that an arm moved apart from all others together."""
    every, count = Side(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0
    for i in range(pulls.size):
        if rulers[i, REST] > 0.0 and pulls[i] > 0:
            ruler = ruler_at(rulers, i)
            every = add_side(every, side_of(ruler, pulls[i], totals[i], ruler.rest))
            count += 1
    if count < 2:
        return False
    for i in range(pulls.size):
        if rulers[i, REST] > 0.0 and pulls[i] > 0:
            ruler = ruler_at(rulers, i)
            side = side_of(ruler, pulls[i], totals[i], 1.0)
            member = side_of(ruler, pulls[i], totals[i], ruler.rest)
            rest = rest_of(every, member, ruler.rest * apart_prior(ruler))
            if log_evidence(side, rest) >= -math.log(ruler.miss):
                return True
    return False


def is_broken(rulers: Floats, kept: Floats, arm: int) -> bool:
    """Whether `look` would raise an alarm after a reward of an arm."""
    if kept[arm, LOW] > rulers[arm, 1] or kept[arm, HIGH] < -rulers[arm, 1]:
        return True
    lowest, highest = -math.inf, math.inf
    for i in range(kept.shape[0]):
        if rulers[i, 2] < math.inf:
            lowest = max(lowest, kept[i, LOW] - rulers[i, 2])
            highest = min(highest, kept[i, HIGH] + rulers[i, 2])
    return lowest > highest
