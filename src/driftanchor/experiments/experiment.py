"""Experiment: what a file asks to be run and drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftanchor.experiments.claims import Claim
from driftanchor.experiments.setting import Setting
from driftanchor.policies.base import Policy
from driftanchor.simulation.bandit import Bandit

CURVES = ("curves", "quantiles")  # the figures that show regret over the rounds


@dataclass(frozen=True)
class Cell:
    """One bandit of an experiment and the policies that are run in it."""

    id: str
    sweep: int
    group: str  # the name of its sweep; empty where it has none
    varied: Mapping[str, Any]
    setting: Setting
    bandit: Bandit
    policies: Mapping[str, Policy]


@dataclass(frozen=True)
class SavingsRows:
    """The rows of an experiment in the figure of pulls saved.

    Attributes:
        vary: The settings along the axes, a row for each.
        caption: What the theorems promise in these cells.
        place: Experiments with a lower place are drawn above.
    """

    vary: tuple[str, ...] = ()
    caption: str = ""
    place: int = 0


@dataclass(frozen=True)
class Experiment:
    """A file: what is run, how often, and how it is drawn.

    Attributes:
        name: The file's name, and the first part of every cell id.
        title: A title for people.
        source: The figure of the paper, or `"beyond the paper"`.
        about: A sentence or two on what it is for.
        horizon: Rounds in a run; where cells have their own, those of the longest.
        runs: Runs of each policy in each cell, to begin with.
        most_runs: Runs that are added at most to decide a claim, those of the beginning included.
        most_curve_runs: Of how many runs the CSV files have whole curves; `None` for all of them.
        drawn_runs: Of how many of the first runs curves are drawn; `None` for all of them.
        asked_checkpoints: How many rounds a curve has, evenly spread, or which.
        engine: An engine of `driftanchor.simulate`. `"auto"` is `"thinned"`, in which all policies
            meet the same rewards. `"events"` gives that up, and makes long horizons cheap.
        figure: `"curves"` (regret over rounds, a panel for each cell), `"versus"` (final regret
            against the varied value, a panel for each other value), `"quantiles"` (over rounds) or
            `"tradeoff"` (99 % quantile against mean, a panel for each policy).
        savings: Its rows in the figure of pulls saved.
        cells: In the order of the file.
        claims: What the file itself claims.
    """

    name: str
    title: str
    source: str
    about: str
    horizon: int
    runs: int
    most_runs: int
    most_curve_runs: int | None
    drawn_runs: int | None
    asked_checkpoints: int | tuple[int, ...]
    engine: str
    figure: str
    savings: SavingsRows
    cells: tuple[Cell, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def curve_runs(self) -> int:
        """Of how many runs the CSV files have whole curves; of the others only the end."""
        return self.runs if self.most_curve_runs is None else min(self.runs, self.most_curve_runs)

    @property
    def kept_curves(self) -> int:
        """Of how many runs whole curves are kept: of all where the figure shows curves."""
        return self.most_runs if self.figure in CURVES else self.curve_runs

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The rounds that a curve has; the last is the horizon."""
        asked, horizon = self.asked_checkpoints, self.horizon
        if isinstance(asked, tuple):
            return tuple(sorted({t for t in asked if t < horizon} | {horizon}))
        count = min(asked, horizon)
        return tuple(sorted({-(-horizon * (i + 1) // count) for i in range(count)}))

    def resized(self, runs: int | None, horizon: int | None) -> Experiment:
        """The same with other runs or another horizon; `None` leaves them as they are.

        A cell with a horizon of its own gets the other one where that is shorter.
        """
        return dataclasses.replace(
            self,
            runs=runs or self.runs,
            most_runs=runs or self.most_runs,
            horizon=horizon or self.horizon,
        )

    def at(self, cell: Cell) -> Experiment:
        """The experiment with the horizon of one of its cells."""
        own = cell.setting.horizon
        return self if own is None else dataclasses.replace(self, horizon=min(own, self.horizon))

    @property
    def horizons(self) -> tuple[int, ...]:
        """The horizons of its cells, in ascending order."""
        return tuple(sorted({self.at(cell).horizon for cell in self.cells}))
