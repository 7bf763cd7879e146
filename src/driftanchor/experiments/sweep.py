"""Sweep: run every policy in every cell of an experiment, and never the same twice.

What is kept is one file for each (cell, policy), named by a hash of all that its numbers depend
on: the bandit, the policy, horizon, runs, checkpoints, seed, and the source code that computes
them. A sweep that was stopped goes on with what is missing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.files import write_whole
from driftanchor.policies.base import Policy
from driftanchor.simulation.chunk import Chunk, play
from driftanchor.simulation.cluster import on_cluster
from driftanchor.simulation.engines import ENGINES, fastest
from driftanchor.simulation.engines.compiled.digest import source_key
from driftanchor.simulation.run import simulate, warn_without_numba

Progress = Callable[[str, int, int], None]
Finished = Callable[[str], None]
_DAMAGE = (zipfile.BadZipFile, zlib.error)  # what reading a file with wrong bytes raises, and more


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one policy did in one cell.

    Attributes:
        final: Regret at the horizon, of every run.
        curves: Regret at the checkpoints, of the first runs, (run, checkpoint).
        pulls: Pulls of each arm at the horizon, (run, arm).
    """

    final: Floats
    curves: Floats
    pulls: Ints


Outcomes = Mapping[tuple[str, str], Outcome]


