"""Which policy? The table behind `which-policy.md`."""

import functools
from collections.abc import Callable

from benchmarks.pages import (
    render,
    worlds,
)
from benchmarks.pages.questions import Case, Question, answer
from driftanchor.live.terms import BUDGET, EPS
from driftanchor.policies import (
    TS,
    AnchorTS,
    GuardedAnchorTS,
    HierarchicalTS,
    MinUCB,
)
from driftanchor.policies.base import Policy


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


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """Its only block."""
    progress(f"which policy: {len(worlds.kinds_of_logs())} worlds")
    return {"which-policy": answer(_which_policy(), runs, seed)}
