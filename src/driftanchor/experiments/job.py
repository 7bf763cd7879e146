"""Job: some runs of one policy in one cell, and a hash of all that their numbers depend on."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.compiled.kernels import code_digest, functions_of
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcome
from driftanchor.policies.base import Policy, inherits_rule
from driftanchor.simulation.chunk import ENGINES, Chunk, Played, fastest
from driftanchor.simulation.engine import play_every_round
from driftanchor.simulation.leaping import can_leap, play_leaping

Sources = dict[type[Policy], str]  # the hash of the code that plays a policy
LOOPS: Any = (play_every_round, play_leaping)
_PROCESS = secrets.token_hex(8)


@dataclass(frozen=True)
class Job:
    """Some runs of one policy in one cell.

    Attributes:
        experiment: The experiment of the cell.
        cell: The cell.
        label: The label of the policy.
        seed: The seed of all random numbers.
        first: The first of its runs.
        runs: How many runs.
    """

    experiment: Experiment
    cell: Cell
    label: str
    seed: int
    first: int
    runs: int

    @property
    def name(self) -> str:
        """What people see while it runs."""
        return f"{self.cell.id} {self.label}"

    @property
    def policy(self) -> Policy:
        """The policy to run."""
        return self.cell.policies[self.label]

    @property
    def cost(self) -> int:
        """Rounds to simulate, times arms."""
        return self.runs * self.experiment.horizon * len(self.cell.bandit.online)

    def key(self, sources: Sources | None = None) -> str:
        """A hash of everything the outcome depends on.

        Args:
            sources: A cache that jobs share: hashing the code of a policy takes long.
        """
        bandit = self.cell.bandit
        cls = type(self.policy)
        sources = {} if sources is None else sources
        if cls not in sources:
            sources[cls] = source_key(cls)
        leaps = ENGINES[self.engine].leaps and can_leap(cls, bandit)
        bounded = uses_bounds(type(self.policy)) or bandit.is_relative
        logs = {
            "offline": bandit.offline.tolist(),
            "offline_pulls": bandit.offline_pulls.tolist(),
            "bias_bound": [repr(x) for x in bandit.bias_bound.tolist()] if bounded else None,
            "relative_bound": [repr(x) for x in bandit.relative_bound.tolist()],
            "given": bandit.logs == "given",
            "bias": repr(bandit.bias),
            "exact": bandit.exact,
        }
        numbers = {
            "online": bandit.online.tolist(),
            "logs": logs if self.policy.uses_logs else None,  # one run for all cells that differ so
            "reward": bandit.reward,
            "noise": bandit.arm_noise.tolist(),
            "means": repr(bandit.means),
            "late": [bandit.delay, bandit.batch],
            "policy": self.policy.name,
            "parameters": self.policy.parameters(),
            "horizon": self.experiment.horizon,
            "runs": [self.first, self.runs],
            "curve_runs": self.curve_runs,
            "checkpoints": self.experiment.checkpoints,
            "seed": self.seed,
            "engine": self.engine if leaps else "every round",
            "source": sources[cls],
        }
        return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:24]

    @property
    def engine(self) -> str:
        """Left to us, the fastest that keeps policies paired by their rewards."""
        chosen = self.experiment.engine
        return fastest(paired=True) if chosen == "auto" else chosen

    @property
    def is_slow(self) -> bool:
        """Whether it is not compiled, and nobody asked for that."""
        return self.experiment.engine == "auto" and not ENGINES[self.engine].compiled

    @property
    def curve_runs(self) -> int:
        """Of how many of its runs whole curves are kept."""
        kept = self.experiment.kept_curves - self.first
        return min(max(kept, 0), self.runs)

    @property
    def most(self) -> float:
        """The regret of playing the worst arm throughout."""
        return float(self.cell.bandit.gaps.max() * self.experiment.horizon)

    def chunk(self) -> Chunk:
        """What there is to play."""
        whole = Chunk.all_runs(
            self.label,
            self.policy,
            self.cell.bandit,
            horizon=self.experiment.horizon,
            runs=self.runs,
            checkpoints=self.experiment.checkpoints,
            seed=self.seed,
            engine=self.engine,
        )
        return dataclasses.replace(whole, first=self.first)

    def fits(self, outcome: Outcome) -> bool:
        """Whether an outcome has the shape that this job gives."""
        arms = len(self.cell.bandit.online)
        curves = self.curve_runs, len(self.experiment.checkpoints)
        found = outcome.final.shape, outcome.curves.shape, outcome.pulls.shape
        return found == ((self.runs,), curves, (self.runs, arms))

    def outcome(self, played: Iterable[tuple[int, Played]]) -> Outcome:
        """What is kept of its parts, each with the first of its runs; they may be in any order."""
        parts = [part for _, part in sorted(played, key=lambda each: each[0])]
        regret = np.concatenate([lost for lost, _ in parts])
        pulls = np.concatenate([pulled for _, pulled in parts])
        return Outcome(regret[:, -1], regret[: self.curve_runs], pulls, self.most)


def source_key(cls: type[Policy]) -> str:
    """Return a hash of the code that plays a policy.

    If some of it may change without notice, return a key that no other process has.
    """
    properties = [x.fget for c in cls.__mro__ for x in vars(c).values() if isinstance(x, property)]
    code: Any = [*functions_of(cls, *LOOPS), *properties]
    return code_digest(code, cls) or f"{cls.__module__}.{cls.__qualname__} {_PROCESS}"


def uses_bounds(policy: type[Policy]) -> bool:
    """Return whether bias bounds may change what a policy does.

    A subclass that changes a method does not inherit that they do not.
    """
    rule = ("index", "choose", "believe", "sample")
    return policy.uses_bounds or not inherits_rule(policy, "uses_bounds", rule)
