"""Where each arm stands: what the logs say, what came since, and what is still awaited."""

from __future__ import annotations

from driftanchor.live.state import State
from driftanchor.live.terms import Terms


def arm_columns(terms: Terms, state: State) -> dict[str, list[object]]:
    """One row for each arm, by columns; a mean is `None` where there are no rewards.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> arm_columns(terms, State.start(terms.arms))["pending"]
        [0, 0]
    """
    logs, tally = terms.offline, state.tally
    return {
        "arm": list(terms.arms),
        "logs_n": logs.n.tolist(),
        "logs_mean": _means(logs.mean.tolist(), logs.n.tolist()),
        "live_n": tally.pulls.tolist(),
        "live_mean": _means(tally.means.tolist(), tally.pulls.tolist()),
        "pending": state.pending.tolist(),
        "paused": (~state.playable).tolist(),
    }


def summary(terms: Terms, state: State) -> str:
    """One line for people.

    Example:
        >>> terms = Terms.declare(arms=["A", "B"], seed=1)
        >>> summary(terms, State.start(terms.arms))
        'guarded-anchor-ts, 2 arms, 0 logged rewards, 0 decisions, 0 rewards, 0 pending, seed 1'
    """
    paused = int((~state.playable).sum())
    counts = [
        _count(len(terms.arms), "arm") + (f" ({paused:,} paused)" if paused else ""),
        _count(int(terms.offline.n.sum()), "logged reward"),
        _count(state.decisions, "decision"),
        _count(int(state.tally.pulls.sum()), "reward"),
        f"{int(state.pending.sum()):,} pending",
    ]
    return ", ".join([terms.policy.name, *counts, f"seed {terms.seed}"])


def _means(means: list[float], counts: list[int]) -> list[object]:
    return [mean if count > 0 else None for mean, count in zip(means, counts, strict=True)]


def _count(n: int, thing: str) -> str:
    return f"{n:,} {thing}" + ("" if n == 1 else "s")
