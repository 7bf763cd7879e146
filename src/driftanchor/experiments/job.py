"""Job: some runs of one policy in one cell, and a hash of all that their numbers depend on."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.compiled.digest import source_key
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcome
from driftanchor.policies.base import Policy
from driftanchor.simulation.chunk import Chunk, Played
from driftanchor.simulation.engines import ENGINES, fastest
from driftanchor.simulation.engines.engine import PlayRuns

Sources = dict[tuple[type[Policy], PlayRuns], str]  # the keys of the code that plays policies


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
            sources: What jobs share that are asked one after the other: to read the source code
                of a policy takes long, and it is the same for all of them.
        """
        bandit = self.cell.bandit
        loop = ENGINES[self.engine].loop_for(type(self.policy), bandit)
        sources = {} if sources is None else sources
        made_of = type(self.policy), loop.play_runs
        if made_of not in sources:
            sources[made_of] = source_key(*made_of)
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
            "loop": loop.name,
            "source": sources[made_of],
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


def uses_bounds(policy: type[Policy]) -> bool:
    """Whether bias bounds may change what a policy does.

    A subclass that changes a method does not inherit that they do not.
    """
    home: Any = next(cls for cls in policy.__mro__ if "uses_bounds" in vars(cls))
    rule = ("index", "choose", "believe", "sample")
    return home.uses_bounds or any(getattr(home, x) is not getattr(policy, x) for x in rule)
