"""What the errata of the paper that touch the implementation change, measured."""

import functools
import math
from collections.abc import Callable

from benchmarks.pages import (
    readings,
    render,
    worlds,
)
from benchmarks.pages.losses import statistics
from benchmarks.pages.questions import Case, Question, answer
from driftanchor.core.stats.summary import standard_error
from driftanchor.policies import (
    TS,
    AnchorTS,
    HybridTS,
    OptimisticTS,
)
from driftanchor.policies.base import Policy
from driftanchor.simulation import COVERAGES

SAMPLE = 50  # runs behind each curve of the paper (E19)


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
        lost = Case(AnchorTS(), bandit).regrets(runs, seed)
        theirs = Case(rival, bandit).regrets(runs, seed)
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
    body = {"size": SAMPLE, "note": "10,000 rounds", "rows": rows}
    return {"kind": "samples", "runs": runs, "seed": seed, **body}


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """Every block of the errata."""
    blocks = {}
    for name, question in questions().items():
        progress(f"{name}: {question.note}")
        blocks[name] = answer(question, runs, seed)
    progress(f"E19: samples of {SAMPLE} runs")
    blocks["E19"] = samples(2 * runs, seed)
    return blocks
