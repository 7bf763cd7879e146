"""Experiment files: TOML in, checked experiments out.

A file names its policies, its horizon and runs, and one or more sweeps. A sweep is a grid: `vary`
maps words of `Setting` to lists of values, `fixed` to one value. Every combination is a cell with
a readable id such as `fig2/offline=500/coverage=uniform`. A sweep may have a `name`, with which its
ids begin, and `parameters` for all its policies. `savings` puts cells into the figure of pulls
saved: see `SavingsRows`. Whatever is unknown is an error that names the file, the line, the key and
the value.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from driftanchor.core import check
from driftanchor.errors import DriftanchorError, InvalidInput, UnknownName
from driftanchor.experiments.experiment import Cell, Experiment, SavingsRows
from driftanchor.experiments.setting import Setting, unusable
from driftanchor.experiments.toml_lines import line_of
from driftanchor.policies import make
from driftanchor.policies.base import Policy
from driftanchor.simulation.engines import ENGINE_NAMES

MOST_CELLS = 10_000  # of one sweep
FIGURES = ("curves", "versus", "quantiles", "tradeoff")
_WORDS = tuple(field.name for field in dataclasses.fields(Setting))
_FILE_KEYS = (
    "title",
    "source",
    "about",
    "policies",
    "horizon",
    "runs",
    "curve_runs",
    "checkpoints",
    "engine",
    "figure",
    "savings",
    "sweep",
)


def paper_experiments() -> list[str]:
    """The names of the experiments inside the package, in reading order."""
    files = resources.files("driftanchor.experiments").joinpath("paper").iterdir()
    names = {file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")}
    order = ["fig1", "fig2", "fig7"]
    return [*order, *sorted(names - set(order) - {"claims"})]


def load(name: str, *, runs: int | None = None, horizon: int | None = None) -> Experiment:
    """An experiment of the paper by its name, or one of your own by its path.

    Args:
        name: Such as `"fig1"`, or a path ending in `.toml`.
        runs: Instead of the file's runs.
        horizon: Instead of the file's horizon.
    """
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InvalidInput(f"cannot read {name!r}: {error}") from error
        return parse(text, name).resized(runs, horizon)
    if name not in paper_experiments():
        raise UnknownName("experiment", name, paper_experiments())
    return _of_paper(name).resized(runs, horizon)


@functools.cache
def _of_paper(name: str) -> Experiment:
    file = resources.files("driftanchor.experiments").joinpath("paper", f"{name}.toml")
    return parse(file.read_text(encoding="utf-8"), f"{name}.toml")


def parse(text: str, file: str) -> Experiment:
    """The experiment that a TOML text describes; `file` is its name in messages and ids."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError says the line
        raise InvalidInput(f"{file}: {error}") from error
    return _Reader(text, file).experiment(table)