@dataclass(frozen=True)
class Job:
    """One policy in one cell."""

    experiment: Experiment
    cell: Cell
    label: str
    seed: int

    @property
    def name(self) -> str:
        """What people see while it runs."""
        return f"{self.cell.id} {self.label}"

    @property
    def policy(self) -> Policy:
        """The policy to run."""
        return self.cell.policies[self.label]

    @property
    def rounds(self) -> int:
        """Rounds to simulate, times arms: what it costs."""
        return self.experiment.runs * self.experiment.horizon * len(self.cell.bandit.online)

    def key(self) -> str:
        """A hash of everything the outcome depends on."""
        bandit = self.cell.bandit
        loop = ENGINES[self.engine].loop_for(type(self.policy), bandit)
        logs = {
            "offline": bandit.offline.tolist(),
            "offline_pulls": bandit.offline_pulls.tolist(),
            "bias_bound": [repr(x) for x in bandit.bias_bound.tolist()],
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
            "runs": self.experiment.runs,
            "curve_runs": self.experiment.curve_runs,
            "checkpoints": self.experiment.checkpoints,
            "seed": self.seed,
            "loop": loop.name,
            "source": source_key(type(self.policy), loop.play_runs),
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

    def run(self, progress: Callable[[int, int], None] | None = None) -> Outcome:
        """Simulate it, here."""
        result = simulate(
            {self.label: self.policy}, self.cell.bandit, progress=progress, **self._effort()
        )
        return self.outcome(result.regret[0], result.pulls[0])

    def chunk(self) -> Chunk:
        """What there is to play, for a cluster."""
        return Chunk.all_runs(self.label, self.policy, self.cell.bandit, **self._effort())

    def outcome(self, regret: Floats, pulls: Ints) -> Outcome:
        """What is kept of its regret by (run, checkpoint) and its pulls."""
        return Outcome(regret[:, -1], regret[: self.experiment.curve_runs], pulls)

    def _effort(self) -> dict[str, Any]:
        return {
            "horizon": self.experiment.horizon,
            "runs": self.experiment.runs,
            "checkpoints": self.experiment.checkpoints,
            "seed": self.seed,
            "engine": self.engine,
        }


Missing = dict[Path, Job]
Report = Callable[[Job, int], None]
Ran = Generator[tuple[Path, Outcome], None, None]


def jobs(experiments: list[Experiment], seed: int) -> Iterator[Job]:
    """All that has to be run."""
    for experiment in experiments:
        for cell in experiment.cells:
            for label in cell.policies:
                yield Job(experiment.at(cell), cell, label, seed)


def run(
    experiments: list[Experiment],
    folder: Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    finished: Finished | None = None,
    cluster: Any = None,
) -> dict[tuple[str, str], Outcome]:
    """Run what `folder` does not hold yet, and return everything by (cell id, policy label).

    Args:
        experiments: What to run.
        folder: Where outcomes are kept.
        seed: The seed of all random numbers.
        progress: Called with (what runs now, cost done, cost of all that was missing).
        finished: Called with the id of each cell whose last missing policy has been run.
        cluster: Where to run it instead of here, as for `simulate`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot write to {str(folder)!r}: {error}") from error
    todo = [(job, folder / f"{job.key()}.npz") for job in jobs(experiments, seed)]
    kept = {path: _read(path) for _, path in todo}
    missing: Missing = {}
    for job, path in todo:
        if kept[path] is None:
            missing.setdefault(path, job)  # cells of the same content are run once
    total = sum(job.rounds for job in missing.values())
    if any(job.is_slow for job in missing.values()):
        warn_without_numba()

    def report(job: Job, done: int) -> None:
        if progress is not None:
            progress(job.name, done, total)

    ran = _here(missing, report) if cluster is None else _there(missing, report, cluster)
    awaited = _Awaited((job.cell.id, path) for job, path in todo if path in missing)
    with contextlib.closing(ran):
        for path, outcome in ran:
            _write(path, outcome)
            kept[path] = outcome
            for cell in awaited.closed_by(path):
                if finished is not None:
                    finished(cell)
    found = {(job.cell.id, job.label): kept[path] for job, path in todo}
    return {key: outcome for key, outcome in found.items() if outcome is not None}


class _Awaited:
    """The outcomes that cells still wait for; cells of the same content wait for the same one."""

    def __init__(self, pairs: Iterable[tuple[str, Path]]) -> None:
        self.cells: dict[Path, list[str]] = {}
        self.left: Counter[str] = Counter()
        for cell, path in dict.fromkeys(pairs):
            self.cells.setdefault(path, []).append(cell)
            self.left[cell] += 1

    def closed_by(self, path: Path) -> list[str]:
        """The cells for which this was the last outcome."""
        self.left.subtract(self.cells[path])
        return [cell for cell in self.cells[path] if not self.left[cell]]


def _here(missing: Missing, report: Report) -> Ran:
    """Run jobs one after the other."""
    done = 0
    for path, job in missing.items():
        yield path, job.run(functools.partial(_within, report, job, done))
        done += job.rounds
        report(job, done)


def _within(report: Report, job: Job, before: int, runs: int, of: int) -> None:
    report(job, before + job.rounds * runs // of)


def _there(missing: Missing, report: Report, cluster: Any) -> Ran:
    """Run all jobs at once on a cluster; each is given when its last chunk has come in."""
    waiting = list(missing.items())
    came: dict[Path, list[tuple[int, Floats, Ints]]] = {path: [] for path in missing}
    done = 0
    played = on_cluster(cluster, play, [job.chunk() for job in missing.values()])
    with contextlib.closing(played):
        for i, chunk, (regret, pulls) in played:
            path, job = waiting[i]
            came[path].append((chunk.first, regret, pulls))
            done += job.rounds * chunk.runs // job.experiment.runs
            if sum(len(rows) for _, rows, _ in came[path]) == job.experiment.runs:
                _, curves, counts = zip(*sorted(came.pop(path), key=lambda x: x[0]), strict=True)
                yield path, job.outcome(np.concatenate(curves), np.concatenate(counts))
            report(job, done)


def _write(path: Path, outcome: Outcome) -> None:
    with write_whole(path) as file, file.open("wb") as out:
        pulls = outcome.pulls.astype(np.min_scalar_type(int(outcome.pulls.max(initial=0))))
        key = np.array(path.stem)
        np.savez_compressed(out, key=key, final=outcome.final, curves=outcome.curves, pulls=pulls)


def _read(path: Path) -> Outcome | None:
    """A kept outcome; `None` when there is none, or its file was damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            pulls: Ints = kept["pulls"].astype(np.int64)
            outcome = Outcome(kept["final"], kept["curves"], pulls)
            mine = str(kept["key"]) == path.stem and bool(np.isfinite(outcome.final).all())
            return outcome if mine else None
    except (OSError, EOFError, LookupError, RuntimeError, TypeError, ValueError, *_DAMAGE):
        return None
