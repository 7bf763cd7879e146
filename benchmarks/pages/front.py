"""The picture of the README: what logs save while they are right, and cost once they are wrong.

Six ads, of which one converts better. The logs show its lead as it is, smaller, or reversed. One
rule ignores them, one adds them to the live rewards, and one is the learner's default.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.pages import render
from driftanchor.live.terms import BUDGET, EPS
from driftanchor.policies import TS, GuardedAnchorTS, HybridTS, Policy
from driftanchor.render.figure import blank, save, sheet
from driftanchor.render.palette import looks
from driftanchor.simulation import Bandit, simulate

ARMS, RATE, LEAD = 6, 0.08, 0.02  # the others convert at RATE, the best at RATE + LEAD
LOGGED, PROMISE, DECISIONS = 5_000, 0.01, 20_000  # logged views of each ad, W, live decisions
NOISE = 0.3  # the standard deviation of a conversion at rate 0.1
LEADS = (0.02, 0.01, 0.0, -0.01, -0.02, -0.03, -0.04)  # of the best ad, in the logs
NUDGES = {"ignore the logs": 5, "driftanchor": -12}  # of labels that would touch, in points
RULES = {  # label: the policy, and the colour it has everywhere
    "trust the logs": (HybridTS(noise=NOISE), "hybrid-ts"),
    "ignore the logs": (TS(noise=NOISE), "ts"),
    "driftanchor": (
        GuardedAnchorTS(noise=NOISE, eps=EPS["estimated"], budget=BUDGET["estimated"]),
        "guarded-anchor-ts",
    ),
}


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The table under the picture, and the picture."""
    progress(f"front: {len(LEADS)} logs")
    lost = {
        label: [_lost(policy, lead, runs, seed) for lead in LEADS]
        for label, (policy, _) in RULES.items()
    }
    draw(lost)
    rows = [
        {"label": _points(lead), "cells": [_plus_minus(lost[label][i]) for label in RULES]}
        for i, lead in enumerate(LEADS)
    ]
    columns = ["lead of the best ad in the logs", *RULES]
    return {
        "front": {"kind": "table", "columns": columns, "rows": rows, "runs": runs, "lost": lost},
        "front-words": {"kind": "text", "text": words(lost, runs)},
    }


def words(lost: dict[str, list[dict[str, float]]], runs: int) -> str:
    """What the picture shows, in numbers."""
    right, wrong = (
        {label: f"{cells[i]['mean']:.0f}" for label, cells in lost.items()} for i in (0, -1)
    )
    return (
        f"*Six ads, {LOGGED:,} logged views of each, {DECISIONS:,} live decisions, "
        f"W = {PROMISE:g}.* While the logs are right, driftanchor loses {right['driftanchor']} "
        f"conversions, a bandit without logs {right['ignore the logs']}, and one that trusts the "
        f"logs {right['trust the logs']}. When the logs have the order of the ads reversed, these "
        f"numbers are {wrong['driftanchor']}, {wrong['ignore the logs']} and "
        f"{wrong['trust the logs']}. "
        f"(Means of {runs:,} runs; bands are two standard errors.)"
    )


def world(lead: float, *, promise: float | None) -> Bandit:
    """The ads, and logs in which the best of them has this lead."""
    wrong = (LEAD - lead) / 2
    rest = ARMS - 1
    return Bandit(
        online=[RATE + LEAD, *[RATE] * rest],
        offline=[RATE + LEAD - wrong, *[RATE + wrong] * rest],
        offline_pulls=LOGGED,
        bias_bound=0.0 if promise is None else None,
        relative_bound=promise,
        reward="bernoulli",
    )


def _lost(policy: Policy, lead: float, runs: int, seed: int) -> dict[str, float]:
    trusts = isinstance(policy, HybridTS)
    bandit = world(lead, promise=None if trusts else PROMISE)
    result = simulate({"it": policy}, bandit, horizon=DECISIONS, runs=runs, seed=seed)
    return result.summary()["it"]


def _plus_minus(cell: dict[str, float]) -> str:
    return f"{cell['mean']:.0f} ± {cell['se']:.0f}"


def _points(lead: float) -> str:
    return f"{100 * lead:+.0f} points".replace("-", "−") if lead else "none"


def draw(lost: dict[str, list[dict[str, float]]]) -> None:
    """One line for each rule, named at its end."""
    look = looks({policy: policy for _, policy in RULES.values()})
    at = range(len(LEADS))
    with sheet():
        figure = blank(7.4, 3.9)
        figure.patch.set_facecolor("white")
        axes = figure.subplots()
        for label, cells in lost.items():
            line: dict[str, Any] = look[RULES[label][1]].line() | {"linewidth": 2.2}
            mean, error = (np.array([cell[key] for cell in cells]) for key in ("mean", "se"))
            band = {"color": line["color"], "alpha": 0.15, "linewidth": 0}
            axes.fill_between(at, mean - 2 * error, mean + 2 * error, **band)
            axes.plot(at, mean, clip_on=False, **line)
            axes.annotate(
                label,
                (at[-1], mean[-1]),
                (10, NUDGES.get(label, -3)),
                textcoords="offset points",
                color=line["color"],
                fontweight="bold",
                fontsize=11,
            )
        axes.set(ylim=(0, None), xlim=(-0.15, len(LEADS) - 1))
        axes.set_xticks(list(at), [_points(lead).removesuffix(" points") for lead in LEADS])
        axes.set_xlabel(
            "← logs right     lead of the best ad in the logs, points (live: +2)     logs wrong →"
        )
        axes.set_ylabel("conversions lost")
        axes.set_title(f"What logs save, and what they cost: {ARMS} ads", loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
        with TemporaryDirectory() as folder:
            save(figure, Path(folder), "front")
            target = render.PICTURES / "front.svg"
            target.write_bytes((Path(folder) / "front.svg").read_bytes())
