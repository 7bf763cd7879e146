"""Policies on packages that Upworthy tested twice: the numbers of `docs/evidence/upworthy.md`.

    python -m benchmarks.upworthy PATH/upworthy_clean.parquet [--runs N] [--seed S] [--most T]

For every pair of tests that share two arms or more, the earlier test is the log, as it was, and the
later one the world: coins with its click rates, for as many rounds as its shared arms had
impressions. V and W come from the other retests. Pairs share no test, so intervals are bootstrapped
over pairs. The same runs and seed give the same numbers.
"""

import argparse
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import report, upworthy_plot
from benchmarks.clock import say
from benchmarks.retests import Pair, Retests
from benchmarks.tables import Blocks, table
from driftanchor.core.check import Floats
from driftanchor.live.default_policy import default_policy
from driftanchor.policies import Policy, make
from driftanchor.shift.two_way_moves import Spread
from driftanchor.simulation import Bandit, simulate


class Entry(NamedTuple):
    """A policy, what it is promised, and how sure that is."""

    policy: str
    promise: str = "V"  # V, W, or both
    source: str = "estimated"


class Bounds(NamedTuple):
    """V and W of every pair."""

    level: Floats
    relative: Floats


DEFAULT = "guarded-anchor-ts"
ENTRIES = {
    "ts": Entry("ts"),
    "optimistic-ts": Entry("optimistic-ts"),
    "ucb": Entry("ucb"),
    "hybrid-ts": Entry("hybrid-ts"),
    "hybrid-ucb": Entry("hybrid-ucb"),
    "artificial-replay": Entry("artificial-replay"),
    "min-ucb, V": Entry("min-ucb"),
    "anchor-ts, V": Entry("anchor-ts"),
    "anchor-ts, W": Entry("anchor-ts", "W"),
    "hierarchical-ts, W": Entry("hierarchical-ts", "W"),
    "sam-ts, W": Entry("sam-ts", "W"),
    f"{DEFAULT}, V": Entry(DEFAULT),
    f"{DEFAULT}, W": Entry(DEFAULT, "W"),
    f"{DEFAULT}, V and W": Entry(DEFAULT, "V and W"),
    f"{DEFAULT}, W proved": Entry(DEFAULT, "W", "proved"),
}
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
RESAMPLES = 10_000
DRAWS = 4_000  # of the own moves behind the noise of a pair

Lost = dict[str, Floats]  # clicks lost by (pair, run)


def policy_of(pair: Pair, entry: Entry) -> Policy:
    """In the units of the earlier test, as `Learner` sets them."""
    default, _ = default_policy(pair.offline, (0.0, 1.0), entry.source)
    if entry.policy == DEFAULT:
        return default
    return make(entry.policy, prior_mean=default.prior_mean, noise=default.noise)


def world(pair: Pair, promise: str, level: float, relative: float) -> Bandit:
    """The later test, with the earlier one as given logs."""
    logs = pair.offline
    if promise == "V and W":  # V alone says that no arm is farther than 2 V from another
        relative = min(relative, 2 * level)
    return Bandit(
        pair.online,
        logs.mean,
        logs.n,
        level if "V" in promise else math.inf,
        reward="bernoulli",
        logs="given",
        relative_bound=relative if "W" in promise else None,
    )


def play(pairs: list[Pair], bounds: Bounds, labels: Iterable[str], asked: Any) -> Lost:
    """Every entry on every pair."""
    lost: dict[str, list[Floats]] = {label: [] for label in labels}
    for number, (pair, v, w) in enumerate(zip(pairs, *bounds, strict=True)):
        for label, rows in lost.items():
            entry = ENTRIES[label]
            result = simulate(
                {label: policy_of(pair, entry)},
                world(pair, entry.promise, float(v), float(w)),
                horizon=min(pair.impressions, asked.most),
                runs=asked.runs,
                seed=asked.seed + number,
                checkpoints=1,
                engine=asked.engine,
            )
            rows.append(result.final(label))
    return {label: np.stack(rows) for label, rows in lost.items()}


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


