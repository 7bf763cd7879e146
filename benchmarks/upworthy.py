"""Policies on packages that Upworthy really tested twice; writes docs/upworthy.md's numbers.

    python -m benchmarks.upworthy PATH/upworthy_clean.parquet [--runs N] [--seed S] [--most T]

For every pair of tests that share two arms or more, the earlier test is the log, as it was, and the
later one the world: coins with its click rates, for as many rounds as its shared arms had
impressions. V comes from the other retests. Pairs share no test, so intervals are bootstrapped over
pairs. The same runs and seed give the same numbers.
"""

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report, upworthy_plot
from benchmarks.clock import say
from benchmarks.retests import Pair, Retests
from benchmarks.tables import Blocks, table
from driftanchor.core.check import Floats
from driftanchor.live.units import guarded_for
from driftanchor.policies import Policy, make
from driftanchor.simulate import Bandit, simulate

NAMES = (
    "ts",
    "optimistic-ts",
    "ucb",
    "hybrid-ts",
    "hybrid-ucb",
    "artificial-replay",
    "min-ucb",
    "anchor-ts",
    "guarded-anchor-ts",
)
PROMISED = ("min-ucb", "anchor-ts", "guarded-anchor-ts")  # those that use V
TIMES = {"0": 0.0, "V/4": 0.25, "V/2": 0.5, "V": 1.0, "2 V": 2.0, "∞": math.inf}
BASE = "ts"
RESAMPLES = 10_000

Lost = dict[str, Floats]  # clicks lost by (pair, run)


def policies(pair: Pair, names: tuple[str, ...]) -> dict[str, Policy]:
    """In the units of the earlier test, as `Learner` sets them."""
    units, _ = guarded_for(pair.offline, (0.0, 1.0), "estimated")
    return {name: make(name, prior_mean=units.prior_mean, noise=units.noise) for name in names}


def world(pair: Pair, bound: float) -> Bandit:
    """The later test, with the earlier one as given logs."""
    logs = pair.offline
    return Bandit(pair.online, logs.mean, logs.n, bound, reward="bernoulli", logs="given")


def play(pairs: list[Pair], bounds: Floats, names: tuple[str, ...], asked: Any) -> Lost:
    """Every policy on every pair."""
    lost: dict[str, list[Floats]] = {name: [] for name in names}
    for number, (pair, bound) in enumerate(zip(pairs, bounds, strict=True)):
        result = simulate(
            policies(pair, names),
            world(pair, float(bound)),
            horizon=min(pair.impressions, asked.most),
            runs=asked.runs,
            seed=asked.seed + number,
            checkpoints=1,
            engine=asked.engine,
        )
        for name in names:
            lost[name].append(result.final(name))
    return {name: np.stack(rows) for name, rows in lost.items()}


def without_learning(pairs: list[Pair], asked: Any) -> Lost:
    """What two rules lose that look at nothing online: an arm at random, and the log's best."""
    found: dict[str, list[float]] = {"an arm at random": [], "always the log's best": []}
    for pair in pairs:
        gaps = pair.online.max() - pair.online
        horizon = min(pair.impressions, asked.most)
        found["an arm at random"].append(horizon * float(gaps.mean()))
        found["always the log's best"].append(horizon * float(gaps[pair.offline.mean.argmax()]))
    return {name: np.array(rows)[:, None] for name, rows in found.items()}


def stakes(pairs: list[Pair], asked: Any) -> Floats:
    """The most clicks that can be lost in each pair: the worst arm in every round."""
    return np.array([min(p.impressions, asked.most) * np.ptp(p.online) for p in pairs])


def resampled(values: Floats, seed: int) -> tuple[float, float, float]:
    """The mean over pairs with its 95 % bootstrap interval."""
    picks = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    return float(values.mean()), float(low), float(high)


def rows_of(lost: Lost, base: Floats, most: Floats, seed: int) -> dict[str, dict[str, Any]]:
    """What each policy lost over pairs, and less what TS lost, in clicks and as a share."""
    rows = {}
    for name, clicks in lost.items():
        share = clicks / most[:, None]
        per_pair = share.mean(axis=1)
        rows[name] = {
            "clicks": float(clicks.mean()),
            "share": float(share.mean()),
            "q95": float(np.quantile(np.broadcast_to(share, base.shape), 0.95)),
            "worst": float(per_pair.max()),
            "apart": resampled(clicks.mean(axis=1) - base.mean(axis=1), seed),
            "share_apart": resampled(per_pair - (base / most[:, None]).mean(axis=1), seed),
        }
    return rows


def line(row: Mapping[str, Any], *, is_base: bool = False) -> list[str]:
    """A row as cells."""
    apart, share = (
        f"{middle:+.{d}f} ({low:+.{d}f} to {high:+.{d}f})".replace("-", "−")
        for d, (middle, low, high) in (
            (1, row["apart"]),
            (1, tuple(100 * x for x in row["share_apart"])),
        )
    )
    return [
        f"{row['clicks']:.1f}",
        f"{100 * row['share']:.1f}",
        f"{100 * row['q95']:.0f}",
        f"{100 * row['worst']:.0f}",
        "–" if is_base else apart,
        "–" if is_base else share,
    ]


