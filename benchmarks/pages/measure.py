"""Measure what the pages say: errata, calibration, engines, choice, suite, intervals and more.

    python -m benchmarks.pages.measure [--runs N] [--seed S] [--render-only] [one of MEASURES]

The same runs and seed give the same files.
"""

import argparse
import functools
import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pages import (
    calibration,
    exactness,
    front,
    identify,
    intervals,
    promises,
    readings,
    render,
    rules,
    suite,
    worlds,
)
from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.live.default_policy import BUDGET, EPS
from driftanchor.policies import (
    TS,
    AnchorTS,
    GuardedAnchorTS,
    HierarchicalTS,
    HybridTS,
    MinUCB,
    OptimisticTS,
)
from driftanchor.policies.base import Policy
from driftanchor.simulation import COVERAGES, Bandit, simulate

Progress = Callable[[str], None]
SAMPLE = 50  # runs behind each curve of the paper (E19)


class Case(NamedTuple):
    """One policy in one world."""

    policy: Policy
    bandit: Bandit
    horizon: int = 10_000


class Question(NamedTuple):
    """Policies by worlds; with `paired` the first row is ours, subtracted from the others."""

    note: str
    columns: tuple[str, ...]
    rows: dict[str, list[Case]]
    paired: bool = True
    times: int = 1  # how many times the usual number of runs


def questions() -> dict[str, Question]:
    """What each erratum that touches the implementation is measured by."""
    return {
        "E1": _in_base_setting(
            {
                "line 12 as printed": readings.RecursiveMean(),
                "E1 to E4 as printed": readings.AsPrinted(),
            }
        ),
        "E2": _in_base_setting({"line 14 as printed": readings.DampedSum()}),
        "E3": _in_base_setting({"hybrid mean starts at m": readings.LogsAlone()}),
        "E4": _without_some_logs(),
        "E7": _in_base_setting({"anchor S/T": readings.PlainMean()}),
        "E13": _posterior_scales(),
        "E15": _ties(),
        "E16": _other_units(),
        "E17": _large_bounds(),
        "E18": _in_base_setting({"one draw for both": readings.SharedDraw()}),
    }


def _in_base_setting(policies: dict[str, Policy]) -> Question:
    rows = {
        label: [Case(policy, worlds.paper(coverage)) for coverage in COVERAGES]
        for label, policy in {"ours": AnchorTS(), **policies}.items()
    }
    return Question("biased base setting, 10,000 rounds, by where the logs are", COVERAGES, rows)


def _without_some_logs() -> Question:
    bandit = worlds.half_logged()
    rows = {
        "ours": [Case(AnchorTS(), bandit)],
        "Z starts at V": [Case(readings.ShiftWithoutLogs(), bandit)],
    }
    note = "biased base setting with V = 0.3 for all arms, 10,000 rounds"
    return Question(note, ("logs of every second arm only",), rows)


def _posterior_scales() -> Question:
    anchors = {f"Anchor-TS, c = {c}": AnchorTS(posterior_scale=c) for c in (1, 2, 4)}
    tails = worlds.tails()
    rows = {
        label: [Case(policy, *tail) for tail in tails.values()]
        for label, policy in {"TS": TS(), **anchors}.items()
    }
    note = "no logs, gap 0.5 for two arms and 0.3 for ten; coins of mean 0.75 and 0.25"
    return Question(note, tuple(tails), rows, paired=False)


def _ties() -> Question:
    orders = worlds.orders()
    rows = {
        "ours, ties at random": [Case(AnchorTS(), bandit, 100) for bandit in orders.values()],
        "first of ties": [Case(readings.FirstOfTies(), bandit, 100) for bandit in orders.values()],
    }
    return Question("no logs, gap 0.3, the first 100 rounds", tuple(orders), rows, times=40)


def _other_units() -> Question:
    shifted = [worlds.moved(worlds.paper(coverage), 2.0) for coverage in ("none", *COVERAGES)]
    rows = {
        "Anchor-TS, prior mean 2": [Case(AnchorTS(prior_mean=2.0), bandit) for bandit in shifted],
        "Anchor-TS, prior mean 0": [Case(AnchorTS(), bandit) for bandit in shifted],
        "TS, prior mean 0": [Case(TS(), shifted[0])] * 4,
    }
    note = "biased base setting with 2 added to every reward, 10,000 rounds"
    return Question(note, ("no logs", *COVERAGES), rows, paired=False)


def _large_bounds() -> Question:
    bounds = {"exact": 0.0, "0.3": 0.3, "0.5": 0.5, "1": 1.0, "3": 3.0, "∞": math.inf}
    bare = worlds.paper("none")
    rows = {
        f"Anchor-TS, V = {label}": [
            Case(AnchorTS(), worlds.paper(coverage, at_least=v)) for coverage in COVERAGES
        ]
        for label, v in bounds.items()
    }
    rows["Anchor-TS without logs"] = [Case(AnchorTS(), bare)] * 3
    rows["optimistic TS"] = [Case(OptimisticTS(), bare)] * 3
    rows["TS"] = [Case(TS(), bare)] * 3
    note = "biased base setting, no bias bound below V, 10,000 rounds"
    return Question(note, COVERAGES, rows, paired=False)


