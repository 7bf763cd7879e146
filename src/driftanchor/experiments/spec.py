"""Experiment files: TOML in, checked experiments out.

A file names its policies, its horizon and runs, and one or more sweeps. A sweep is a grid: `vary`
maps words of `Setting` to lists of values, `fixed` to one value. Every combination is a cell with
a readable id such as `fig2/offline=500/coverage=uniform`. A sweep may have a `name`, with which its
ids begin, and `parameters` for all its policies. `savings` puts cells into the figure of pulls
saved: see `SavingsRows`. `[[claim]]` says what the numbers should show: see
`driftanchor.experiments.claims`. Whatever is unknown is an error that names the file, the line, the
key and the value.
"""

from __future__ import annotations

import functools
import itertools
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from driftanchor.core import check
from driftanchor.errors import InvalidInput, UnknownName
from driftanchor.experiments import claims
from driftanchor.experiments.experiment import Experiment, SavingsRows
from driftanchor.experiments.sweep_reader import WORDS, SweepReader
from driftanchor.files import is_unicode, read_text
from driftanchor.simulation.chunk import ENGINE_NAMES

FIGURES = ("curves", "versus", "quantiles", "tradeoff")
_FILE_KEYS = (
    "title",
    "source",
    "about",
    "policies",
    "horizon",
    "runs",
    "most_runs",
    "curve_runs",
    "checkpoints",
    "engine",
    "figure",
    "savings",
    "sweep",
    "claim",
)


def paper_experiments() -> list[str]:
    """The names of the experiments inside the package, in reading order."""
    files = resources.files("driftanchor.experiments").joinpath("paper").iterdir()
    names = {file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")}
    order = ["fig1", "fig2", "fig7"]
    return [*order, *sorted(names - set(order) - {"claims"})]


def load(
    name: str,
    allow_import: bool = False,
    /,
    *,
    runs: int | None = None,
    horizon: int | None = None,
) -> Experiment:
    """An experiment of the paper by its name, or one of your own by its path.

    Args:
        name: Such as `"fig1"`, or a path ending in `.toml`.
        allow_import: As for `parse`.
        runs: Instead of the file's runs.
        horizon: Instead of the file's horizon.
    """
    if name.endswith(".toml"):
        if not is_unicode(Path(name).stem):  # it names files and links of the report
            raise InvalidInput(f"the name of {name!r} is not UTF-8: rename the file")
        return parse(read_text(name), name, allow_import=allow_import).resized(runs, horizon)
    if name not in paper_experiments():
        raise UnknownName("experiment", name, paper_experiments())
    return _of_paper(name).resized(runs, horizon)


@functools.cache
def _of_paper(name: str) -> Experiment:
    file = resources.files("driftanchor.experiments").joinpath("paper", f"{name}.toml")
    return parse(file.read_text(encoding="utf-8"), f"{name}.toml", allow_import=True)


def parse(text: str, file: str, *, allow_import: bool = False) -> Experiment:
    """The experiment that a TOML text describes.

    Args:
        text: What is in the file.
        file: Its path: its name is in messages and ids, and relative paths start from its folder.
        allow_import: Whether to import policies from modules and files that the text names, which
            runs their code. Without it, such a name is an error.
    """
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError says the line
        raise InvalidInput(f"{file}: {error}") from error
    return _Reader(text, file, allow_import=allow_import).experiment(table)


class _Reader(SweepReader):
    """Turns the table of one file into an experiment."""

    def experiment(self, table: dict[str, Any]) -> Experiment:
        self.check_keys(table, _FILE_KEYS, "key")
        horizon = self.whole(table, "horizon", 10_000)
        runs = self.whole(table, "runs", 50)
        figure = self.choice(table, "figure", FIGURES)
        sweeps = table.get("sweep", [{}])
        tables = isinstance(sweeps, list) and all(isinstance(sweep, dict) for sweep in sweeps)
        if not tables or not sweeps:
            raise self.error("sweep", sweeps, "write it as [[sweep]]")
        cells = [
            cell
            for number, sweep in enumerate(sweeps)
            for cell in self.cells(number, sweep, table.get("policies"))
        ]
        for a, b in itertools.pairwise(sorted(cell.id for cell in cells)):
            if a == b:
                raise self.error("sweep", a, "two cells have this id: vary something else")
        own = [cell.setting.horizon for cell in cells]
        longest = max(horizon if x is None else x for x in own)
        checkpoints = self._checkpoints(table.get("checkpoints", 50), longest)
        return Experiment(
            self.name,
            self.text_of(table, "title", self.name),
            self.text_of(table, "source", "beyond the paper"),
            self.text_of(table, "about", ""),
            longest,
            runs,
            max(runs, self.whole(table, "most_runs", runs)),
            self.whole(table, "curve_runs", runs) if "curve_runs" in table else None,
            None,
            checkpoints,
            self.choice(table, "engine", ENGINE_NAMES),
            figure,
            self._savings(table.get("savings", {})),
            tuple(cells),
            tuple(claims.own(table.get("claim", []), self.file, [cell.id for cell in cells])),
        )

    def _checkpoints(self, asked: Any, horizon: int) -> int | tuple[int, ...]:
        try:
            if isinstance(asked, list):
                return tuple(check.whole(t, "checkpoints", low=1, high=horizon) for t in asked)
            return check.whole(asked, "checkpoints", low=1, high=10_000)
        except InvalidInput as error:
            raise self.error("checkpoints", asked, error) from error

    def _savings(self, table: Any) -> SavingsRows:
        if not isinstance(table, dict):
            raise self.error("savings", table, 'write a table, such as { vary = ["gap"] }')
        self.check_keys(table, ("vary", "caption", "place"), "key of savings")
        vary = table.get("vary", [])
        if not isinstance(vary, list) or any(word not in WORDS for word in vary):
            raise self.error("vary", vary, "give a list of settings")
        try:
            place = check.whole(table.get("place", 0), "place")
        except InvalidInput as error:
            raise self.error("place", table["place"], error) from error
        return SavingsRows(tuple(vary), self.text_of(table, "caption", ""), place)
