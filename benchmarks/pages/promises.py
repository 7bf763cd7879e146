"""Two promises: what the rules lose where logs moved together, moved apart, or say nothing.

The worlds are the aims that were set for the default rule. It is given W, how far an arm may move
from all others; what it is given may be wrong, and where it is wrong the world says so.
"""

import functools
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pages import frontier, promises_pictures, render
from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.policies import TS, AnchorTS, GuardedAnchorTS, HierarchicalTS, HybridTS
from driftanchor.policies.base import Policy
from driftanchor.simulation import Bandit, simulate

Progress = Callable[[str], None]
Cell = dict[str, float]

BEFORE = Path(__file__).with_name("promises.toml")  # the default of version 0.1, measured once
GAPS = {0.02: 40_000, 0.1: 1_600, 0.3: 200, 1.0: 50, 3.0: 20}  # σ, and the logs of each arm
GRID = 1.1  # of TS's mean, and of its q99 where the promise is kept
BROKEN = 2.0  # of TS's q99 where it is broken
SILENT = 1_000  # rounds before the first reward
MORE = 4  # times the runs where there are two arms: they are cheap, and gaps are small there
RIGHT, REVERSED = "gap 0.02, logs right", "gap 0.02, order reversed"

DEFAULT, PROVED, OLD = "**default**", "default, proved", "default before"
RULES: dict[str, Policy] = {
    "TS": TS(),
    "hierarchical TS": HierarchicalTS(),
    "hybrid TS": HybridTS(),
    "Anchor-TS": AnchorTS(),
    DEFAULT: GuardedAnchorTS(),
    PROVED: GuardedAnchorTS(budget=0.0, eps=0.0),
}


class World(NamedTuple):
    """A world, and what the default may lose in it, as parts of what TS loses."""

    bandit: Bandit
    mean: float | None = GRID
    q99: float | None = GRID
    proved: float | None = None  # for the mean of the default with a proved bound
    before: float | None = None  # for the mean, as a part of what the default before lost
    horizon: int = 10_000


def relative(
    online: list[float],
    offline: list[float],
    logs: int | list[int],
    *,
    bound: float = 0.0,
    common: float = 0.0,
    delay: int = 0,
    batch: int = 1,
) -> Bandit:
    """A world whose logs come with a relative bound; all arms may have moved by `common`."""
    late: dict[str, Any] = {"delay": delay, "batch": batch}
    return Bandit(online, offline, logs, relative_bound=bound, common_shift=common, **late)


def ten(best: float, others: float) -> list[float]:
    """The means of ten arms, one of which is the best or was logged as such."""
    return [best] + [others] * 9


def aims() -> dict[str, World]:
    """Every world with an aim, but those of the grid."""
    live, reversed_ = ten(0.8, 0.5), ten(0.5, 0.6)
    two, slow = [0.1, 0.0], 20_000
    worlds = {
        "all arms 1 σ up": World(relative(live, live, 200, common=1.0), 0.5, 1.0, 0.25),
        "all arms 1 σ down": World(relative(live, live, 200, common=-1.0), 0.5, 1.0, 0.25),
        "order reversed": World(relative(live, reversed_, 200), 1.0, 1.0),
        "best arm logged 0.6 too low": World(relative(live, ten(0.2, 0.5), 200), q99=BROKEN),
        "no logs of the best arm": World(relative(live, live, [0] + [200] * 9)),
        "1 σ up, own moves of 0.1, W = 0.1": World(
            relative(live, ten(0.7, 0.6), 200, bound=0.1, common=1.0)
        ),
    }
    for late in ({"batch": 50}, {"delay": 100}):
        ((how, by),) = late.items()
        name = f"batches of {by}" if how == "batch" else f"delay of {by}"
        worlds[f"{name}, logs right"] = World(relative(live, live, 200, **late))
        worlds[f"{name}, order reversed"] = World(
            relative(live, reversed_, 200, **late), q99=BROKEN
        )
    many = 40_000
    worlds |= {
        RIGHT: World(relative([0.02, 0.0], [0.02, 0.0], many), 0.25, horizon=slow),
        REVERSED: World(relative([0.02, 0.0], [0.0, 0.02], many), q99=BROKEN, horizon=slow),
        "gap 0.1, logs right": World(relative(two, two, 1_000), horizon=slow),
        "gap 0.1, order reversed": World(relative(two, two[::-1], 1_000), q99=BROKEN, horizon=slow),
        "gap 0.1, best arm logged 0.5 too low": World(
            relative(two, [-0.4, 0.0], 1_000), q99=BROKEN, horizon=slow
        ),
        "gap 0.02, order reversed, V = 0": World(
            Bandit([0.02, 0.0], [0.0, 0.02], many, 0.0), q99=BROKEN, horizon=slow
        ),
        "gap 0.1, order reversed, V = 0": World(
            Bandit(two, two[::-1], 1_000, 0.0), q99=BROKEN, horizon=slow
        ),
        "levels hold: logs right, V = 0": World(Bandit(live, live, 200), before=1.05),
        "levels hold: no logs of the best arm, V = 0": World(
            Bandit(live, live, [0] + [200] * 9), before=1.05
        ),
        "levels hold: logs mislead, V right": World(Bandit(live, reversed_, 200), before=1.05),
        "no logs at all": World(Bandit(live), before=1.05),
    }
    return worlds