class _Reader:
    """Turns the table of one file into an experiment; its errors name the line."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.name = Path(file).stem

    def experiment(self, table: dict[str, Any]) -> Experiment:
        self._known(table, _FILE_KEYS, "key")
        horizon = self._whole(table, "horizon", 10_000)
        runs = self._whole(table, "runs", 50)
        figure = self._choice(table, "figure", FIGURES)
        checkpoints = self._checkpoints(table.get("checkpoints", 50), horizon)
        sweeps = table.get("sweep", [{}])
        tables = isinstance(sweeps, list) and all(isinstance(sweep, dict) for sweep in sweeps)
        if not tables or not sweeps:
            raise self._error("sweep", sweeps, "write it as [[sweep]]")
        cells = [
            cell
            for number, sweep in enumerate(sweeps)
            for cell in self._cells(number, sweep, table.get("policies"))
        ]
        for a, b in itertools.pairwise(sorted(cell.id for cell in cells)):
            if a == b:
                raise self._error("sweep", a, "two cells have this id: vary something else")
        return Experiment(
            self.name,
            self._text(table, "title", self.name),
            self._text(table, "source", "beyond the paper"),
            self._text(table, "about", ""),
            horizon,
            runs,
            self._whole(table, "curve_runs", runs) if "curve_runs" in table else None,
            checkpoints,
            self._choice(table, "engine", ENGINE_NAMES),
            figure,
            self._savings(table.get("savings", {})),
            tuple(cells),
        )

    def _cells(self, number: int, sweep: dict[str, Any], shared: Any) -> list[Cell]:
        self._known(sweep, ("name", "vary", "fixed", "policies", "parameters"), "key of a sweep")
        name, parameters = self._text(sweep, "name", ""), sweep.get("parameters", {})
        if not isinstance(parameters, dict):
            raise self._error("parameters", parameters, "write a table, such as { noise = 0.5 }")
        fixed, vary = sweep.get("fixed", {}), sweep.get("vary", {})
        for word, part in (("fixed", fixed), ("vary", vary)):
            if not isinstance(part, dict):
                raise self._error(word, part, "write a table of settings")
            self._known(part, _WORDS, "setting")
        for word, values in vary.items():
            if not isinstance(values, list) or not values:
                raise self._error(word, values, "under vary, give a list of values")
        if math.prod(len(values) for values in vary.values()) > MOST_CELLS:
            raise self._error("vary", list(vary), f"that is more than {MOST_CELLS:,} cells")
        policies = self._policies(sweep.get("policies", shared), parameters)
        return [
            self._cell(number, name, fixed, dict(zip(vary, values, strict=True)), policies)
            for values in itertools.product(*vary.values())
        ]

    def _cell(
        self,
        number: int,
        group: str,
        fixed: dict[str, Any],
        varied: dict[str, Any],
        policies: dict[str, Policy],
    ) -> Cell:
        words = {**fixed, **varied}
        for word, value in words.items():
            why = unusable(word, value)
            if why:
                raise self._error(word, value, why)
        try:
            setting = Setting(**words)
            bandit = setting.bandit()
        except (DriftanchorError, TypeError, OverflowError) as error:
            named = [word for word in words if word in str(error)]
            word = min(named, key=str(error).find) if named else next(iter(words), "sweep")
            raise self._error(word, words.get(word), error) from error
        path = [f"{word}={_short(value)}" for word, value in varied.items()]
        names = [self.name, group] if group else [self.name]
        return Cell("/".join([*names, *path]), number, group, varied, setting, bandit, policies)

    def _policies(self, entries: Any, shared: dict[str, Any]) -> dict[str, Policy]:
        if not isinstance(entries, list) or not entries:
            raise self._error("policies", entries, "give a list of policies")
        named: dict[str, Policy] = {}
        for entry in entries:
            words = {"policy": entry} if isinstance(entry, str) else entry
            if not isinstance(words, dict) or not isinstance(words.get("policy"), str):
                raise self._error("policies", entry, 'write a name or {policy = "…", …}')
            parameters = shared | {k: v for k, v in words.items() if k not in ("policy", "label")}
            try:
                policy = make(words["policy"], **parameters)
            except DriftanchorError as error:
                raise self._error("policies", entry, error) from error
            label = words.get("label", words["policy"])
            if not isinstance(label, str) or label in named:
                raise self._error("policies", label, "labels must be text and differ")
            named[label] = policy
        return named

    def _checkpoints(self, asked: Any, horizon: int) -> int | tuple[int, ...]:
        try:
            if isinstance(asked, list):
                return tuple(check.whole(t, "checkpoints", low=1, high=horizon) for t in asked)
            return check.whole(asked, "checkpoints", low=1, high=10_000)
        except InvalidInput as error:
            raise self._error("checkpoints", asked, error) from error

    def _savings(self, table: Any) -> SavingsRows:
        if not isinstance(table, dict):
            raise self._error("savings", table, 'write a table, such as { vary = ["gap"] }')
        self._known(table, ("vary", "caption", "place"), "key of savings")
        vary = table.get("vary", [])
        if not isinstance(vary, list) or any(word not in _WORDS for word in vary):
            raise self._error("vary", vary, "give a list of settings")
        try:
            place = check.whole(table.get("place", 0), "place")
        except InvalidInput as error:
            raise self._error("place", table["place"], error) from error
        return SavingsRows(tuple(vary), self._text(table, "caption", ""), place)

    def _whole(self, table: dict[str, Any], key: str, default: int) -> int:
        try:
            return check.whole(table.get(key, default), key, low=1, high=10**12)
        except InvalidInput as error:
            raise self._error(key, table[key], error) from error

    def _choice(self, table: dict[str, Any], key: str, choices: tuple[str, ...]) -> str:
        value = table.get(key, choices[0])
        if value not in choices:
            raise self._error(key, value, UnknownName(key, value, choices))
        return str(value)

    def _text(self, table: dict[str, Any], key: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str):
            raise self._error(key, value, "give a text")
        return value

    def _known(self, table: dict[str, Any], known: tuple[str, ...], kind: str) -> None:
        for key, value in table.items():
            if key not in known:
                raise self._error(key, value, UnknownName(kind, key, known))

    def _error(self, key: str, value: Any, why: object) -> InvalidInput:
        """An error that names file, line, key and value."""
        line = line_of(self.text, key, value)
        where = f"{self.file}, line {line}" if line else self.file
        return InvalidInput(f"{where}: {key} = {value!r}: {why}")


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_short, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
