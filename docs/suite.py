"""The suite of mean against tail, in full: several seeds, and beside what was measured before."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import render

from driftanchor.experiments import figures, spec, style, sweep, tail
from driftanchor.experiments.spec import Cell, Experiment
from driftanchor.experiments.sweep import Outcome, Outcomes
from driftanchor.policies.base import Policy
from driftanchor.simulate.result import standard_error

SEEDS = 3
LONG, LONG_SHARE = 100_000, 0.5  # rounds, and runs of them for each run of the suite
SHOWN = ("ts", "anchor-ts", "guarded-anchor-ts", "guarded, V proved", "guarded, first form")
FIRST, FIRST_PROVED = "guarded, first form", "guarded, first form, eps=0"
# Cells that are also run for so long.
LONG_CELLS = (
    "no logs/arms=10",
    "no logs/gap=0.5",
    "no logs/shape=ladder",
    "no logs/reward=bernoulli/base=0.5",
    "no logs of the best arm/coverage=0,0.1112*",
    "logs that mislead, V right/coverage=uniform",
    "logs that mislead, V = 0/coverage=optimal",
)
# A setting of the first study that the suite has with another bias.
OTHER_COINS = """
policies = [
  "anchor-ts",
  { label = "guarded, first form", policy = "guarded-anchor-ts", form = "separate", budget = 0.0 },
]
engine = "events"
checkpoints = [10_000]
[[sweep]]
name = "logs that mislead by 0.1 and 0.05, V right"
fixed = { delta = 0.1, other_bias = 0.05, base = 0.2, gap = 0.1 }
vary.reward = ["bernoulli"]
parameters = { noise = 0.5 }
"""
# Mean regret ± standard error of the rule's first study: 10,000 rounds, 600 to 2,000 runs.
FIRST_STUDY: dict[str, dict[str, tuple[float, float]]] = {
    "no logs/arms=10": {"ts": (255, 2), "anchor-ts": (214, 9), FIRST: (188, 1)},
    "no logs/arms=50": {"ts": (1295, 10), "anchor-ts": (749, 24), FIRST: (792, 8)},
    "no logs/gap=0.5": {"ts": (20.7, 0.3), "anchor-ts": (43.5, 6.6), FIRST: (21.7, 0.2)},
    "no logs/gap=0.1": {"ts": (445, 4), "anchor-ts": (344, 7), FIRST: (314, 4)},
    "no logs/shape=ladder": {"ts": (229, 2), "anchor-ts": (226, 7), FIRST: (189, 2)},
    "no logs/reward=bernoulli/base=0.5": {
        "ts": (20.9, 0.7),
        "anchor-ts": (70.1, 4.5),
        FIRST: (17.7, 0.3),
    },
    "no logs/reward=bernoulli/base=0.2": {
        "ts": (160, 1),
        "anchor-ts": (88.7, 1.8),
        FIRST: (110, 1),
    },
    "logs that fit/coverage=uniform": {
        "anchor-ts": (28.0, 2.1),
        FIRST: (57.3, 0.7),
        FIRST_PROVED: (39.3, 0.7),
    },
    "logs that fit/coverage=optimal": {
        "anchor-ts": (63.2, 1.5),
        FIRST: (102, 1),
        FIRST_PROVED: (98.7, 1.7),
    },
    "logs that fit/coverage=suboptimal": {
        "anchor-ts": (74.1, 3.2),
        FIRST: (102, 1),
        FIRST_PROVED: (97.1, 1.5),
    },
    "logs that fit/gap=0.1": {"anchor-ts": (202, 6), FIRST: (231, 6), FIRST_PROVED: (220, 5)},
    "logs that fit/shape=ladder": {
        "anchor-ts": (49.5, 3.5),
        FIRST: (81.8, 3.2),
        FIRST_PROVED: (65.5, 3.3),
    },
    "logs that fit/gap=0.5": {
        "anchor-ts": (3.7, 0.6),
        FIRST: (6.1, 0.2),
        FIRST_PROVED: (3.0, 0.1),
    },
    "logs that fit/reward=bernoulli": {
        "anchor-ts": (23.8, 0.7),
        FIRST: (40.9, 0.7),
        FIRST_PROVED: (32.1, 0.6),
    },
    "no logs of the best arm/coverage=0,1": {
        "anchor-ts": (31.5, 6.5),
        FIRST: (6.4, 0.2),
        FIRST_PROVED: (3.8, 0.1),
    },
    "no logs of the best arm/coverage=0,0.1112*": {
        "anchor-ts": (165, 10),
        FIRST: (69.4, 1.6),
        FIRST_PROVED: (52.3, 1.5),
    },
    "logs that mislead, V right/coverage=uniform": {
        "anchor-ts": (115, 2),
        FIRST: (138, 1),
        FIRST_PROVED: (134, 1),
    },
    "logs that mislead, V right/coverage=optimal": {
        "anchor-ts": (116, 2),
        FIRST: (159, 1),
        FIRST_PROVED: (156, 1),
    },
    "logs that mislead, V right/coverage=suboptimal": {
        "anchor-ts": (132, 3),
        FIRST: (158, 1),
        FIRST_PROVED: (157, 1),
    },
    "logs that mislead, V right/bias_bound=1": {
        "anchor-ts": (241, 3),
        FIRST: (267, 2),
        FIRST_PROVED: (269, 2),
    },
    "logs that mislead by 0.1 and 0.05, V right/reward=bernoulli": {
        "anchor-ts": (102, 1),
        FIRST: (115, 1),
        FIRST_PROVED: (114, 1),
    },
    "logs that mislead, V = 0/coverage=uniform": {
        "anchor-ts": (366, 13),
        FIRST: (162, 6),
        FIRST_PROVED: (241, 10),
    },
    "logs that mislead, V = 0/coverage=optimal": {
        "anchor-ts": (596, 17),
        FIRST: (250, 9),
        FIRST_PROVED: (424, 14),
    },
    "logs that mislead, V = 0/coverage=suboptimal": {
        "anchor-ts": (255, 15),
        FIRST: (172, 7),
        FIRST_PROVED: (168, 6),
    },
}


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The tables of the page, and its figure."""
    each = -(-runs // SEEDS)
    seeds = [seed + i for i in range(SEEDS)]
    suite = spec.load("suite", runs=each)
    others = spec.parse(OTHER_COINS, "suite.toml", runs=each)
    study = _with_first_study(dataclasses.replace(suite, cells=(*suite.cells, *others.cells)))
    outcomes = _pooled(study, seeds, progress)
    whole = dataclasses.replace(suite, runs=each * SEEDS)
    with style.sheet(), TemporaryDirectory() as folder:
        style.save(figures.draw(whole, outcomes).figure, Path(folder), "suite")
        (render.DOCS / "suite.svg").write_bytes((Path(folder) / "suite.svg").read_bytes())
    long = spec.load("suite", runs=max(2, int(each * LONG_SHARE)), horizon=LONG)
    cells = [
        dataclasses.replace(cell, policies={label: cell.policies[label] for label in SHOWN})
        for cell in (_cell(long, name) for name in LONG_CELLS)
    ]
    long = dataclasses.replace(long, cells=tuple(cells))
    return {
        "suite": _table(whole, outcomes),
        "suite-long": _table(long, _pooled(long, seeds, progress)),
        "suite-before": _beside(study, outcomes),
    }


def _with_first_study(suite: Experiment) -> Experiment:
    """With the rule of the first study told that V is proved, where the study had that."""
    wanted = {_cell(suite, name).id for name, told in FIRST_STUDY.items() if FIRST_PROVED in told}
    cells = [
        dataclasses.replace(cell, policies={**cell.policies, FIRST_PROVED: _proved(cell)})
        if cell.id in wanted
        else cell
        for cell in suite.cells
    ]
    return dataclasses.replace(suite, cells=tuple(cells))


def _proved(cell: Cell) -> Policy:
    return dataclasses.replace(cell.policies[FIRST], eps=0.0)  # type: ignore[call-arg]


def _pooled(experiment: Experiment, seeds: list[int], progress: Callable[[str], None]) -> Outcomes:
    """The runs of all seeds together."""
    found: list[Outcomes] = []
    with TemporaryDirectory() as folder:
        for seed in seeds:
            progress(f"suite: {experiment.horizon:,} rounds, seed {seed}")
            found.append(sweep.run([experiment], Path(folder), seed=seed))
    return {
        key: Outcome(
            *(
                np.concatenate([getattr(part[key], name) for part in found])
                for name in ("final", "curves", "pulls")
            )
        )
        for key in found[0]
    }


def _table(experiment: Experiment, outcomes: Outcomes) -> render.Block:
    """Mean, tail and stuck runs of the policies shown, in every cell."""
    rows = []
    for cell in experiment.cells:
        for label in SHOWN:
            final = outcomes[cell.id, label].final
            median, q90, q99 = np.quantile(final, [0.5, 0.9, 0.99])
            numbers = {
                "mean": final.mean(),
                "se": standard_error(final),
                "median": median,
                "q90": q90,
                "q99": q99,
                "max": final.max(),
                **tail.statistics(final, cell.bandit.gaps, experiment.horizon),
            }
            told = {name: round(float(x), 5) for name, x in numbers.items()}
            rows.append({"cell": _short(cell), "policy": label, **told})
    runs = len(next(iter(outcomes.values())).final)
    return {"kind": "suite", "runs": runs, "horizon": experiment.horizon, "rows": rows}


def _beside(experiment: Experiment, outcomes: Outcomes) -> render.Block:
    """Ours beside the first study, in standard errors of the difference."""
    rows = []
    for name, told in FIRST_STUDY.items():
        cell = _cell(experiment, name)
        for label, (mean, se) in told.items():
            final = outcomes[cell.id, label].final
            ours, error = float(final.mean()), float(standard_error(final))
            z = (ours - mean) / math.hypot(se, error)
            row = {"cell": _short(cell), "policy": label, "mean": round(ours, 3)}
            rows.append(row | {"se": round(error, 3), "before": [mean, se], "z": round(z, 2)})
    return {"kind": "beside", "rows": rows}


def _cell(experiment: Experiment, name: str) -> Cell:
    """The cell with this id, or with an id that begins so where the name ends in a star."""
    wanted = f"{experiment.name}/{name}"
    found = [
        cell
        for cell in experiment.cells
        if cell.id == wanted or (wanted[-1] == "*" and cell.id.startswith(wanted[:-1]))
    ]
    (cell,) = found
    return cell


def _short(cell: Cell) -> str:
    """The cell's name without the experiment's, and no long list of shares."""
    name = cell.id.partition("/")[2]
    return name if len(name) < 60 else name.partition("=")[0].rpartition("/")[0] + ", ten arms"
