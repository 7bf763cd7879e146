"""Reproduce: run experiments, judge the claims, and leave everything in one folder."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from driftanchor.core import check
from driftanchor.errors import InvalidInput, require
from driftanchor.experiments import (
    claims,
    figures,
    manifest,
    report,
    report_html,
    report_markdown,
    rows,
    saved,
    spec,
    style,
    sweep,
)
from driftanchor.experiments.panels import Drawing
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.experiments.spec import Experiment
from driftanchor.files import write_whole

QUICK_RUNS = 6
QUICK_HORIZON = 400
REPORT = "report.html"
_TAKEN = (rows.SUMMARY, saved.NAME)  # names of files that are no experiment's


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        names: Experiments of the paper, or files of your own; none for all of the paper's.
        runs: Instead of the files' runs.
        horizon: Instead of the files' horizons.
        seed: Of all noise.
        only: Patterns; a cell is run when one of them fits its id. None for all cells.
        quick: A small size that shows that everything works, and nothing else.
    """

    names: Sequence[str] = ()
    runs: int | None = None
    horizon: int | None = None
    seed: int = 0
    only: Sequence[str] = ()
    quick: bool = False

    def experiments(self) -> list[Experiment]:
        """The experiments, at the size asked for and with the cells asked for."""
        runs, horizon = self.runs, self.horizon
        if self.quick:
            runs, horizon = runs or QUICK_RUNS, horizon or QUICK_HORIZON
        found = [spec.load(name, runs=runs, horizon=horizon) for name in self._names()]
        names = [experiment.name for experiment in found]
        for name in names:
            if names.count(name) > 1 or name in _TAKEN:
                why = "is given twice" if names.count(name) > 1 else "is taken"
                raise InvalidInput(f"experiment name {name!r} {why}: name the file differently")
        return self._chosen(found)

    def changes(self, experiments: Sequence[Experiment]) -> str:
        """How the size differs from the files', in words; empty when it does not."""
        files = {e.name: e for e in map(spec.load, self._names())}
        pairs = [(files[e.name], e) for e in experiments]
        if all((a.runs, a.horizon) == (b.runs, b.horizon) for a, b in pairs):
            return ""
        smaller = any(b.runs < a.runs or b.horizon < a.horizon for a, b in pairs)
        runs = _range([e.runs for e in experiments])
        rounds = _range([e.horizon for e in experiments])
        return f"{'reduced' if smaller else 'changed'}: {runs} runs × {rounds} rounds"

    def _names(self) -> list[str]:
        return list(dict.fromkeys(self.names)) or spec.paper_experiments()

    def _chosen(self, found: list[Experiment]) -> list[Experiment]:
        ids = [cell.id for experiment in found for cell in experiment.cells]
        for pattern in self.only:
            if not fnmatch.filter(ids, pattern):
                raise InvalidInput(f"no cell fits {pattern!r}: cells are such as {ids[0]!r}")
        if not self.only:
            return found
        chosen = []
        for experiment in found:
            cells = [c for c in experiment.cells if any(_fits(c.id, p) for p in self.only)]
            if cells:
                chosen.append(dataclasses.replace(experiment, cells=tuple(cells)))
        return chosen


def run(
    plan: Plan, out: Path, progress: sweep.Progress | None = None, cluster: Any = None
) -> Reproduction:
    """Run what `out` does not hold yet, here or on a cluster, and judge the claims about it."""
    check.whole(plan.seed, "seed")
    for name in ("runs", "horizon"):
        if getattr(plan, name) is not None:
            check.whole(getattr(plan, name), name, low=1)
    require("matplotlib", extra="plot", why="drawing figures")  # now, not after the long run
    experiments = plan.experiments()
    outcomes = sweep.run(
        experiments, out / "cells", seed=plan.seed, progress=progress, cluster=cluster
    )
    paper = tuple(e.name for e in experiments if e.name in plan.names or not plan.names)
    told = claims.paper_claims() if paper else []
    measured = {key: x for key, x in outcomes.items() if key[0].partition("/")[0] in paper}
    judged = claims.judge(told, measured, _all_cells())
    done = {judgement.claim.id for judgement in judged}
    return Reproduction(
        tuple(experiments),
        paper,
        outcomes,
        tuple(judged),
        tuple(claim for claim in told if claim.id not in done),
        plan.seed,
        plan.quick,
        plan.changes(experiments),
    )


def write(found: Reproduction, out: Path) -> Path:
    """Write tables, figures, claims, both reports and the manifest; returns the HTML report."""
    try:
        for folder in (out / "figures", out / "results"):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot write to {str(out)!r}: {error}") from error
    files = rows.write(found, out / "results")
    drawings, images = _draw(found, out / "figures")
    files += images
    content = report.build(found, drawings)
    texts = {
        "claims.json": json.dumps(_claims(found), indent=2, allow_nan=False) + "\n",
        "report.md": report_markdown.render(content),
        REPORT: report_html.render(content, out / "figures"),
    }
    for name, text in texts.items():
        files.append(out / name)
        with write_whole(out / name) as scratch:
            scratch.write_text(text, encoding="utf-8")
    manifest.write(found, files, out / "manifest.json")
    return out / REPORT


def _draw(found: Reproduction, folder: Path) -> tuple[dict[str, Drawing], list[Path]]:
    """Every figure with its words, and the files it was saved to."""
    images = []
    with style.sheet():
        drawings = [figures.draw(e, found.outcomes) for e in found.experiments]
        theory = saved.draw(found.experiments, found.outcomes)
        drawings += [theory] if theory is not None else []
        for drawing in drawings:
            images += style.save(drawing.figure, folder, drawing.name)
    return {drawing.name: drawing for drawing in drawings}, images


def _claims(found: Reproduction) -> dict[str, object]:
    return {
        "claims": found.claims(),
        "left_out": [claim.id for claim in found.left_out],
        "seed": found.seed,
        "quick": found.quick,
        "changes": found.changes,
    }


def _all_cells() -> list[str]:
    return [cell.id for name in spec.paper_experiments() for cell in spec.load(name).cells]


def _fits(cell: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(cell, pattern)


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
