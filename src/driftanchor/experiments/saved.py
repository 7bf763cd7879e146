"""The theory against measured pulls: what logs save on the sub-optimal arms.

Theorem 1 says that N logs of an arm of gap Δ save Anchor-TS N (1 − 3ω/Δ)₊ of its pulls, Cheung and
Lyu's that they save MIN-UCB N ((1 − ω/Δ)₊)². Measured is what a policy pulls less than its online
counterpart, run by run, as the mean over the sub-optimal arms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments import panels, style, versus, words
from driftanchor.experiments.panels import Drawing
from driftanchor.experiments.spec import Cell, Experiment
from driftanchor.experiments.sweep import Outcomes
from driftanchor.experiments.versus import Block
from driftanchor.simulation.bandit import Bandit
from driftanchor.theory import anchor_savings, effective_discrepancy, lai_robbins, min_ucb_savings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Savings = Callable[[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], Floats]

NAME = "savings"
SWEEPS = (("fig2", "offline"), ("fig2", "bias_bound_at_least"), ("fig1", "gap"))
PAIRS: dict[str, tuple[str, Savings]] = {  # who saves, against whom, and what theory promises
    "anchor-ts": ("ts", anchor_savings),
    "min-ucb": ("ucb", min_ucb_savings),
}
FORMULAS = {"anchor-ts": "N(1 − 3ω/Δ)₊", "min-ucb": "N((1 − ω/Δ)₊)²"}
DASHES = {"anchor-ts": style.DOTS, "min-ucb": style.SHORT}  # both seen where they agree
ITSELF = style.Look(style.POLICIES["anchor-ts"].colour, "o", style.LONG, 1.2, hollow=True)


def draw(experiments: Sequence[Experiment], outcomes: Outcomes) -> Drawing | None:
    """The figure, of those of its sweeps that were run; `None` when none was."""
    named = {experiment.name: experiment for experiment in experiments}
    rows = [
        (named[name], block)
        for name, word in SWEEPS
        if name in named
        for block in versus.blocks(_comparable(named[name].cells))
        if block.word == word
    ]
    if not rows:
        return None
    no_logs = [c for e in experiments for c in e.cells if not c.bandit.offline_pulls.any()]
    most = max(len(block.panels) for _, block in rows)
    figure = style.blank(3.1 * most, 2.6 * len(rows) + 0.8)
    axes = figure.subplots(len(rows), most, sharey="row", squeeze=False)
    for (experiment, block), places in zip(rows, axes, strict=True):
        _row(experiment, block, list(places), outcomes, no_logs)
    _legend(figure, itself=bool(no_logs))
    return Drawing(NAME, figure, _caption(rows), _alt(rows, outcomes))


def _row(
    experiment: Experiment,
    block: Block,
    places: list[Axes],
    outcomes: Outcomes,
    no_logs: Sequence[Cell],
) -> None:
    for place, (title, cells) in zip(places, block.panels.items(), strict=False):
        told = f"{_kind(cells[0])} logs: {title.removeprefix('logs ')}"
        place.set_title(told, fontsize=8.5, parse_math=False)
        x = versus.along(cells, block.word)
        _panel(place, x, cells, experiment.horizon, outcomes, no_logs)
        versus.ticks(place, x, [cell.varied[block.word] for cell in cells])
        place.set_xlabel(words.AXES[block.word], fontsize=9)
        panels.tidy(place)
    for place in places[len(block.panels) :]:
        place.set_axis_off()
    places[0].set_ylabel("pulls saved per arm", fontsize=9)


def _comparable(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    wanted = {policy for user, (other, _) in PAIRS.items() for policy in (user, other)}
    return tuple(cell for cell in cells if wanted <= set(cell.policies))


def _kind(cell: Cell) -> str:
    return "biased" if cell.bandit.shift.any() else "unbiased"


def _panel(
    axes: Axes,
    x: Floats,
    cells: Sequence[Cell],
    horizon: int,
    outcomes: Outcomes,
    no_logs: Sequence[Cell],
) -> None:
    axes.axhline(0, color="black", linewidth=0.8)
    for user, (other, _) in PAIRS.items():
        look = style.POLICIES[user]
        panels.line(axes, x, *_saved(cells, cells, other, user, outcomes), look)
        theory = [promised(cell.bandit, horizon, user) for cell in cells]
        axes.plot(x, theory, color=look.colour, linestyle=DASHES[user], linewidth=1.6)
    twins = [_twin(cell, no_logs) for cell in cells]
    if all(twins):
        found = [twin for twin in twins if twin]
        saved = _saved(cells, found, "anchor-ts", "anchor-ts", outcomes)
        panels.line(axes, x, *saved, ITSELF)
    needs = {f"{needed(cells[i].bandit, horizon).mean():,.0f}": None for i in np.argsort(x)}
    first, *_, last = [*needs, *needs]
    note = f"needed online: {first if first == last else f'{first} … {last}'} (Lai–Robbins)"
    axes.margins(y=0.16)
    axes.annotate(note, (0.98, 0.98), xycoords="axes fraction", ha="right", va="top", fontsize=7.5)


def _twin(cell: Cell, no_logs: Sequence[Cell]) -> Cell | None:
    """A cell of the same bandit without logs."""
    for other in no_logs:
        a, b = cell.bandit, other.bandit
        same = np.array_equal(a.online, b.online) and (a.reward, a.noise) == (b.reward, b.noise)
        if same and "anchor-ts" in other.policies:
            return other
    return None


def _saved(
    cells: Sequence[Cell], others: Sequence[Cell], other: str, user: str, outcomes: Outcomes
) -> tuple[Floats, Floats]:
    """Pulls of a sub-optimal arm that the user of logs saves: mean and standard error."""
    means, errors = [], []
    for cell, place in zip(cells, others, strict=True):
        without, with_logs = outcomes[place.id, other].pulls, outcomes[cell.id, user].pulls
        runs = min(len(without), len(with_logs))
        fewer = (without[:runs] - with_logs[:runs])[:, cell.bandit.gaps > 0].mean(axis=1)
        means.append(fewer.mean())
        errors.append(standard_error(fewer))
    return np.array(means), np.array(errors)


def needed(bandit: Bandit, horizon: int) -> Floats:
    """Pulls that each sub-optimal arm needs online by Lai and Robbins: more cannot be saved."""
    gaps = bandit.gaps[bandit.gaps > 0]
    return np.asarray(lai_robbins(gaps, bandit.noise) * np.log(horizon))


def promised(bandit: Bandit, horizon: int, user: str) -> float:
    """Pulls of a sub-optimal arm that theory says are saved, as the mean over these arms."""
    worse = bandit.gaps > 0
    omega = effective_discrepancy(bandit.online, bandit.offline, bandit.bias_bound)[worse]
    _, savings = PAIRS[user]
    saved = savings(bandit.offline_pulls[worse], np.maximum(omega, 0.0), bandit.gaps[worse])
    return float(np.minimum(saved, needed(bandit, horizon)).mean())


def _legend(figure: Figure, *, itself: bool) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for user, (other, _) in PAIRS.items():
        look = style.POLICIES[user]
        handles.append(Line2D([], [], label=f"{other} − {user}, measured", **look.line()))
        label = f"{user}, promised: {FORMULAS[user]}"
        handles.append(Line2D([], [], color=look.colour, linestyle=DASHES[user], label=label))
    if itself:
        label = "anchor-ts without logs − with, measured"
        handles.append(Line2D([], [], label=label, **ITSELF.line()))
    options: dict[str, Any] = {"frameon": False, "handlelength": 3.6, "fontsize": 9}
    figure.legend(handles=handles, loc="outside upper center", ncols=3, **options)


def _caption(rows: Sequence[tuple[Experiment, Block]]) -> str:
    names = " and ".join(dict.fromkeys(experiment.name for experiment, _ in rows))
    promises = {
        "fig2": "With the biased logs of fig2 ω = V + 0.1 is at least 0.2, more than Δ/3 = 0.1: "
        "Theorem 1 promises Anchor-TS nothing from the logs of these arms. ",
        "fig1": "With the unbiased logs of fig1 ω = 0: both theorems promise N. ",
    }
    return (
        "What logs save: online pulls of a sub-optimal arm that Anchor-TS makes less than TS (or "
        "than itself without logs), and MIN-UCB less than UCB; mean over these arms and all runs, "
        f"bands of ± one standard error, cells of {names}. Dotted and dashed: what the theorems "
        "promise, at most the pulls that an online policy needs by Lai and Robbins, 2σ² log T/Δ². "
        + "".join(text for name, text in promises.items() if name in names)
    ).rstrip()


def _alt(rows: Sequence[tuple[Experiment, Block]], outcomes: Outcomes) -> str:
    told = []
    for experiment, block in rows:
        for user, (other, _) in PAIRS.items():
            measured, _ = _saved(block.cells, block.cells, other, user, outcomes)
            promise = np.mean([promised(c.bandit, experiment.horizon, user) for c in block.cells])
            over = f"{user} over {words.AXES[block.word]}"
            told.append(f"{over}: {measured.mean():.0f} measured, {promise:.0f} promised")
    return f"Pulls of a sub-optimal arm saved by logs, mean of all points. {'; '.join(told)}."
