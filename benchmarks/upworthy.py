"""Policies on packages that Upworthy tested twice: the numbers of `docs/evidence/upworthy.md`.

    python -m benchmarks.upworthy PATH/upworthy_clean.parquet [--runs N] [--seed S] [--most T]

For every pair of tests that share two arms or more, the earlier test is the log, as it was, and the
later one the world: coins with its click rates, for as many rounds as its shared arms had
impressions. V and W come from the other retests. Pairs share no test, so intervals are bootstrapped
over pairs. The same runs and seed give the same numbers.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report, upworthy_plot
from benchmarks.clock import say
from benchmarks.retests import Pair, Retests
from benchmarks.tables import Blocks, table
from benchmarks.upworthy_moves import of_own_moves, told
from benchmarks.upworthy_play import DEFAULT, ENTRIES, Bounds, play, stakes, without_learning
from benchmarks.upworthy_tables import COLUMNS, by_order, line, of_the_logs, rows_of
from driftanchor.core.check import Floats

# Those that are played with other bounds too.
VARIED = {
    "V": ("min-ucb, V", "anchor-ts, V", f"{DEFAULT}, V"),
    "W": ("anchor-ts, W", "hierarchical-ts, W", f"{DEFAULT}, W"),
}
ORDERED = (
    "ts",
    "anchor-ts, W",
    "hierarchical-ts, W",
    f"{DEFAULT}, V",
    f"{DEFAULT}, W",
    f"{DEFAULT}, W proved",
)
TIMES = {"0": 0.0, "{}/4": 0.25, "{}/2": 0.5, "{}": 1.0, "2 {}": 2.0, "∞": math.inf}
BASE = "ts"


def measure(data: Retests, asked: Any) -> Blocks:
    """Every block of the page."""
    pairs = data.pairs()
    say(f"{len(pairs)} pairs; V and W for each from the others")
    bounds = Bounds(
        np.array([data.bias_bound(pair) for pair in pairs]),
        np.array([data.relative_bound(pair) for pair in pairs]),
    )
    say("every policy on every pair")
    lost = play(pairs, bounds, ENTRIES, asked)
    most = stakes(pairs, asked)
    rows = rows_of(lost | without_learning(pairs, asked), lost[BASE], most, asked.seed)
    cells = {name: line(row, is_base=name == BASE) for name, row in rows.items()}
    title = "Policies on Upworthy's retests"
    blocks = told(data, pairs, bounds.level, asked)
    blocks |= of_own_moves(data, pairs, bounds.relative, asked)
    blocks |= of_the_logs(lost, most, asked)
    blocks |= table("upworthy-policies", title, ["", *COLUMNS], cells, measured=rows)
    blocks |= by_order({name: lost[name] for name in ORDERED}, pairs, most)
    for letter in VARIED:
        blocks |= varied(letter, pairs, bounds, lost[BASE], most, asked)
    return blocks


def varied(
    letter: str, pairs: list[Pair], bounds: Bounds, base: Floats, most: Floats, asked: Any
) -> Blocks:
    """The policies that use a bound, with smaller and larger ones."""
    labels = VARIED[letter]
    cells, curves = {}, {}
    for text, times in TIMES.items():
        say(f"{letter} times {times:g}")
        with np.errstate(invalid="ignore"):  # 0 · ∞
            scaled = Bounds(*(np.where(np.isinf(x), x, x * times) for x in bounds))
        found = rows_of(play(pairs, scaled, labels, asked), base, most, asked.seed)
        named = text.format(letter)
        cells[named] = [
            f"{found[x]['clicks']:.1f} ({100 * found[x]['share']:.1f} %, "
            f"{100 * found[x]['q95']:.0f} %)"
            for x in labels
        ]
        curves[named] = {label: found[label]["share_apart"] for label in labels}
    title = f"With smaller and larger {letter}"
    columns = [letter, *(ENTRIES[label].policy for label in labels)]
    return table(f"upworthy-times-{letter.lower()}", title, columns, cells, curves=curves)


def main() -> None:
    """Measure, and bring the page and its figure up to date."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.upworthy", description=__doc__)
    parser.add_argument("path", type=Path, help="upworthy_clean.parquet")
    parser.add_argument("--runs", type=int, default=100, help="of each policy on each pair")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=20_000, help="rounds, at most")
    parser.add_argument("--engine", default="auto", help="that plays")
    parser.add_argument("--dry-run", action="store_true", help="print, and write nothing")
    asked = parser.parse_args()
    blocks = measure(Retests(asked.path), asked)
    print(report.show(blocks))
    if not asked.dry_run:
        upworthy_plot.draw(blocks, report.PLOT.with_name("upworthy.svg"))
        report.write_page("upworthy", blocks)


if __name__ == "__main__":
    main()
