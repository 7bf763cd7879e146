"""Long runs in batches: the rewards of many decisions arrive together.

Within a batch a policy learns nothing new, so the pulls of a batch are one multinomial draw from
the exact propensities of the arms. The size of a batch is a fixed share of the number of decisions
before it, so the cost of a run grows with the logarithm of the horizon. The first decisions are
made one by one.

Guard pulls of the default rule depend on pending pulls. They are decided one by one at the start of
a batch, until none is due.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from driftanchor.compiled import kernels, rules
from driftanchor.compiled.overloads import parameters_of
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.evidence import Evidence
from driftanchor.core.index_law import IndexLaw
from driftanchor.core.noise import Stream, key, wrapping
from driftanchor.core.variates import binomial
from driftanchor.core.win_chances import win_chances
from driftanchor.errors import InvalidInput
from driftanchor.policies.base import Policy, caches_beliefs, errors_of, has_law
from driftanchor.simulation.chunk import Chunk, Played, instances_of
from driftanchor.simulation.engine import ALL, Keys, RunState, keys_of, prepare
from driftanchor.simulation.world import World, draw_total, settle, world_of

SHARE = 16  # a batch is 1/16 of all decisions before it
CLOSE = 1e-4  # allowed distance of the sum of propensities from 1
MOVES = 4  # draws of the common move in a batch, one from each of `MOVES` equal strata
MAX_MOVE = 8.0  # standard deviations; beyond them a normal has a probability of 1e-15


def can_batch(policy: type[Policy]) -> bool:
    """Return whether the pulls of a batch can be drawn at once from known index distributions.

    Policies without noise, such as UCB, are excluded: they would play one arm for a whole batch.
    """
    return has_law(policy) and policy.normals + policy.uniforms > 0


def largest_batch(horizon: int) -> int:
    """Return the size of the largest batch in a run."""
    return max(size for _, size in batches(horizon))


def batches(horizon: int) -> Iterator[tuple[int, int]]:
    """Yield (first decision, size) for each batch; decisions are numbered from 1.

    Example:
        >>> list(batches(37))[30:], len(list(batches(1_000_000)))
        ([(31, 1), (32, 1), (33, 2), (35, 2), (37, 1)], 207)
    """
    done = 0
    while done < horizon:
        size = min(max(1, done // SHARE), horizon - done)
        yield done + 1, size
        done += size


class BatchState(NamedTuple):
    """Arrays with the state of all runs of a chunk, indexed by run first."""

    pulls: Ints
    totals: Floats
    offline_means: Floats
    playable: Bools
    memory: Floats
    pending: Ints
    streams: Stream  # noise of the policy
    rewards: Stream  # noise of the rewards, by (run, arm)


def play_in_batches(chunk: Chunk) -> Played:
    """Play a chunk in batches; return the regret and the pulls of each run at the horizon.

    The propensities of all runs are integrated together, so the last digits of a run's results
    depend on the other runs in its chunk. For reproducible results, play all runs of a job in one
    chunk.
    """
    policy, runs = chunk.policy, chunk.runs
    world = world_of(chunk.bandit, instances_of(chunk), chunk.first)
    arms, parameters = world.online.size, parameters_of(policy)
    state = _allocate(world, policy, runs)
    moves = np.zeros((runs, MOVES if world.relative and policy.uses_logs else 1))
    laws = np.zeros((runs, moves.shape[1] * arms, len(IndexLaw._fields)))
    left, chances, regret = np.zeros(runs, np.int64), np.zeros((runs, arms)), np.zeros(runs)
    guards = type(policy).laws is not Policy.laws
    choose, write = rules.chooser(policy), rules.laws_writer(policy)
    prepare_all, begin, end = prepare_runs, begin_batch, end_batch
    keys = keys_of(chunk.seed, policy.name)
    if chunk.is_compiled:
        one = run_of(world, state, 0)
        rule, seen = functools.partial(kernels.rule, policy), (parameters, one.evidence, 1, 1)
        choose = rule(rules.chooser, *seen, one.stream, world.relative, ALL)
        write = rule(rules.laws_writer, *seen, moves[0], True, laws[0])
        common = choose, write, parameters, world, state
        prepare_all = kernels.loop(prepare_runs, world, keys, chunk.first, state)
        begin = kernels.loop(begin_batch, *common, 1, 1, moves, guards, laws, left)
        end = kernels.loop(end_batch, world, state, chunk.first, left, chances, regret)
    with errors_of(chunk.name), wrapping():
        prepare_all(world, keys, chunk.first, state)
        for t, size in batches(chunk.horizon):
            if moves.shape[1] > 1:
                moves[:] = _stratified(chunk, t)
            common = choose, write, parameters, world, state
            played = begin(*common, t, size, moves, guards, laws, left)
            drawn = left > 0
            if drawn.any():
                shares = win_chances(laws[drawn].reshape(-1, moves.shape[1], arms, laws.shape[-1]))
                shares = shares.mean(axis=1)
                total = shares.sum(axis=1, keepdims=True)
                if (np.abs(total - 1.0) <= CLOSE).all():
                    chances[drawn] = shares / total
                else:
                    played = False
            if not played:
                raise InvalidInput(
                    f"{chunk.name!r} chose no arm: its index is NaN for every arm",
                    argument="policy",
                )
            end(world, state, chunk.first, left, chances, regret)
    return regret[:, None], state.pulls


def _allocate(world: World, policy: Policy, runs: int) -> BatchState:
    arms = world.online.size
    beliefs = len(policy.belief._fields) if caches_beliefs(type(policy)) else 0
    return BatchState(
        np.zeros((runs, arms), np.int64),
        np.zeros((runs, arms)),
        np.zeros((runs, arms)),
        np.ones((runs, arms), np.bool_),
        np.zeros((runs, arms, policy.memory + beliefs)),
        np.zeros((runs, arms), np.int64),
        np.empty((runs, 4), np.uint64),
        np.empty((runs, arms, 4), np.uint64),
    )


def _stratified(chunk: Chunk, t: int) -> Floats:
    """Draw normals of shape (runs, `MOVES`): for each run one from each of equal strata."""
    from scipy.special import ndtri

    rng = np.random.default_rng(int(key(chunk.seed, f"moves/{t}")))
    uniforms = rng.random((chunk.first + chunk.runs, MOVES))[chunk.first :]
    moves: Floats = ndtri((np.arange(MOVES) + 1.0 - uniforms) / MOVES)
    return moves.clip(-MAX_MOVE, MAX_MOVE)


def run_of(world: World, state: BatchState, run: int) -> RunState:
    """Return the state of one run, as views of the arrays in `state`."""
    evidence = Evidence(
        state.pulls[run],
        state.totals[run],
        world.offline_pulls,
        state.offline_means[run],
        world.bias_bounds,
        state.playable[run],
        state.memory[run],
        state.pending[run],
        world.relative_bounds,
    )
    return RunState(evidence, state.streams[run], state.rewards[run], world.offline_pulls)


def prepare_runs(world: World, keys: Keys, first_run: int, state: BatchState) -> None:
    """Set the means of all runs, draw their logs, and start their streams."""
    for run in range(state.pulls.shape[0]):
        prepare(world, keys, first_run + run, run_of(world, state, run))


def begin_batch(
    choose: Callable[..., int],
    write: Callable[..., tuple[float, float, float]],
    parameters: Floats,
    world: World,
    state: BatchState,
    t: int,
    size: int,
    moves: Floats,
    guards: bool,
    laws: Floats,
    left: Ints,
) -> bool:
    """Choose the arms of the guard pulls, and write the index distributions of the other pulls.

    Args:
        choose: The policy's rule: see `compiled.rules.chooser`.
        write: Writes the index distributions of a round: see `compiled.rules.laws_writer`.
        parameters: The policy's numeric parameters.
        world: The bandit.
        state: The state of all runs.
        t: The number of the first decision in the batch.
        size: The number of decisions in the batch.
        moves: Standardised draws of the common move, by (run, draw).
        guards: Whether the policy has guard pulls.
        laws: The output: for each run, the index distributions.
        left: The output: for each run, the number of decisions left after the guard pulls.

    Returns:
        False if the policy chose no valid arm.
    """
    arms = world.online.size
    for run in range(left.size):
        if world.instances.shape[0] > 0 and world.exact:
            settle(world, world.first + run)
        one, now = run_of(world, state, run), t
        while guards and now < t + size:
            if (
                write(parameters, one.evidence, now, arms, moves[run][:1], True, laws[run])[0]
                == 0.0
            ):
                break
            arm = choose(parameters, one.evidence, now, arms, one.stream, world.relative, ALL)
            if arm < 0 or arm >= arms:
                return False
            one.evidence.pending[arm] += 1
            now += 1
        left[run] = t + size - now
        if left[run] > 0:
            write(parameters, one.evidence, now, arms, moves[run], False, laws[run])
    return True


def end_batch(
    world: World, state: BatchState, first_run: int, left: Ints, chances: Floats, regret: Floats
) -> None:
    """Draw the pulls of a batch and their rewards, and update `regret`.

    `left` has the number of decisions to draw for each run, and `chances` the propensities by (run,
    arm).
    """
    for run in range(left.size):
        if world.instances.shape[0] > 0:
            settle(world, first_run + run)
        one = run_of(world, state, run)
        evidence, rest, lost = one.evidence, 1.0, 0.0
        for arm in range(world.online.size):
            last = arm == world.online.size - 1
            share = 1.0 if last or rest <= 0.0 else chances[run, arm] / rest
            pulls = binomial(left[run], share, one.stream)
            rest -= chances[run, arm]
            left[run] -= pulls
            pulls += evidence.pending[arm]
            evidence.totals[arm] += draw_total(world, arm, pulls, one.rewards[arm])
            evidence.pulls[arm] += pulls
            evidence.pending[arm] = 0
            lost += world.gaps[arm] * evidence.pulls[arm]
        regret[run] = lost
