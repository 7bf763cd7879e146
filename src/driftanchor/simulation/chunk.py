"""Chunk: some runs of one policy, and how an engine plays them."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftanchor.compiled import kernels, rules
from driftanchor.compiled.overloads import parameters_of
from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.noise import wrapping
from driftanchor.errors import InvalidInput, shown
from driftanchor.policies.base import Policy, caches_beliefs, errors_of
from driftanchor.simulation import engine, leaping
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.world import drawn_means, world_of

CHUNK_ROUNDS = 1_000_000  # rounds in a chunk: a fraction of a second, for smooth progress
Played = tuple[Floats, Ints]  # regret by (run, checkpoint), pulls by (run, arm)


class Engine(NamedTuple):
    """A way to play simulated runs.

    Attributes:
        compiled: Whether Numba compiles the loops, so that threads can share the runs.
        paired: Whether the n-th reward of an arm is the same for every policy.
        leaps: Whether the engine leaps over rounds if the policy and the bandit allow it.
    """

    compiled: bool
    paired: bool
    leaps: bool

    @property
    def is_installed(self) -> bool:
        """Whether the engine can run here: compiled engines need Numba."""
        return not self.compiled or importlib.util.find_spec("numba") is not None


ENGINES = {  # fastest first
    "events": Engine(compiled=True, paired=False, leaps=True),
    "thinned": Engine(compiled=True, paired=True, leaps=True),
    "every-round": Engine(compiled=True, paired=True, leaps=False),
    "interpreted": Engine(compiled=False, paired=True, leaps=False),
}
ENGINE_NAMES = ("auto", *ENGINES)


def fastest(*, paired: bool = False, leaps: bool = True) -> str:
    """Return the fastest installed engine that is `paired`, if asked, and leaps only if allowed."""
    return next(
        name
        for name, one in ENGINES.items()
        if one.is_installed and one.paired >= paired and one.leaps <= leaps
    )


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some runs of one policy, with everything that determines their results.

    Attributes:
        name: The policy's name in messages.
        policy: The policy.
        bandit: The bandit to simulate.
        checkpoints: The rounds after which to record regret; the last is the horizon.
        engine: The engine that plays the runs, a key of `ENGINES`.
        seed: The seed of all noise.
        first: The number of the first run.
        runs: The number of runs.
        means: Array of shape (runs, arms): the online means, if each run has its own; else `None`.
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
        """Validate the arguments of `simulate`, and return all runs of a policy as one chunk."""
        if not isinstance(bandit, Bandit):
            raise InvalidInput(f"must be a Bandit, got {shown(bandit)}", argument="bandit")
        bandit.check_policy(policy)
        horizon = check.whole(horizon, "horizon", low=1)
        runs = check.whole(runs, "runs", low=1, high=10**9)
        seed = check.whole(seed, "seed")
        rounds = rounds_to_read(checkpoints, horizon)
        chosen = check.choice(engine, "engine", ENGINE_NAMES)
        chosen = fastest() if chosen == "auto" else chosen
        return cls(name, policy, bandit, rounds, chosen, seed, 0, runs)

    @property
    def horizon(self) -> int:
        """The number of rounds in a run."""
        return int(self.checkpoints[-1])

    @property
    def is_compiled(self) -> bool:
        """Whether Numba compiles the loop."""
        return ENGINES[self.engine].compiled

    @property
    def leaps(self) -> bool:
        """Whether the engine leaps over rounds, given this policy and this bandit."""
        return ENGINES[self.engine].leaps and leaping.can_leap(type(self.policy), self.bandit)

    @property
    def rows(self) -> slice:
        """A slice that selects these runs from an array of all runs of the policy."""
        return slice(self.first, self.first + self.runs)

    def cut(self, size: int) -> Iterator[Chunk]:
        """Yield the same runs in chunks of at most `size`."""
        for done in range(0, self.runs, size):
            runs = min(size, self.runs - done)
            own = None if self.means is None else self.means[done : done + runs]
            yield dataclasses.replace(self, first=self.first + done, runs=runs, means=own)


def rounds_to_read(checkpoints: int | Sequence[int], horizon: int) -> Ints:
    """Return the rounds after which to record regret, ascending; the last is the horizon."""
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
    """Play a chunk in this thread; return its regret and pulls."""
    policy, compiled = chunk.policy, chunk.is_compiled
    world = world_of(chunk.bandit, instances_of(chunk), chunk.first)
    parameters = parameters_of(policy) if compiled else np.zeros(1)
    rounds = chunk.checkpoints.copy()  # an array from another process may be read-only
    regret = np.empty((chunk.runs, rounds.size))
    pulls = np.empty((chunk.runs, world.online.size), np.int64)
    loop, state, rule = _parts(chunk, world, parameters)
    keys = engine.keys_of(chunk.seed, policy.name)
    arguments = (rule, parameters, world, keys, chunk.first, rounds, state, regret, pulls)
    if compiled:
        loop = kernels.loop(loop, *arguments)
    hint = "; the interpreted engine shows where" if compiled else ""
    with errors_of(chunk.name, hint), wrapping():
        played = loop(*arguments)
    if not played:
        raise InvalidInput(
            f"{chunk.name!r} chose no arm: its index is NaN for every arm, or its choose returned "
            "a column that does not exist. (z.on, z.hyb and z.coin are NaN unless the class asks "
            "for them: normals = 1 or 2, uniforms = 1)",
            argument="policy",
        )
    return regret, pulls


def _parts(chunk: Chunk, world: Any, parameters: Floats) -> tuple[Any, Any, Any]:
    """Return the loop that plays a chunk, its state, and the policy's rule."""
    policy, compiled = chunk.policy, chunk.is_compiled
    if compiled:
        _check_belief(policy, chunk.name)
    if chunk.leaps:
        single = ENGINES[chunk.engine].paired
        leaping_state = leaping.allocate_leaping(world, policy, single=single)
        rule: Any = rules.law_writer(policy)
        if compiled:
            seen = leaping_state.run.evidence, 0, leaping_state.laws
            rule = kernels.rule(policy, rules.law_writer, parameters, *seen)
        return leaping.play_leaping, leaping_state, rule
    state = engine.allocate(world, policy)
    rule = rules.chooser(policy)
    if compiled:
        example = state.evidence, 1, 1, state.stream, world.relative, 0
        rule = kernels.rule(policy, rules.chooser, parameters, *example)
        if not kernels.returns_column(rule):
            raise InvalidInput(
                f"{policy.name!r} does not always choose a column: choose must return the column "
                "of an arm, a whole number",
                argument="policy",
            )
    return engine.play_every_round, state, rule


def _check_belief(policy: Policy, name: str) -> None:
    """Refuse a policy whose `believe` returns a type other than the one its class declares."""
    if caches_beliefs(type(policy)):
        with errors_of(name):
            believed = policy.believe(ArmEvidence(1, policy.prior_mean, 0, 0.0, 0.0))
        if type(believed) is not policy.belief:
            raise InvalidInput(
                f"{policy.name!r} declares belief = {policy.belief.__name__}, but believe returns "
                f"{type(believed).__name__}: set belief to the type that believe returns",
                argument="policy",
            )


def instances_of(chunk: Chunk) -> Floats | None:
    """Return the means of each run, of shape (runs, 2, arms); `None` if all runs have the same."""
    if chunk.means is not None:
        logged = np.broadcast_to(chunk.bandit.offline, chunk.means.shape)
        return np.stack([chunk.means, logged], axis=1)
    if chunk.bandit.means is None:
        return None
    compiled = chunk.is_compiled
    return drawn_means(chunk.bandit, chunk.seed, chunk.first, chunk.runs, compiled=compiled)
