"""Selection: which experiments to run, at which size, and which of their cells."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Sequence

from driftanchor.errors import InvalidInput
from driftanchor.experiments import claims, csv_export, spec
from driftanchor.experiments.claims import Claim
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures import pulls_saved
from driftanchor.files import read_text

QUICK_RUNS = 6
QUICK_HORIZON = 400
_TAKEN = (csv_export.SUMMARY, pulls_saved.NAME)  # names of files that belong to no experiment


@dataclasses.dataclass(frozen=True)
class Selection:
    """What to run.

    Attributes:
        names: Experiments of the paper, or files of your own; none for all of the paper's.
        runs: Replaces the files' runs.
        horizon: Replaces the files' horizons.
        seed: The seed of all random numbers.
        only: Patterns. A cell is run when its id matches one of them; none for all cells.
        quick: A small size, which shows that everything works and nothing else.
        curve_runs: Draw curves from this many of the first runs; `None` for all runs.
        allow_import: Whether files may import policies from modules and files that they name.
        claims: A file with claims of the user's, beside those in the files of experiments.
    """

    names: Sequence[str] = ()
    runs: int | None = None
    horizon: int | None = None
    seed: int = 0
    only: Sequence[str] = ()
    quick: bool = False
    curve_runs: int | None = None
    allow_import: bool = False
    claims: str | None = None

    def load(self) -> list[Experiment]:
        """The experiments as their files say."""
        wanted = dict.fromkeys(self.names or spec.paper_experiments())
        files = [spec.load(name, self.allow_import) for name in wanted]
        names = [experiment.name for experiment in files]
        for name in names:
            if names.count(name) > 1 or name in _TAKEN:
                why = "is given twice" if names.count(name) > 1 else "is taken"
                raise InvalidInput(f"experiment name {name!r} {why}: name the file differently")
        return files

    def own_claims(self, files: Sequence[Experiment]) -> list[Claim]:
        """What the user claims, about cells of the files or of the paper."""
        own = [claim for experiment in files for claim in experiment.claims]
        if self.claims is not None:
            own += claims.parse_own(read_text(self.claims), self.claims)
        if own:
            loaded = [*map(spec.load, spec.paper_experiments()), *files]
            claims.check_names(own, {c.id: [*c.policies] for e in loaded for c in e.cells})
        return own

    def apply(self, files: Sequence[Experiment]) -> list[Experiment]:
        """The experiments at the size asked for, with the cells asked for."""
        runs, horizon = self.runs, self.horizon
        if self.quick:
            runs, horizon = runs or QUICK_RUNS, horizon or QUICK_HORIZON
        sized = [
            dataclasses.replace(experiment.resized(runs, horizon), drawn_runs=self.curve_runs)
            for experiment in files
        ]
        ids = [cell.id for experiment in sized for cell in experiment.cells]
        for pattern in self.only:
            if not fnmatch.filter(ids, pattern):
                raise InvalidInput(f"no cell fits {pattern!r}: cells are such as {ids[0]!r}")
        if not self.only:
            return sized
        chosen = [dataclasses.replace(e, cells=self._matching(e)) for e in sized]
        return [experiment for experiment in chosen if experiment.cells]

    def is_of_paper(self, experiment: Experiment) -> bool:
        """Whether an experiment is the paper's, and not a file of the same name."""
        return not self.names or experiment.name in self.names

    def _matching(self, experiment: Experiment) -> tuple[Cell, ...]:
        return tuple(
            cell
            for cell in experiment.cells
            if any(fnmatch.fnmatchcase(cell.id, pattern) for pattern in self.only)
        )


def changes(files: Sequence[Experiment], experiments: Sequence[Experiment]) -> str:
    """How the size differs from the files', in words; empty when it does not."""
    as_filed = {experiment.name: experiment for experiment in files}
    pairs = [(as_filed[experiment.name], experiment) for experiment in experiments]
    if all((a.runs, a.horizons) == (b.runs, b.horizons) for a, b in pairs):
        return ""
    smaller = any(b.runs < a.runs or b.horizons[-1] < a.horizons[-1] for a, b in pairs)
    runs = _range([experiment.runs for experiment in experiments])
    rounds = _range([horizon for experiment in experiments for horizon in experiment.horizons])
    return f"{'reduced' if smaller else 'changed'}: {runs} runs × {rounds} rounds"


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"
