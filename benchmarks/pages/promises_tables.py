"""Tables of the page on two promises: what the rules lose, and whether the aims were met."""

from typing import NamedTuple

from benchmarks.pages import render
from benchmarks.pages.promises_worlds import (
    BROKEN,
    DEFAULT,
    GRID,
    MORE,
    OLD,
    PROVED,
    Cell,
    Place,
    World,
    aims,
    grid,
)


def losses(cells: dict[str, dict[str, Cell]], runs: int, seed: int) -> render.Block:
    """What every rule loses in every world with an aim."""
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


def verdicts(cells: dict[str, dict[str, Cell]]) -> render.Block:
    """Every aim, and whether it was met."""
    rows = []
    for label, world in aims().items():
        for i, aim in enumerate(judged(world, cells[label])):
            numbers = [aim.says, f"≤ {aim.most:g}", f"{aim.found:.2f}"]
            verdict = "yes" if aim.met else "**no**"
            rows.append({"label": "" if i else label, "cells": [*numbers, verdict]})
    columns = ["world", "what", "aim", "measured", "met"]
    return {"kind": "table", "columns": columns, "rows": rows}


def over_ts(cells: dict[Place, dict[str, Cell]]) -> render.Block:
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


def count(cells: dict[Place, dict[str, Cell]]) -> render.Block:
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


def _ratio(x: float, y: float) -> str:
    return "–" if y == 0 else f"{x / y:,.0f}" if x >= 100 * y else f"{x / y:.2f}"