def of_the_logs(lost: Lost, most: Floats, asked: Any) -> Blocks:
    """What logs bring beside optimistic TS, which uses none, and what W brings beside V."""

    def apart(name: str, other: str) -> str:
        share = ((lost[name] - lost[other]) / most[:, None]).mean(axis=1)
        middle, low, high = (
            f"{100 * x:+.1f}".replace("-", "−") for x in resampled(share, asked.seed)
        )
        return f"{middle} points ({low} to {high})"

    promised = [label for label in lost if ", " in label and not label.startswith("min-ucb")]
    parts = [f"{name} {apart(name, 'optimistic-ts')}" for name in promised]
    text = (
        f"Share lost minus that of optimistic TS, which uses no logs: {'; '.join(parts)}. The "
        f"default with W minus the default with V: {apart(f'{DEFAULT}, W', f'{DEFAULT}, V')}."
    )
    return {"upworthy-logs": {"kind": "text", "text": text}}


def by_order(lost: Lost, pairs: list[Pair], most: Floats) -> Blocks:
    """Where the log's best package was the best again, and where not."""
    same = np.array([pair.offline.mean.argmax() == pair.online.argmax() for pair in pairs])
    cells = {}
    for name, clicks in lost.items():
        share = 100 * clicks / most[:, None]
        cells[name] = [
            text
            for kind in (same, ~same)
            for text in (
                (f"{share[kind].mean():.1f}", f"{np.quantile(share[kind], 0.95):.0f}")
                if kind.any()
                else ("–", "–")
            )
        ]
    columns = [
        "",
        f"log's best is best again ({same.sum()} pairs): share lost, %",
        "q95, %",
        f"it is not ({(~same).sum()} pairs): share lost, %",
        "q95, %",
    ]
    return table("upworthy-order", "By whether the order held", columns, cells)


def of_own_moves(data: Retests, pairs: list[Pair], bounds: Floats, asked: Any) -> Blocks:
    """How far arms moved from each other, and how often W covers it, with noise and without."""
    spread = Spread(data.contrasts())
    tau = math.sqrt(2 * spread.own2)
    low, high = (math.sqrt(2 * x) for x in spread.own_interval(0.05))
    halves = [float(np.ptp(pair.online - pair.offline.mean)) / 2 for pair in pairs]
    seen = sum(half <= w for half, w in zip(halves, bounds, strict=True))
    rng = np.random.default_rng(asked.seed)
    behind = sum(
        float((np.ptp(own_moves(pair, tau, rng), axis=1) / 2 <= w).mean())
        for pair, w in zip(pairs, bounds, strict=True)
    )
    text = (
        f"W from the other pairs is {bounds.min():.4f} to {bounds.max():.4f}, "
        f"{np.median(bounds):.4f} in the median. The own move of a package from one test to the "
        f"next has the standard deviation {tau:.4f} (95 % interval {low:.4f} to {high:.4f}). Click "
        f"rates as they were counted moved within W of a common move in {seen} of {len(pairs)} "
        f"pairs. With the noise of counting taken out, W covers {behind:.1f} of {len(pairs)} pairs "
        "in expectation."
    )
    return {"upworthy-own": {"kind": "text", "text": text}}


def own_moves(pair: Pair, tau: float, rng: np.random.Generator) -> Floats:
    """Draws of the true own moves of a pair's arms, given its two tests.

    Own moves are N(0, τ²), the common move may be anything, and rates have the noise of coins.
    """
    moves = pair.online - pair.offline.mean
    noise = np.zeros(len(moves))
    for counts in (pair.earlier, pair.later):
        shown, clicks = np.array(list(counts.values()), dtype=np.float64).T
        noise += np.maximum(clicks, 1.0) / shown**2 * (1 - clicks / shown)
    contrast = np.diff(np.eye(len(moves)), axis=0)
    own = tau**2 * np.eye(len(moves))
    gain = own @ contrast.T @ np.linalg.inv(contrast @ (own + np.diag(noise)) @ contrast.T)
    left = own - gain @ contrast @ own
    return rng.multivariate_normal(gain @ contrast @ moves, left, DRAWS, method="svd")


def told(data: Retests, pairs: list[Pair], bounds: Floats, asked: Any) -> Blocks:
    """What the pairs are like, in numbers."""
    moves = [pair.online - pair.offline.mean for pair in pairs]
    between = data.history().one_way(pooled=True)
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
