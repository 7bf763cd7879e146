"""Sweep: run every policy in every cell of an experiment, and never the same twice.

What is kept is one file for each job, named by a hash of all that its numbers depend on: the
bandit, the policy, horizon, runs, checkpoints, seed, and the source code that computes them. A
sweep that was stopped continues with what is missing.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

from driftanchor.errors import InvalidInput
from driftanchor.experiments import outcome
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.job import Job, Sources
from driftanchor.experiments.outcome import Outcome, Outcomes
from driftanchor.simulation.chunk import Played, play
from driftanchor.simulation.cluster import on_cluster
from driftanchor.simulation.run import on_this_machine, threads_to_use, warn_without_numba

Progress = Callable[[str, int, int], None]
Finished = Callable[[str], None]
Key = tuple[str, str]  # cell id, policy label
Missing = dict[Path, Job]
Ran = Generator[tuple[Path, Outcome], None, None]


def jobs(experiments: Iterable[Experiment], seed: int) -> list[Job]:
    """All that has to be run."""
    return [
        Job(experiment.at(cell), cell, label, seed, 0, experiment.runs)
        for experiment in experiments
        for cell in experiment.cells
        for label in cell.policies
    ]


def more_runs(
    experiments: Iterable[Experiment],
    seed: int,
    wanted: Iterable[Key],
    outcomes: Outcomes,
    looks: int,
) -> list[Job]:
    """Further runs of the pairs wanted, as far as their experiments allow.

    The runs double, or grow faster where that is needed to reach `most_runs` at look number
    `looks`; the first runs are the first look.
    """
    pairs = set(wanted)
    return [
        Job(one.experiment, one.cell, one.label, seed, have, _next(one, have, looks) - have)
        for one in jobs(experiments, seed)
        if (key := (one.cell.id, one.label)) in pairs
        and (have := len(outcomes[key].final)) < one.experiment.most_runs
    ]


def _next(one: Job, have: int, looks: int) -> int:
    """The number of runs at the next look."""
    first, most = one.experiment.runs, one.experiment.most_runs
    growth = max(2.0, math.pow(most / first, 1.0 / (looks - 1)))
    return min(most, math.ceil(have * growth))


def run(
    todo: Sequence[Job],
    folder: Path,
    *,
    progress: Progress | None = None,
    finished: Finished | None = None,
    cluster: Any = None,
) -> dict[Key, Outcome]:
    """Run what `folder` does not hold yet, and return everything by (cell id, policy label).

    Args:
        todo: What to run, such as all `jobs` of some experiments.
        folder: Where outcomes are kept.
        progress: Called with (what runs now, cost done, cost of all that was missing).
        finished: Called with the id of each cell whose last missing policy has been run.
        cluster: Where to run it instead of here, as for `simulate`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot write to {str(folder)!r}: {error}") from error
    sources: Sources = {}
    paths = [folder / f"{job.key(sources)}.npz" for job in todo]
    kept = {path: outcome.read(path) for path in paths}
    missing: Missing = {}
    for job, path in zip(todo, paths, strict=True):
        known = kept[path]
        if known is None or not job.fits(known):
            missing.setdefault(path, job)  # cells of the same content are run once
    if any(job.is_slow for job in missing.values()):
        warn_without_numba()
    awaited = _Awaited(
        (job.cell.id, path) for job, path in zip(todo, paths, strict=True) if path in missing
    )
    with contextlib.closing(_run(missing, progress, cluster)) as ran:
        for path, found in ran:
            outcome.write(path, found)
            kept[path] = found
            for cell in awaited.closed_by(path):
                if finished is not None:
                    finished(cell)
    everything = {(job.cell.id, job.label): kept[p] for job, p in zip(todo, paths, strict=True)}
    return {key: found for key, found in everything.items() if found is not None}


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


def _run(missing: Missing, progress: Progress | None, cluster: Any) -> Ran:
    """Run jobs; each is given when its last part has come in, on a cluster in any order."""
    waiting = list(missing.items())
    came: dict[Path, list[tuple[int, Played]]] = {path: [] for path in missing}
    total, done = sum(job.cost for job in missing.values()), 0
    chunks = [job.chunk() for job in missing.values()]
    if cluster is None:
        parts = on_this_machine(chunks, threads_to_use(None))
    else:
        parts = on_cluster(cluster, play, chunks)
    with contextlib.closing(parts):
        for i, chunk, played in parts:
            path, job = waiting[i]
            came[path].append((chunk.first, played))
            done += job.cost * chunk.runs // job.runs
            if progress is not None:
                progress(job.name, done, total)
            if sum(len(regret) for _, (regret, _) in came[path]) == job.runs:
                yield path, job.outcome(came.pop(path))