class Place(NamedTuple):
    """A world of the grid."""

    gap: float
    arms: int
    logs: str  # right, wrong or absent

    @property
    def label(self) -> str:
        """Its name in files."""
        return f"grid: gap {self.gap:g}, {self.arms} arms, logs {self.logs}"


def grid() -> dict[Place, World]:
    """Gaps by numbers of arms by what the logs are."""
    found = {}
    for gap, logged in GAPS.items():
        for arms in (2, 10):
            best, worst = [gap] + [0.0] * (arms - 1), [0.0] + [gap] * (arms - 1)
            bandits = {
                "right": relative(best, best, logged),
                "wrong": relative(best, worst, logged),
                "absent": Bandit(best),
            }
            for logs, bandit in bandits.items():
                horizon = 20_000 if gap == min(GAPS) else 10_000
                q99 = BROKEN if logs == "wrong" else GRID
                found[Place(gap, arms, logs)] = World(bandit, q99=q99, horizon=horizon)
    return found


def blind(bandit: Bandit) -> Bandit:
    """The same world with logs that are taken as they are: W = 0."""
    if not bandit.is_relative:
        return bandit
    return Bandit(
        bandit.online,
        bandit.offline,
        bandit.offline_pulls,
        delay=bandit.delay,
        batch=bandit.batch,
        relative_bound=0.0,
    )


def lost(policy: Policy, world: World, runs: int, seed: int) -> Cell:
    """What a policy loses in a world."""
    bandit = blind(world.bandit) if isinstance(policy, HybridTS) else world.bandit
    runs *= MORE if len(bandit.arms) == 2 else 1
    return statistics(regrets(policy, bandit, world.horizon, runs, seed))


def regrets(policy: Policy, bandit: Bandit, horizon: int, runs: int, seed: int) -> Floats:
    """Final regret of each run."""
    effort: dict[str, Any] = {"horizon": horizon, "runs": runs, "seed": seed, "checkpoints": 1}
    result = simulate({"it": policy}, bandit, engine="every-round", **effort)
    return result.final("it")


def statistics(final: Floats) -> Cell:
    """Mean, standard error and 99 % quantile."""
    numbers = {"mean": final.mean(), "se": standard_error(final), "q99": np.quantile(final, 0.99)}
    return {name: round(float(x), 3) for name, x in numbers.items()}


@functools.cache
def before() -> dict[str, Any]:
    """What the default before lost in the same worlds, and how that was measured."""
    return tomllib.loads(BEFORE.read_text())


