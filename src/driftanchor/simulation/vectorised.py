"""The reference simulator over many runs at once, in NumPy: for machines without Numba.

All runs take round t together. What they compute they compute by the functions of the reference
simulator and of the policy, over arrays with a lane for each arm and run (see
`driftanchor.simulation.lanes`), so the numbers are those of the interpreted loop, bit for bit. Only
the choice of an arm is written anew, in `driftanchor.simulation.choices`.

Some policies cannot run so: they look at all arms at once (every policy that uses logs does, where
arms share the draw of a common move), or do what only numbers can. A trial of
a few rounds finds out, and the interpreted loop takes over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftanchor.core import noise
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Policy
from driftanchor.simulation import reference
from driftanchor.simulation.choices import Choices
from driftanchor.simulation.lanes import over_lanes
from driftanchor.simulation.reference import Desk, Keys
from driftanchor.simulation.words import inside, place
from driftanchor.simulation.world import World, draw_mean, draw_reward

_LANES = 2**13  # of which more are not much faster
_MOST_RUNS, _FEWEST_RUNS = 500, 16
_TRIAL = 500  # indices in each of two runs


def runs_at_once(arms: int) -> int:
    """How many runs to take together."""
    return max(_FEWEST_RUNS, min(_MOST_RUNS, _LANES // arms))


def run_many(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `reference.run_many`, with all runs side by side where the policy can."""
    rounds = np.arange(1, 1 + max(1, min(checkpoints[-1], _TRIAL // world.online.size)))
    worth_it = regret.shape[0] * checkpoints[-1] > 4 * rounds.size
    if worth_it and _agree(policy, world, keys, first_run, rounds, desk):
        try:
            return side_by_side(policy, world, keys, first_run, checkpoints, regret, pulls)
        except Exception:  # whatever it is: the interpreted loop can do it, or raises it again
            pass
    return reference.run_many(policy, world, keys, first_run, checkpoints, desk, regret, pulls)


def _agree(
    policy: Policy, world: World, keys: Keys, first_run: int, rounds: Ints, desk: Desk
) -> bool:
    """Whether the first rounds of two runs come out the same side by side and interpreted."""

    def outcome(run: Any, *place_to_work: Desk) -> bytes:
        regret, pulls = np.zeros((2, rounds.size)), np.zeros((2, world.online.size), np.int64)
        run(policy, world, keys, first_run, rounds, *place_to_work, regret, pulls)
        return regret.tobytes() + pulls.tobytes()

    try:
        ours = outcome(side_by_side)
    except Exception:
        return False
    return ours == outcome(reference.run_many, desk)


def side_by_side(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `reference.run_many`; raises where that is not to be had."""
    each = np.arange(regret.shape[0])
    # Numbers may warn here or raise, by their type: leave both to the interpreted loop.
    with np.errstate(divide="raise", invalid="raise", over="ignore"):
        desk = _lay_out(policy, world, keys, first_run + each)
        evidence = desk.evidence
        choices = Choices(policy, evidence, desk.stream)
        rewards = desk.rewards.swapaxes(0, 1).reshape(4, -1)  # a stream for each lane
        reached = 0
        for t in range(1, checkpoints[-1] + 1):
            column = choices.choose(Round(t, world.online.size))
            if (column < 0).any():
                return False
            lane = column * each.size + each
            streams = rewards.take(lane, axis=1)
            evidence.totals.ravel()[lane] += _draw_reward(world, column, streams)
            evidence.pulls.ravel()[lane] += 1
            rewards[:, lane] = streams
            choices.remember(lane)
            if t == checkpoints[reached]:
                regret[:, reached] = reference.pseudo_regret(world.gaps, evidence.pulls)
                reached += 1
    pulls[:] = evidence.pulls.T
    return True


def _lay_out(policy: Policy, world: World, keys: Keys, runs: Ints) -> Desk:
    """A desk whose evidence and streams have one more axis, the runs; everything at its start."""
    shape = world.online.size, runs.size
    evidence = Evidence(
        np.zeros(shape, np.int64),
        np.zeros(shape),
        np.repeat(world.offline_pulls, runs.size).reshape(shape),
        np.zeros(shape),
        np.repeat(world.bias_bounds, runs.size).reshape(shape),
        np.ones(shape, np.bool_),
        np.zeros((*shape, 0)),
        np.zeros(shape, np.int64),
        np.repeat(world.relative_bounds, runs.size).reshape(shape),
    )
    desk = reference.lay_out(world, policy)._replace(
        evidence=evidence,
        stream=np.empty((4, runs.size), np.uint64),
        rewards=np.empty((4, *shape), np.uint64).swapaxes(0, 1),
    )
    _prepare(world, keys, runs, desk)
    return desk


def _normal(streams: Stream) -> Any:
    """A standard normal from each stream."""
    words: Any = noise.next_word(streams)
    x = place(words)
    for i in np.flatnonzero(~inside(words, x)):
        x[i] = noise.outside(streams[:, i], words[i], float(x[i]))
    return x


def _draw_mean(world: World, arm: int, pulls: int, streams: Stream) -> Floats:
    """The mean of the logs of an arm in each run: once in a run, so run by run will do."""
    return np.array([draw_mean(world, arm, pulls, stream) for stream in streams.T])


def _is_clear(evidence: Evidence) -> None:
    """A new desk needs no clearing."""


_prepare = over_lanes(reference.prepare, {reference.clear: _is_clear, draw_mean: _draw_mean})
_draw_reward = over_lanes(draw_reward, {noise.normal: _normal})
