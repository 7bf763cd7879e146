"""Chunk: some runs of one policy, small enough to be sent to where they are played."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.compiled.kernels import kernel
from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.noise import NotDrawn, wrapping
from driftanchor.errors import InvalidInput, shown
from driftanchor.policies import answers
from driftanchor.policies.base import Policy, kept_belief
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import ENGINES, engine_named
from driftanchor.simulation.engines.desk import keys_of
from driftanchor.simulation.engines.drawn_means import drawn_means
from driftanchor.simulation.engines.engine import Loop
from driftanchor.simulation.engines.rewards import world_of

CHUNK_ROUNDS = 1_000_000  # in a chunk: a fraction of a second, so that progress shows
Played = tuple[Floats, Ints]  # regret by (run, checkpoint), pulls by (run, arm)
# The type of a policy's numbers is made when first asked for: by one thread at a time.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some runs of one policy, and all that their numbers depend on.

    Attributes:
        name: What the policy is called in messages.
        policy: The policy.
        bandit: The world.
        checkpoints: The rounds after which regret is read; the last is the horizon.
        engine: The engine that plays them, a key of `ENGINES`.
        seed: The seed of all noise.
        first: The first of its runs.
        runs: How many runs.
        means: The online means of each run, by (run, arm), where runs have their own.
    """

    name: str
    policy: Policy
    bandit: Bandit
    checkpoints: Ints
    engine: str
    seed: int
    first: int
    runs: int
    means: Floats | None = None

    @classmethod
    def all_runs(
        cls,
        name: str,
        policy: Policy,
        bandit: Bandit,
        *,
        horizon: int,
        runs: int,
        seed: int,
        checkpoints: int | Sequence[int],
        engine: str,
    ) -> Chunk:
        """All runs of a policy, from the arguments of `simulate`, checked."""
        if not isinstance(bandit, Bandit):
            raise InvalidInput(f"must be a Bandit, got {shown(bandit)}", argument="bandit")
        bandit.check_policy(policy)
        horizon = check.whole(horizon, "horizon", low=1)
        runs = check.whole(runs, "runs", low=1, high=10**9)
        seed = check.whole(seed, "seed")
        rounds = rounds_to_read(checkpoints, horizon)
        return cls(name, policy, bandit, rounds, engine_named(engine), seed, 0, runs)

    @property
    def horizon(self) -> int:
        """Rounds in a run."""
        return int(self.checkpoints[-1])

    @property
    def is_compiled(self) -> bool:
        """Whether Numba plays it."""
        return ENGINES[self.engine].compiled

    @property
    def loop(self) -> Loop:
        """The loop that plays it."""
        return ENGINES[self.engine].loop_for(type(self.policy), self.bandit)

    @property
    def rows(self) -> slice:
        """Where its runs stand among those of the policy."""
        return slice(self.first, self.first + self.runs)

    def cut(self, size: int) -> Iterator[Chunk]:
        """The same runs in chunks of at most `size`."""
        for done in range(0, self.runs, size):
            runs = min(size, self.runs - done)
            own = None if self.means is None else self.means[done : done + runs]
            yield dataclasses.replace(self, first=self.first + done, runs=runs, means=own)


def rounds_to_read(checkpoints: int | Sequence[int], horizon: int) -> Ints:
    """The rounds after which regret is read, ascending, the horizon last."""
    if isinstance(checkpoints, int | np.integer):
        count = min(check.whole(checkpoints, "checkpoints", low=1, high=10**7), horizon)
        steps = np.arange(1, count + 1, dtype=np.int64)
        each, rest = divmod(horizon, count)
        return steps * each - (-steps * rest) // count  # the ceilings of i · horizon / count
    asked = [
        check.whole(t, "checkpoints", low=1, high=horizon)
        for t in check.items(checkpoints, "checkpoints")
    ]
    return np.array(sorted({*asked, horizon}), dtype=np.int64)


def play(chunk: Chunk) -> Played:
    """Play a chunk, in this thread."""
    world = world_of(chunk.bandit, _instances(chunk), chunk.first)
    with _one_at_a_time:
        play_runs, rule = _ready(chunk)
    desk = chunk.loop.lay_out(world, chunk.policy)
    keys = keys_of(chunk.seed, chunk.policy.name)
    rounds = chunk.checkpoints.copy()  # what was sent may be read-only, for Numba another type
    regret = np.empty((chunk.runs, rounds.size))
    pulls = np.empty((chunk.runs, world.online.size), np.int64)
    hint = '; engine="interpreted" shows where' if chunk.is_compiled else ""
    try:
        with answers.errors_of(chunk.name, hint), wrapping():
            played = play_runs(rule, world, keys, chunk.first, rounds, desk, regret, pulls)
    except NotDrawn as error:
        raise NotDrawn(error.kind, chunk.name) from None
    if not played:
        raise InvalidInput(
            f"{chunk.name!r} chose no arm: its index is NaN for every arm, or its choose "
            "gave a column that is not there",
            argument="policy",
        )
    return regret, pulls


def _instances(chunk: Chunk) -> Floats | None:
    """The means of the runs of a chunk, given or drawn; `None` where all have the same."""
    if chunk.means is not None:
        logged = np.broadcast_to(chunk.bandit.offline, chunk.means.shape)
        return np.stack([chunk.means, logged], axis=1)
    if chunk.bandit.means is None:
        return None
    compiled = chunk.is_compiled
    return drawn_means(chunk.bandit, chunk.seed, chunk.first, chunk.runs, compiled=compiled)


def _ready(chunk: Chunk) -> tuple[Callable[..., bool], Any]:
    """The function that plays the runs, compiled if it should be, and its form of the policy."""
    policy = chunk.policy
    if not chunk.is_compiled:
        return chunk.loop.play_runs, policy
    if kept_belief(type(policy)) is not None:
        with answers.errors_of(chunk.name):
            believed = policy.believe(ArmEvidence(1, policy.prior_mean, 0, 0.0, 0.0))
        if type(believed) is not policy.belief:
            raise InvalidInput(
                f"{policy.name!r} names {policy.belief.__name__} as its belief and believes "
                f"{type(believed).__name__}: set belief to what believe returns",
                argument="policy",
            )
    return kernel(type(policy), chunk.loop.play_runs), policy.numbers()