def measure(runs: int, seed: int, progress: Progress) -> dict[str, render.Block]:
    """Every block of the page, and its pictures; half of the usual runs."""
    runs = max(2, runs // 2)
    cells: dict[str, dict[str, Cell]] = {}
    for label, world in aims().items():
        progress(f"promises: {label}")
        cells[label] = {name: lost(rule, world, runs, seed) for name, rule in RULES.items()}
        cells[label][OLD] = before()["worlds"][label]
    gridded: dict[Place, dict[str, Cell]] = {}
    for place, world in grid().items():
        progress(f"promises: {place.label}")
        gridded[place] = {
            name: lost(RULES[name], world, runs, seed)
            for name in ("TS", "hierarchical TS", DEFAULT)
        }
        gridded[place][OLD] = before()["worlds"][place.label]
    progress("promises: no rewards yet")
    silent = first_day(max(2, runs // 10), seed)
    progress("promises: the frontier")
    points, larger = (frontier.trace(gap, horizon=20_000) for gap in (0.02, 0.1))
    promises_pictures.draw(points, {name: _pair(cells, name) for name in RULES})
    return {
        "promises-worlds": _worlds(cells, runs, seed),
        "promises-aims": _verdicts(cells),
        "promises-grid": _grid(gridded),
        "promises-grid-count": _count(gridded),
        "promises-silent": silent,
        "promises-frontier": _frontier(points, cells),
        "promises-excluded": _excluded(points, cells),
        "promises-larger": _larger(larger, cells),
    }


def _worlds(cells: dict[str, dict[str, Cell]], runs: int, seed: int) -> render.Block:
    columns = list(next(iter(cells.values())))
    rows = [
        {"label": label, "cells": [row[name] for name in columns]} for label, row in cells.items()
    ]
    return {
        "kind": "worlds",
        "columns": columns,
        "rows": rows,
        "runs": runs,
        "more": MORE,
        "seed": seed,
    }


class Aim(NamedTuple):
    """One thing to reach, and what came out."""

    says: str
    most: float
    found: float

    @property
    def met(self) -> bool:
        """Whether it was reached, to the digits that are shown."""
        return round(self.found, 2) <= self.most


def judged(world: World, row: dict[str, Cell]) -> list[Aim]:
    """What was aimed at in a world, and what came out."""
    ts, ours = row["TS"], row[DEFAULT]
    aims_ = []
    if world.before is not None:
        then = row[OLD]["mean"]
        return [Aim("mean, over the default before", world.before, ours["mean"] / then)]
    if world.mean is not None:
        aims_.append(Aim("mean, over TS's", world.mean, ours["mean"] / ts["mean"]))
    if world.q99 is not None:
        aims_.append(Aim("q99, over TS's", world.q99, ours["q99"] / ts["q99"]))
    if world.proved is not None:
        proved = row[PROVED]["mean"] / ts["mean"]
        aims_.append(Aim("proved: mean, over TS's", world.proved, proved))
    return aims_


def _verdicts(cells: dict[str, dict[str, Cell]]) -> render.Block:
    rows = []
    for label, world in aims().items():
        for i, aim in enumerate(judged(world, cells[label])):
            numbers = [aim.says, f"≤ {aim.most:g}", f"{aim.found:.2f}"]
            verdict = "yes" if aim.met else "**no**"
            rows.append({"label": "" if i else label, "cells": [*numbers, verdict]})
    columns = ["world", "what", "aim", "measured", "met"]
    return {"kind": "table", "columns": columns, "rows": rows}


def _grid(cells: dict[Place, dict[str, Cell]]) -> render.Block:
    """Mean and q99 over TS's."""
    names = ("hierarchical TS", DEFAULT, OLD)
    rows = []
    for place, row in cells.items():
        ts = row["TS"]
        parts = [
            f"{_ratio(row[name]['mean'], ts['mean'])} ({_ratio(row[name]['q99'], ts['q99'])})"
            for name in names
        ]
        label = f"{place.gap:g} σ, {place.arms} arms, {place.logs}"
        absolute = f"{ts['mean']:,.0f} ({ts['q99']:,.0f})"
        rows.append({"label": label, "cells": [absolute, *parts], "measured": row})
    return {"kind": "table", "columns": ["gap, arms, logs", "TS", *names], "rows": rows}


def _count(cells: dict[Place, dict[str, Cell]]) -> render.Block:
    """How many worlds of the grid meet their aims, and which do not."""
    missed: dict[str, list[str]] = {"mean": [], "kept": [], "broken": []}
    worlds = grid()
    for place, row in cells.items():
        mean, q99 = judged(worlds[place], row)
        name = f"{place.gap:g} σ, {place.arms} arms, logs {place.logs}"
        if not mean.met:
            missed["mean"].append(f"{name}: {mean.found:.2f}")
        if not q99.met:
            kind = "broken" if place.logs == "wrong" else "kept"
            missed[kind].append(f"{name}: {q99.found:.2f}")
    wrong = sum(place.logs == "wrong" for place in cells)
    whole = {"mean": len(cells), "kept": len(cells) - wrong, "broken": wrong}
    says = {
        "mean": f"Mean at most {GRID:g} of TS's",
        "kept": f"Promise kept (or no logs), q99 at most {GRID:g} of TS's",
        "broken": f"Promise broken, q99 at most {BROKEN:g} of TS's",
    }
    lines = []
    for kind, names in missed.items():
        text = f"- {says[kind]}: in {whole[kind] - len(names)} of {whole[kind]} worlds."
        lines.append(text + (f" Not in: {'; '.join(names)}." if names else ""))
    return {"kind": "text", "text": "\n".join(lines)}


def first_day(runs: int, seed: int) -> render.Block:
    """Pulls of the logs' best arm before there is any reward."""
    live = ten(0.8, 0.5)
    bandits = {
        "V = 0": Bandit(live, live, 5_000, delay=SILENT),
        "W = 0": relative(live, live, 5_000, delay=SILENT),
    }
    names = {name: name for name in RULES if name != "TS"}
    names |= {DEFAULT: "**default**, estimated", PROVED: "**default**, proved"}
    rows = []
    for name, label in names.items():
        shares = []
        for bandit in bandits.values():
            effort: dict[str, Any] = {"horizon": SILENT, "runs": runs, "seed": seed}
            result = simulate({"it": RULES[name]}, bandit, engine="every-round", **effort)
            shares.append(float(result.pulls[0, :, 0].mean()) / SILENT)
        rows.append({"label": label, "cells": [f"{100 * share:.1f} %" for share in shares]})
    return {"kind": "table", "columns": ["rule", *bandits], "rows": rows}


def _pair(cells: dict[str, dict[str, Cell]], name: str) -> tuple[float, float]:
    """What a rule loses at a gap of 0.02 where the logs are right, and where they are reversed."""
    return cells[RIGHT][name]["mean"], cells[REVERSED][name]["mean"]


def _frontier(points: list[frontier.Point], cells: dict[str, dict[str, Cell]]) -> render.Block:
    """The best pairs, and where the rules are."""
    ts = _pair(cells, "TS")
    rows = [
        {
            "label": f"best rule that doubts the logs by {100 * point.doubt:g} %",
            "cells": _both((point.right, point.wrong), ts),
        }
        for point in points
    ]
    rows += [{"label": name, "cells": _both(_pair(cells, name), ts)} for name in RULES]
    columns = ["rule", "logs right", "order reversed", "right, over TS", "reversed, over TS"]
    return {"kind": "table", "columns": columns, "rows": rows}


def _both(pair: tuple[float, float], ts: tuple[float, float]) -> list[str]:
    return [*(f"{x:,.0f}" for x in pair), *(f"{x / y:.2f}" for x, y in zip(pair, ts, strict=True))]


def _excluded(points: list[frontier.Point], cells: dict[str, dict[str, Cell]]) -> render.Block:
    """What the frontier leaves of the two aims at a gap of 0.02."""
    right, wrong = _pair(cells, "TS")
    least = frontier.least_wrong(points, 0.25 * right)
    other = frontier.least_right(points, GRID * wrong)
    text = (
        f"TS loses {right:,.0f} here. A rule that loses at most 0.25 of it where the logs are "
        f"right ({0.25 * right:,.0f}) loses at least about {least:,.0f} where they are reversed: "
        f"{least / wrong:.2f} of TS. A rule that loses at most {GRID:g} of TS where they are "
        f"reversed ({GRID * wrong:,.0f}) loses at least about {other:,.0f} where they are right: "
        f"{other / right:.2f} of TS. {_beside(points, _pair(cells, DEFAULT))}"
    )
    return {"kind": "text", "text": text}


def _larger(points: list[frontier.Point], cells: dict[str, dict[str, Cell]]) -> render.Block:
    """The same at a gap of 0.1, where more can be had."""
    ts, *ours = (
        cells[label][name]["mean"]
        for name, label in (
            ("TS", "gap 0.1, logs right"),
            (DEFAULT, "gap 0.1, logs right"),
            (DEFAULT, "gap 0.1, order reversed"),
        )
    )
    text = f"At a gap of 0.1 σ TS loses {ts:,.0f}. {_beside(points, (ours[0], ours[1]))}"
    return {"kind": "text", "text": text}


def _beside(points: list[frontier.Point], ours: tuple[float, float]) -> str:
    """The default beside the best rule that loses as much where the logs are right."""
    best = frontier.least_wrong(points, ours[0])
    return (
        f"The default loses {ours[0]:,.0f} where logs are right and {ours[1]:,.0f} where they are "
        f"reversed; the best rule that loses {ours[0]:,.0f} where they are right loses about "
        f"{best:,.0f} where they are reversed."
    )


def _ratio(x: float, y: float) -> str:
    return "–" if y == 0 else f"{x / y:,.0f}" if x >= 100 * y else f"{x / y:.2f}"
