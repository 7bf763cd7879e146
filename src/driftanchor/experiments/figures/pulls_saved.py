"""Theory against measured pulls: what logs save on the sub-optimal arms.

The figure shows how many fewer pulls each policy makes than its online counterpart, run by run, as
the mean over the sub-optimal arms, beside what theorems promise. Which cells are drawn is said in
the files of the experiments, under `savings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures import promised_pulls
from driftanchor.experiments.figures.blocks import Block, along, blocks, ticks
from driftanchor.experiments.figures.drawing import Drawing
from driftanchor.experiments.figures.print_page import WIDE, Page, letters, set_labels, set_title
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render.figure import (
    PRINT,
    TICKS,
    blank,
    key,
    legend_above,
    line,
    points,
    sheet,
    style,
    tidy,
)
from driftanchor.render.palette import (
    BLACK,
    DASH_DOT,
    DOTS,
    LONG,
    POLICY_LOOKS,
    POLICY_NAMES,
    SHORT,
    Dash,
    Look,
)
from driftanchor.simulation.bandit import Bandit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "savings"
PANEL = 1.6  # inches that a panel is wide at least
HEIGHT = 1.6  # of a row, in inches
PAIRS = {"anchor-ts": "ts", "min-ucb": "ucb"}  # who saves, and against whom
ITSELF = Look(POLICY_LOOKS["anchor-ts"].colour, "o", LONG, 1.2, hollow=True)


@dataclass(frozen=True)
class TheoryLine:
    """What theory promises a policy, and how it is drawn."""

    policy: str
    formula: str
    saved: Callable[[Bandit, int], float]
    dash: Dash


PROMISES = (  # their dashes can be told apart where they agree
    TheoryLine("anchor-ts", "by N: N(1 − 3ω/Δ)₊", promised_pulls.by_own_logs, DOTS),
    TheoryLine("anchor-ts", "by N₁: min(N₁, σ² log T/Δ²)", promised_pulls.by_best_logs, DASH_DOT),
    TheoryLine("min-ucb", "by N: N((1 − ω/Δ)₊)²", promised_pulls.for_min_ucb, SHORT),
)


def draw(
    experiments: Sequence[Experiment], outcomes: Outcomes, page: Page = WIDE
) -> Drawing | None:
    """Draw the rows that the experiments ask for; `None` when they ask for none."""
    rows = [
        (experiment, block)
        for experiment in sorted(experiments, key=lambda experiment: experiment.savings.place)
        for word in experiment.savings.vary
        for block in blocks(_comparable(experiment.cells))
        if block.word == word
    ]
    if not rows:
        return None
    with sheet(PRINT):
        figure = _draw(rows, experiments, outcomes, page)
    return Drawing(NAME, _caption(rows), _alt(rows, outcomes), figure)


def _draw(
    rows: Sequence[tuple[Experiment, Block]],
    experiments: Sequence[Experiment],
    outcomes: Outcomes,
    page: Page,
) -> Figure:
    no_logs = [c for e in experiments for c in e.cells if not c.bandit.offline_pulls.any()]
    across = min(max(len(block.panels) for _, block in rows), page.across(PANEL))
    down = [math.ceil(len(block.panels) / across) for _, block in rows]
    figure: Figure = blank(page.width, HEIGHT * sum(down) + 0.7)
    places = figure.add_gridspec(sum(down), across)
    names = letters()
    for number, (experiment, block) in enumerate(rows):
        first: Axes | None = None
        for i, (title, cells) in enumerate(block.panels.items()):
            row, column = divmod(i, across)
            axes = figure.add_subplot(places[sum(down[:number]) + row, column], sharey=first)
            first = first or axes
            _panel(axes, block.word, cells, experiment, outcomes, no_logs)
            ticks(axes, cells, block.word, page.width / across - 0.4)
            tidy(axes)
            words = f"{next(names)} {_kind(cells[0])} logs: {title.removeprefix('logs ')}"
            set_title(axes, words, page.width / across - 0.4)
            at_end = i + across >= len(block.panels)
            axes.tick_params(labelbottom=at_end, labelleft=not column)
            label = "" if column else "pulls saved per arm"
            set_labels(axes, block.axis if at_end else "", label, page.width / across - 0.3)
    _legend(figure, itself=bool(no_logs))
    return figure


def _comparable(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    wanted = {policy for pair in PAIRS.items() for policy in pair}
    known = [cell for cell in cells if cell.bandit.means is None]  # theory needs their gaps
    return tuple(cell for cell in known if wanted <= set(cell.policies))


def _kind(cell: Cell) -> str:
    return "biased" if cell.bandit.shift.any() else "unbiased"


def _panel(
    axes: Axes,
    word: str,
    cells: Sequence[Cell],
    experiment: Experiment,
    outcomes: Outcomes,
    no_logs: Sequence[Cell],
) -> None:
    x = along(cells, word)
    axes.axhline(0, color=BLACK, linewidth=points(0.08))
    for user, other in PAIRS.items():
        line(axes, x, *_saved(cells, cells, other, user, outcomes), POLICY_LOOKS[user])
    for promise in PROMISES:
        saved = [promise.saved(cell.bandit, experiment.at(cell).horizon) for cell in cells]
        axes.plot(x, saved, **_dashes(promise))
    twins = [_twin(cell, no_logs) for cell in cells]
    if all(twins):
        found = [twin for twin in twins if twin]
        line(axes, x, *_saved(cells, found, "anchor-ts", "anchor-ts", outcomes), ITSELF)
    ordered = [cells[i] for i in np.argsort(x)]
    needs = {
        f"{promised_pulls.needed(c.bandit, experiment.at(c).horizon).mean():,.0f}": None
        for c in ordered
    }
    first, *_, last = [*needs, *needs]
    note = f"needed: {first if first == last else f'{first} … {last}'}"
    axes.margins(y=0.24)
    axes.annotate(
        note, (0.98, 0.98), xycoords="axes fraction", ha="right", va="top", fontsize=points(TICKS)
    )


def _dashes(promise: TheoryLine) -> dict[str, Any]:
    colour = POLICY_LOOKS[promise.policy].colour
    return {"color": colour, "linestyle": promise.dash, "linewidth": points(0.16)}


def _twin(cell: Cell, no_logs: Sequence[Cell]) -> Cell | None:
    """A cell of the same bandit without logs."""
    for other in no_logs:
        a, b = cell.bandit, other.bandit
        same = np.array_equal(a.online, b.online) and a.reward == b.reward
        same = same and np.array_equal(a.arm_noise, b.arm_noise)
        if same and "anchor-ts" in other.policies:
            return other
    return None


def _saved(
    cells: Sequence[Cell], others: Sequence[Cell], other: str, user: str, outcomes: Outcomes
) -> tuple[Floats, Floats]:
    """Pulls of a sub-optimal arm that the policy with logs saves: mean and standard error."""
    means, errors = [], []
    for cell, place in zip(cells, others, strict=True):
        without, with_logs = outcomes[place.id, other].pulls, outcomes[cell.id, user].pulls
        runs = min(len(without), len(with_logs))
        fewer = (without[:runs] - with_logs[:runs])[:, cell.bandit.gaps > 0].mean(axis=1)
        means.append(fewer.mean())
        errors.append(standard_error(fewer))
    return np.array(means), np.array(errors)


def _legend(figure: Figure, *, itself: bool) -> None:
    handles = [
        key(f"{POLICY_NAMES[other]} − {POLICY_NAMES[user]}, measured", **style(POLICY_LOOKS[user]))
        for user, other in PAIRS.items()
    ]
    if itself:
        handles.insert(1, key("Anchor-TS without logs − with, measured", **style(ITSELF)))
    handles += [
        key(f"{POLICY_NAMES[each.policy]}, promised {each.formula}", **_dashes(each))
        for each in PROMISES
    ]
    legend_above(figure, handles)


def _caption(rows: Sequence[tuple[Experiment, Block]]) -> str:
    drawn = {experiment.title: experiment for experiment, _ in rows}
    captions = [experiment.savings.caption for experiment in drawn.values()]
    text = (
        "What logs save: how many fewer online pulls of a sub-optimal arm Anchor-TS makes than TS "
        "(or than itself without logs), and MIN-UCB than UCB; mean over these arms and all runs, "
        f"bands of ± one standard error, cells of “{'” and “'.join(drawn)}”. Lines without "
        "markers: what the theorems promise. N is the number of logged rewards of the arm, Δ its "
        "gap, and ω how far the logs, raised by the bias bound V, over-state it: ω = V + offline "
        "mean − online mean. These savings are drawn up to the pulls that an online policy needs "
        "by Lai and Robbins, 2σ² log T/Δ², which each panel names as needed. N₁ is the number of "
        "logged rewards of the best arm: by Theorem 1's second term, (C₂ log T/Δ² − N₁)₊, they "
        "save up to N₁ pulls of every other arm, drawn for C₂ = σ², because the theorem leaves the "
        "constant open."
    )
    return " ".join([text, *filter(None, captions)])


def _alt(rows: Sequence[tuple[Experiment, Block]], outcomes: Outcomes) -> str:
    parts = []
    for experiment, block in rows:
        for user, other in PAIRS.items():
            measured, _ = _saved(block.cells, block.cells, other, user, outcomes)
            promised = " and ".join(
                f"{np.mean([p.saved(c.bandit, experiment.at(c).horizon) for c in block.cells]):.0f}"
                for p in PROMISES
                if p.policy == user
            )
            over = f"{POLICY_NAMES[user]} over {block.axis}"
            parts.append(f"{over}: {measured.mean():.0f} measured, {promised} promised")
    return f"Pulls of a sub-optimal arm saved by logs, mean of all points. {'; '.join(parts)}."
