"""The two pictures of the page "Two promises"."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.pages import frontier, render
from driftanchor.render.figure import blank, save, sheet
from driftanchor.render.palette import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Pairs = dict[str, tuple[float, float]]
POLICIES = {  # the policy behind each label, for its colour
    "TS": "ts",
    "hierarchical TS": "hierarchical-ts",
    "hybrid TS": "hybrid-ts",
    "Anchor-TS": "anchor-ts",
    "default": "guarded-anchor-ts",
    "default, proved": "guarded-anchor-ts",
}
ARMS = {"blue": ("#0072B2", "o"), "green": ("#009E73", "s"), "orange": ("#D55E00", "^")}
# Click rates, %, of three arms in eight weeks of logs: moves in common, and hardly any other.
COMMON = (0.9, -0.6, 0.2, -1.1, 1.2, -0.3, 0.6, -0.9)
OWN = {
    "blue": (9.0, (0.1, 0.0, -0.1, 0.1, -0.1, 0.1, 0.0, -0.1)),
    "green": (8.0, (-0.1, 0.1, 0.1, -0.1, 0.0, 0.0, -0.1, 0.1)),
    "orange": (7.2, (0.0, -0.1, 0.0, 0.1, 0.1, -0.1, 0.1, -0.1)),
}
LIVE, V, W = -1.6, 2.2, 0.25  # the live week's common move, and the two bounds


def draw(points: list[frontier.Point], rules: Pairs) -> None:
    """Write both pictures."""
    with sheet():
        _write(example(), "two-promises")
        _write(map_of_rules(points, rules), "promises")


def map_of_rules(points: list[frontier.Point], rules: Pairs) -> "Figure":
    """What no rule can reach, and where the rules are."""
    figure: Figure = blank(7.2, 4.8)
    axes = figure.subplots()
    best = sorted({(point.right, point.wrong) for point in points})
    # A rule that doubts the other way round has the same pair in reverse.
    best = sorted({*best, *((wrong, right) for right, wrong in best)})
    x, y = np.array(best).T
    axes.fill_between(x, y, 0, color="#DDDDDD", linewidth=0)
    axes.plot(x, y, color="black", linewidth=1.6)
    axes.annotate("no rule can be here", (62, 40), color="#444444", fontsize=10)
    drawn = {name.strip("*"): pair for name, pair in rules.items()}
    drawn_as = looks({name: POLICIES[name] for name in drawn})
    for name, (right, wrong) in drawn.items():
        line = drawn_as[name].line() | {"linestyle": "none", "markersize": 9}
        if name == "hybrid TS":  # around hierarchical TS, which does the same where W = 0
            line |= {"markersize": 14, "markerfacecolor": "none"}
        elif name != "default, proved":
            line["markerfacecolor"] = line["color"]
        axes.plot([right], [wrong], label=name, clip_on=False, zorder=3, **line)
    ts = drawn["TS"]
    axes.fill_between(
        [0, 0.25 * ts[0]],
        0,
        1.1 * ts[1],
        facecolor="none",
        edgecolor="#CC3311",
        hatch="///",
        linewidth=1.2,
    )
    axes.annotate(
        "both aims met",
        (0.125 * ts[0], 1.1 * ts[1]),
        (2, 8),
        textcoords="offset points",
        color="#CC3311",
        fontsize=10,
        ha="center",
    )
    axes.set(xlim=(0, 160), ylim=(0, 420))
    axes.set_xlabel("lost where the logs are right")
    axes.set_ylabel("lost where the logs have the order reversed")
    axes.set_title("Two arms 0.02 σ apart, 20,000 pulls", loc="left", fontsize=11)
    axes.legend(frameon=False, loc="upper right")
    _plain(axes)
    return figure


def example() -> "Figure":
    """Three arms that move together, and what each promise makes of it."""
    figure: Figure = blank(9.2, 3.9)
    weeks, levels, apart = figure.subplots(1, 3, width_ratios=(2.2, 1, 1), sharey=True)
    at = np.arange(1, len(COMMON) + 1)
    for i, (name, (colour, marker)) in enumerate(ARMS.items()):
        mean, own = OWN[name]
        logged = mean + np.array(COMMON) + np.array(own)
        live, log_mean = mean + LIVE + 0.1 * (i - 1), float(logged.mean())
        seen_live: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 8}
        seen_live |= {"markerfacecolor": "white", "linestyle": "none"}
        weeks.plot(at, logged, color=colour, marker=marker, label=name, linewidth=1.4)
        weeks.plot([len(at), len(at) + 1], [logged[-1], live], color=colour, linestyle=":")
        weeks.plot([len(at) + 1], [live], **seen_live)
        for axes, middle, bound in ((levels, log_mean, V), (apart, log_mean + LIVE, W)):
            axes.bar(i, 2 * bound, 0.62, middle - bound, color=colour, alpha=0.25, linewidth=0)
            axes.plot([i - 0.31, i + 0.31], [middle, middle], color=colour, linewidth=1.8)
            axes.plot([i], [live], **seen_live)
    weeks.axvspan(len(at) + 0.5, len(at) + 1.5, color="#EEEEEE", linewidth=0)
    weeks.set_xticks([*at, len(at) + 1], [*map(str, at), "live"])
    weeks.set_xlabel("week")
    weeks.set_ylabel("click rate, %")
    weeks.set_title("Arms move together", loc="left", fontsize=11)
    weeks.legend(frameon=False, ncols=3, loc="upper left", fontsize=9)
    levels.set_title(f"Level: ±V = {V:g}", loc="left", fontsize=11)
    levels.set_xlabel("logged mean ± V:\nevery arm may be the best")
    apart.set_title(f"Relative: ±W = {W:g}", loc="left", fontsize=11)
    apart.set_xlabel("moved along, ± W:\nblue is the best")
    for axes in (levels, apart):
        axes.set_xticks([])
    for axes in (weeks, levels, apart):
        _plain(axes)
    weeks.set_ylim(4.6, 11.9)
    return figure


def _plain(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _write(figure: "Figure", name: str) -> None:
    with TemporaryDirectory() as folder:
        save(figure, Path(folder), name)
        (render.PICTURES / f"{name}.svg").write_bytes((Path(folder) / f"{name}.svg").read_bytes())