COLUMNS = (
    "clicks lost",
    "share lost, %",
    "q95, %",
    "worst pair, %",
    "clicks minus TS",
    "share minus TS, points",
)


def measure(data: Retests, asked: Any) -> Blocks:
    """Every block of the page."""
    pairs = data.pairs()
    say(f"{len(pairs)} pairs; V for each from the others")
    bounds = np.array([data.bias_bound(pair) for pair in pairs])
    say("every policy on every pair")
    lost = play(pairs, bounds, NAMES, asked)
    most = stakes(pairs, asked)
    rows = rows_of(lost | without_learning(pairs, asked), lost[BASE], most, asked.seed)
    cells = {name: line(row, is_base=name == BASE) for name, row in rows.items()}
    title = "Policies on Upworthy's retests"
    blocks = told(data, pairs, bounds, asked)
    blocks |= of_the_logs(lost, most, asked)
    blocks |= table("upworthy-policies", title, ["", *COLUMNS], cells, measured=rows)
    cells, curves = {}, {}
    for label, times in TIMES.items():
        say(f"V times {times:g}")
        found = rows_of(
            play(pairs, np.nan_to_num(bounds * times, nan=math.inf), PROMISED, asked),
            lost[BASE],
            most,
            asked.seed,
        )
        cells[label] = [
            f"{found[n]['clicks']:.1f} ({100 * found[n]['share']:.1f} %)" for n in PROMISED
        ]
        curves[label] = {name: found[name]["share_apart"] for name in PROMISED}
    title = "With smaller and larger bounds"
    blocks |= table("upworthy-bounds", title, ["bias bound", *PROMISED], cells, curves=curves)
    return blocks


def of_the_logs(lost: Lost, most: Floats, asked: Any) -> Blocks:
    """What logs bring to the policies that use V, beside the same policy without a use of them."""
    parts = []
    for name in PROMISED[1:]:
        share = ((lost[name] - lost["optimistic-ts"]) / most[:, None]).mean(axis=1)
        middle, low, high = (
            f"{100 * x:+.1f}".replace("-", "−") for x in resampled(share, asked.seed)
        )
        parts.append(f"{name} {middle} points ({low} to {high})")
    text = f"Minus optimistic TS, which is Anchor-TS with V = ∞: {'; '.join(parts)}."
    return {"upworthy-logs": {"kind": "text", "text": text}}


def told(data: Retests, pairs: list[Pair], bounds: Floats, asked: Any) -> Blocks:
    """What the pairs are like, in numbers."""
    moves = [pair.online - pair.offline.mean for pair in pairs]
    between = data.history().between(pooled=True)
    tau = math.sqrt(between.estimate()[0])
    low, high = (math.sqrt(x[0]) for x in between.interval(0.05))
    within = sum(bool((np.abs(move) <= v).all()) for move, v in zip(moves, bounds, strict=True))
    same = sum(int(p.offline.mean.argmax() == p.online.argmax()) for p in pairs)
    medians: dict[str, Callable[[Pair], float]] = {
        "gap": lambda p: float(np.ptp(p.online)),
        "rate": lambda p: float(p.online.mean()),
        "noise": lambda p: p.offline.pooled_noise(),
    }
    middle = {name: float(np.median([of(p) for p in pairs])) for name, of in medians.items()}
    common = float(np.median([abs(move.mean()) for move in moves]))
    own = float(np.median([np.abs(move - move.mean()).mean() for move in moves]))
    every = data.pairs(1)
    rates = np.concatenate([pair.offline.mean for pair in every])
    sizes = np.abs(np.concatenate([pair.online - pair.offline.mean for pair in every]))
    ends = np.quantile(rates, [0.25, 0.75])
    rare, often = np.median(sizes[rates < ends[0]]), np.median(sizes[rates > ends[1]])
    horizons = [min(p.impressions, asked.most) for p in pairs]
    text = (
        f"{len(data.arms):,} packages were tested more than once; {len(pairs)} pairs of tests "
        f"share two packages or more, {sum(len(p.earlier) for p in pairs)} packages in all. "
        f"Between two tests of a package τ is {tau:.4f} (95 % interval {low:.4f} to {high:.4f}), "
        f"and V from the other retests is {bounds.min():.4f} to {bounds.max():.4f}. In the median "
        f"pair the click rate is {middle['rate']:.4f}, σ {middle['noise']:.3f}, and the best "
        f"package {middle['gap']:.4f} above the worst. V covers all moves in {within} of "
        f"{len(pairs)} pairs. All shared packages together moved by {common:.4f} in the median "
        f"pair, and each from the others by {own:.4f}. Moves grow with the rate: of all retests "
        f"the median move is {rare:.4f} in the quarter with the lowest rates and {often:.4f} in "
        f"that with the highest. In {same} of {len(pairs)} pairs the log's best package is the "
        f"best again. Rounds: {min(horizons):,} to {max(horizons):,} (at most {asked.most:,}); "
        f"{asked.runs} runs of each policy on each pair, seed {asked.seed}."
    )
    return {"upworthy-data": {"kind": "text", "text": text}}


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
