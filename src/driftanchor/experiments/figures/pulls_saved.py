"""Theory against measured pulls: what logs save on the sub-optimal arms.

Theorem 1 says that N logs of an arm of gap Δ save Anchor-TS N (1 − 3ω/Δ)₊ of its pulls. Cheung and
Lyu's theorem says that they save MIN-UCB N ((1 − ω/Δ)₊)². The figure shows how many fewer pulls
each policy makes than its online counterpart, run by run, as the mean over the sub-optimal arms.
Which cells are drawn is said in the files of the experiments, under `savings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import Drawing
from driftanchor.experiments.figures.final_regret import Block, along, blocks, ticks
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render.figure import blank, key, legend_above, line, tidy
from driftanchor.render.palette import BLACK, DOTS, LONG, POLICY_LOOKS, SHORT, Look
from driftanchor.simulation.bandit import Bandit
from driftanchor.theory import anchor_savings, effective_discrepancy, lai_robbins, min_ucb_savings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Savings = Callable[[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike], Floats]

NAME = "savings"
PAIRS: dict[str, tuple[str, Savings]] = {  # who saves, against whom, and what theory promises
    "anchor-ts": ("ts", anchor_savings),
    "min-ucb": ("ucb", min_ucb_savings),
}
FORMULAS = {"anchor-ts": "N(1 − 3ω/Δ)₊", "min-ucb": "N((1 − ω/Δ)₊)²"}
DASHES = {"anchor-ts": DOTS, "min-ucb": SHORT}  # both can be seen where they agree
ITSELF = Look(POLICY_LOOKS["anchor-ts"].colour, "o", LONG, 1.2, hollow=True)


def draw(experiments: Sequence[Experiment], outcomes: Outcomes) -> Drawing | None:
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
    no_logs = [c for e in experiments for c in e.cells if not c.bandit.offline_pulls.any()]
    most = max(len(block.panels) for _, block in rows)
    figure = blank(3.1 * most, 2.6 * len(rows) + 0.8)
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
        heading = f"{_kind(cells[0])} logs: {title.removeprefix('logs ')}"
        place.set_title(heading, fontsize=8.5, parse_math=False)
        x = along(cells, block.word)
        _panel(place, x, cells, experiment, outcomes, no_logs)
        ticks(place, x, [cell.varied[block.word] for cell in cells])
        place.set_xlabel(setting_text.AXES[block.word], fontsize=9)
        tidy(place)
    for place in places[len(block.panels) :]:
        place.set_axis_off()
    places[0].set_ylabel("pulls saved per arm", fontsize=9)


def _comparable(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    wanted = {policy for user, (other, _) in PAIRS.items() for policy in (user, other)}
    known = [cell for cell in cells if cell.bandit.means is None]  # theory needs their gaps
    return tuple(cell for cell in known if wanted <= set(cell.policies))


def _kind(cell: Cell) -> str:
    return "biased" if cell.bandit.shift.any() else "unbiased"


def _panel(
    axes: Axes,
    x: Floats,
    cells: Sequence[Cell],
    experiment: Experiment,
    outcomes: Outcomes,
    no_logs: Sequence[Cell],
) -> None:
    horizons = [experiment.at(cell).horizon for cell in cells]
    axes.axhline(0, color=BLACK, linewidth=0.8)
    for user, (other, _) in PAIRS.items():
        look = POLICY_LOOKS[user]
        line(axes, x, *_saved(cells, cells, other, user, outcomes), look)
        theory = [promised(cell.bandit, t, user) for cell, t in zip(cells, horizons, strict=True)]
        axes.plot(x, theory, color=look.colour, linestyle=DASHES[user], linewidth=1.6)
    twins = [_twin(cell, no_logs) for cell in cells]
    if all(twins):
        found = [twin for twin in twins if twin]
        saved = _saved(cells, found, "anchor-ts", "anchor-ts", outcomes)
        line(axes, x, *saved, ITSELF)
    needs = {f"{needed(cells[i].bandit, horizons[i]).mean():,.0f}": None for i in np.argsort(x)}
    first, *_, last = [*needs, *needs]
    note = f"needed online: {first if first == last else f'{first} … {last}'} (Lai–Robbins)"
    axes.margins(y=0.16)
    axes.annotate(note, (0.98, 0.98), xycoords="axes fraction", ha="right", va="top", fontsize=7.5)


def _twin(cell: Cell, no_logs: Sequence[Cell]) -> Cell | None:
    """A cell of the same bandit without logs."""
    for other in no_logs:
        a, b = cell.bandit, other.bandit
        alike = all(np.array_equal(*x) for x in ((a.online, b.online), (a.arm_noise, b.arm_noise)))
        same = alike and (a.reward, cell.setting.horizon) == (b.reward, other.setting.horizon)
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


def needed(bandit: Bandit, horizon: int) -> Floats:
    """Pulls that each sub-optimal arm needs online by Lai and Robbins: more cannot be saved."""
    worse = bandit.gaps > 0
    rates = lai_robbins(bandit.gaps[worse], bandit.arm_noise[worse])
    return np.asarray(rates * np.log(horizon))


def promised(bandit: Bandit, horizon: int, user: str) -> float:
    """Pulls of a sub-optimal arm that theory says are saved, as the mean over these arms."""
    worse = bandit.gaps > 0
    omega = effective_discrepancy(bandit.online, bandit.offline, bandit.bias_bound)[worse]
    _, savings = PAIRS[user]
    saved = savings(bandit.offline_pulls[worse], np.maximum(omega, 0.0), bandit.gaps[worse])
    return float(np.minimum(saved, needed(bandit, horizon)).mean())


def _legend(figure: Figure, *, itself: bool) -> None:
    handles = []
    for user, (other, _) in PAIRS.items():
        look = POLICY_LOOKS[user]
        handles.append(key(f"{other} − {user}, measured", **look.line()))
        promise = f"{user}, promised: {FORMULAS[user]}"
        handles.append(key(promise, color=look.colour, linestyle=DASHES[user]))
    if itself:
        handles.append(key("anchor-ts without logs − with, measured", **ITSELF.line()))
    legend_above(figure, handles, columns=3, handlelength=3.6)


def _caption(rows: Sequence[tuple[Experiment, Block]]) -> str:
    drawn = {experiment.name: experiment for experiment, _ in rows}
    promises = [experiment.savings.caption for experiment in drawn.values()]
    text = (
        "What logs save: how many fewer online pulls of a sub-optimal arm Anchor-TS makes than TS "
        "(or than itself without logs), and MIN-UCB than UCB; mean over these arms and all runs, "
        f"bands of ± one standard error, cells of {' and '.join(drawn)}. Dotted and dashed: what "
        "the theorems promise, at most the pulls that an online policy needs by Lai and Robbins, "
        "2σ² log T/Δ². Here N is the number of logged rewards of the arm, Δ its gap, and ω how far "
        "the logs, raised by the bias bound V, over-state it: ω = V + offline mean − online mean."
    )
    return " ".join([text, *filter(None, promises)])


def _alt(rows: Sequence[tuple[Experiment, Block]], outcomes: Outcomes) -> str:
    parts = []
    for experiment, block in rows:
        for user, (other, _) in PAIRS.items():
            measured, _ = _saved(block.cells, block.cells, other, user, outcomes)
            promise = np.mean(
                [promised(c.bandit, experiment.at(c).horizon, user) for c in block.cells]
            )
            over = f"{user} over {setting_text.AXES[block.word]}"
            parts.append(f"{over}: {measured.mean():.0f} measured, {promise:.0f} promised")
    return f"Pulls of a sub-optimal arm saved by logs, mean of all points. {'; '.join(parts)}."
