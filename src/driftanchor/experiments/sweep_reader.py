"""The sweeps of an experiment file: grids of settings, and the policies that are run in them."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.experiments.experiment import Cell
from driftanchor.experiments.setting import Setting, unusable
from driftanchor.experiments.toml_file import TomlFile
from driftanchor.policies import make, outside
from driftanchor.policies.base import Policy

MOST_CELLS = 10_000  # of one sweep
WORDS = tuple(field.name for field in dataclasses.fields(Setting))


class SweepReader(TomlFile):
    """Turns the sweeps of a file into cells.

    Args:
        text: What is in the file.
        file: Its path, which relative paths in it start from.
        allow_import: Whether policies may be imported from modules and files that it names.
    """

    def __init__(self, text: str, file: str, *, allow_import: bool = False) -> None:
        super().__init__(text, file)
        self.allow_import = allow_import

    def cells(self, number: int, sweep: dict[str, Any], shared: Any) -> list[Cell]:
        """The cells of one sweep; `shared` are the policies of sweeps that name none."""
        self.check_keys(
            sweep, ("name", "vary", "fixed", "policies", "parameters"), "key of a sweep"
        )
        name, parameters = self.text_of(sweep, "name", ""), sweep.get("parameters", {})
        if not isinstance(parameters, dict):
            raise self.error("parameters", parameters, "write a table, such as { noise = 0.5 }")
        fixed, vary = sweep.get("fixed", {}), sweep.get("vary", {})
        for word, part in (("fixed", fixed), ("vary", vary)):
            if not isinstance(part, dict):
                raise self.error(word, part, "write a table of settings")
            self.check_keys(part, WORDS, "setting")
        for word, values in vary.items():
            if not isinstance(values, list) or not values:
                raise self.error(word, values, "under vary, give a list of values")
        if math.prod(len(values) for values in vary.values()) > MOST_CELLS:
            raise self.error("vary", list(vary), f"that is more than {MOST_CELLS:,} cells")
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
                raise self.error(word, value, why)
        try:
            setting = Setting(**words)
            bandit = setting.bandit()
        except (DriftanchorError, TypeError, OverflowError) as error:
            named = [word for word in words if word in str(error)]
            word = min(named, key=str(error).find) if named else next(iter(words), "sweep")
            raise self.error(word, words.get(word), error) from error
        for label, policy in policies.items():
            try:
                bandit.check_policy(policy)
            except InvalidInput as error:
                raise self.error("policies", label, error) from error
        path = [f"{word}={_short(value)}" for word, value in varied.items()]
        names = [self.name, group] if group else [self.name]
        return Cell("/".join([*names, *path]), number, group, varied, setting, bandit, policies)

    def _policies(self, entries: Any, shared: dict[str, Any]) -> dict[str, Policy]:
        if not isinstance(entries, list) or not entries:
            raise self.error("policies", entries, "give a list of policies")
        named: dict[str, Policy] = {}
        for entry in entries:
            words = {"policy": entry} if isinstance(entry, str) else entry
            if not isinstance(words, dict) or not isinstance(words.get("policy"), str):
                raise self.error("policies", entry, 'write a name or {policy = "…", …}')
            parameters = shared | {k: v for k, v in words.items() if k not in ("policy", "label")}
            try:
                policy = make(self._address(words["policy"]), **parameters)
            except DriftanchorError as error:
                raise self.error("policies", entry, error) from error
            label = words.get("label", policy.name)
            if not isinstance(label, str) or label in named:
                raise self.error("policies", label, "labels must be text and differ")
            named[label] = policy
        return named

    def _address(self, name: str) -> str:
        """A policy's name; code is imported only with leave: a file of settings looks harmless."""
        if not outside.is_address(name):
            return name
        if not self.allow_import:
            raise InvalidInput(
                "this runs Python code, which may do anything you may: read it, and if you trust "
                "it, add --allow-import to the command (in Python: allow_import=True)"
            )
        return outside.within(Path(self.file).parent, name)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        words = ",".join(f"{word}={_short(x)}" for word, x in value.items() if word != "law")
        return f"{value.get('law')}({words})"
    if isinstance(value, list):
        return ",".join(map(_short, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