def _which_policy() -> Question:
    policies: dict[str, Callable[[float], Policy]] = {
        "TS": lambda noise: TS(noise=noise),
        "MIN-UCB": lambda noise: MinUCB(noise=noise),
        "Anchor-TS": lambda noise: AnchorTS(noise=noise),
        "hierarchical TS": lambda noise: HierarchicalTS(noise=noise),
        "**guarded**": functools.partial(_guarded, "estimated"),
        "guarded, proved": functools.partial(_guarded, "proved"),
        "guarded, guessed": functools.partial(_guarded, "guessed"),
    }
    rows = {
        label: [
            Case(make(0.5 if bandit.reward == "bernoulli" else 1.0), bandit)
            for make in policies.values()
        ]
        for label, bandit in worlds.kinds_of_logs().items()
    }
    note = "10,000 rounds, ten arms of gap 0.3 and 200 logged rewards of each unless said; m₀ = 0"
    return Question(note, tuple(policies), rows, paired=False)


def _guarded(source: str, noise: float) -> Policy:
    """The default, insured as bounds from this source need it."""
    return GuardedAnchorTS(noise=noise, eps=EPS[source], budget=BUDGET[source])


@functools.cache
def regrets(case: Case, runs: int, seed: int) -> Floats:
    """Final regret of each run; the same case is simulated once, whoever asks."""
    result = simulate(
        {"it": case.policy},
        case.bandit,
        horizon=case.horizon,
        runs=runs,
        seed=seed,
        checkpoints=1,
        engine="every-round",  # the engine that pairs runs
    )
    return result.final("it")


def answer(question: Question, runs: int, seed: int) -> render.Block:
    """Measure one question."""
    runs *= question.times
    ours = next(iter(question.rows.values()))
    rows = []
    for label, cases in question.rows.items():
        cells = []
        for case, first in zip(cases, ours, strict=True):
            lost = regrets(case, runs, seed)
            cell = statistics(lost)
            if question.paired and cases is not ours:
                apart = statistics(lost - regrets(first, runs, seed))
                cell |= {"difference": apart["mean"], "difference_se": apart["se"]}
            cells.append(cell)
        rows.append({"label": label, "cells": cells})
    body = {"note": question.note, "columns": list(question.columns), "rows": rows}
    return {"kind": "readings", "runs": runs, "seed": seed, **body}


def samples(runs: int, seed: int) -> render.Block:
    """E19: what experiments of 50 runs report, when many are made."""
    unbiased = functools.partial(worlds.paper, biased=False)
    cases = {
        "unbiased, gap 0.3, optimal": (unbiased("optimal"), HybridTS()),
        "unbiased, gap 0.3, suboptimal": (unbiased("suboptimal"), HybridTS()),
        "unbiased, gap 0.1, suboptimal": (unbiased("suboptimal", gap=0.1), HybridTS()),
        "no logs, gap 0.3": (worlds.paper("none"), TS()),
    }
    rows = []
    for label, (bandit, rival) in cases.items():
        lost = regrets(Case(AnchorTS(), bandit), runs, seed)
        theirs = regrets(Case(rival, bandit), runs, seed)
        parts, their_parts = (
            x[: runs // SAMPLE * SAMPLE].reshape(-1, SAMPLE) for x in (lost, theirs)
        )
        means, errors = parts.mean(axis=1), standard_error(parts.T)
        ends = {"low": means.min(), "high": means.max()}
        ends |= {"se_low": errors.min(), "se_high": errors.max()}
        rows.append(
            {
                "label": label,
                **statistics(lost),
                **{name: round(float(x), 3) for name, x in ends.items()},
                "rival": rival.name,
                "behind": int((means > their_parts.mean(axis=1)).sum()),
                "samples": len(means),
            }
        )
    told = {"kind": "samples", "runs": runs, "seed": seed, "size": SAMPLE}
    return {**told, "note": "10,000 rounds", "rows": rows}


def statistics(lost: Floats) -> dict[str, Any]:
    """Mean, standard error, median and 99 % quantile, as the pages keep them."""
    median, q99 = np.quantile(lost, [0.5, 0.99])
    numbers = {"mean": lost.mean(), "se": standard_error(lost), "median": median, "q99": q99}
    return {name: round(float(x), 3) for name, x in numbers.items()}


def errata(runs: int, seed: int, progress: Progress) -> dict[str, render.Block]:
    """Every block of the errata."""
    blocks = {}
    for name, question in questions().items():
        progress(f"{name}: {question.note}")
        blocks[name] = answer(question, runs, seed)
    progress(f"E19: samples of {SAMPLE} runs")
    return blocks | {"E19": samples(2 * runs, seed)}


def choice(runs: int, seed: int, progress: Progress) -> dict[str, render.Block]:
    """The table behind `which-policy.md`."""
    progress(f"which policy: {len(worlds.kinds_of_logs())} worlds")
    return {"which-policy": answer(_which_policy(), runs, seed)}


MEASURES = {
    "front": front.measure,
    "errata": errata,
    "calibration": calibration.measure,
    "engines": exactness.measure,
    "choice": choice,
    "suite": suite.measure,
    "intervals": intervals.measure,
    "rules": rules.measure,
    "promises": promises.measure,
    "identify": identify.measure,
}


def main() -> None:
    """Measure what is asked for, then bring the pages up to date."""
    parser = argparse.ArgumentParser(description="Measure what the pages say.")
    parser.add_argument("what", nargs="?", choices=list(MEASURES))
    parser.add_argument("--runs", type=int, default=2_000, help="runs behind each number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--render-only", action="store_true", help="pages from the JSON files")
    asked = parser.parse_args()
    for what, measure in MEASURES.items():
        if not asked.render_only and asked.what in (None, what):
            render.save(f"{what}.json", measure(asked.runs, asked.seed, say))
    for page in render.pages():
        page.write_text(render.rendered(page))


def say(step: str) -> None:
    """Tell people what goes on."""
    print(step, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
