"""Whether compiled live decisions are the interpreted ones, to the bit, for `measure.py`."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from driftanchor import POLICIES, OfflineData, Policy
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.live.decide import Decider
from driftanchor.live.state import State
from driftanchor.live.state_events import ArmAdded, GivenUp, Paused, Resumed, Rewarded
from driftanchor.live.terms import Terms

DECISIONS = 10_000
LOGS = OfflineData.from_summary({"A": (200, 0.5), "B": (40, 0.3), "C": (0,), "D": (7, 0.6)})
MANY = OfflineData.from_summary({f"arm {i}": (i, 0.3 + 0.02 * i) for i in range(20)})
SETTINGS: dict[str, dict[str, Any]] = {
    "bias bounds": {
        "offline": LOGS,
        "bias_bound": {"A": 0.05, "B": 0.2, "C": 0.0, "D": float("inf")},
    },
    "relative bounds": {"offline": LOGS, "relative_bound": 0.05},
    "both": {"offline": LOGS, "bias_bound": 0.3, "relative_bound": 0.1},
    "many arms": {"offline": MANY, "bias_bound": 0.1},  # enough for kernels to cache beliefs
}
# Retiring, restoring and giving up, by the number of the decision in each block of 200.
RETIRE, RESTORE, GIVE_UP, BLOCK = 60, 120, 180, 200


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """The block of the page: how many decisions differ, of how many, for every policy."""
    rows = []
    for name, policy in POLICIES.items():
        progress(f"live decisions: {name}")
        each = DECISIONS // len(SETTINGS) + 1
        found = [differing(policy(), setting, each, seed) for setting in SETTINGS]
        rows.append({"label": name, "cells": [f"{each * len(SETTINGS):,}", f"{sum(found)}"]})
    columns = ["policy", "decisions", "that differ"]
    title = "Compiled and interpreted live decisions"
    return {"live": {"kind": "table", "title": title, "columns": columns, "rows": rows}}


def differing(policy: Policy, setting: str, decisions: int, seed: int) -> int:
    """How many compiled decisions are not the interpreted ones on the same evidence.

    Rewards are coins, and come late or never; arms retire, come back, are added and excluded.

    Args:
        policy: The policy.
        setting: One of `SETTINGS`.
        decisions: How many decisions are made.
        seed: The seed of the decisions and of what happens.
    """
    terms = Terms.declare(policy, reward_range=(0, 1), seed=seed, **SETTINGS[setting])
    decider = Decider(terms, State.start(terms.arms, policy.memory))
    if not decider.prepare():
        raise RuntimeError(f"{policy.name} cannot be compiled")
    happens, late, differ = random.Random(seed), list[int](), 0
    for n in range(1, decisions + 1):
        exclude = (terms.arms[0],) if happens.random() < 0.1 else ()
        evidence, now = decider.situation(exclude)
        with wrapping():
            expected = policy.choose(evidence, now, keyed_stream(seed, "decision", n))
        decided = decider.next_decision(exclude)
        decider.apply(decided)
        same = decider.state.memory.tobytes() == evidence.memory.tobytes()
        differ += decided.column != expected or not same
        late.append(decided.column)
        if happens.random() < 0.5:
            _pay(decider, late, happens)
        _meanwhile(decider, n, late)
    return differ


def _pay(decider: Decider, late: list[int], happens: random.Random) -> None:
    columns = tuple(late)
    late.clear()
    decider.apply(Rewarded(columns, tuple(float(happens.random() < 0.45) for _ in columns)))


def _meanwhile(decider: Decider, n: int, late: list[int]) -> None:
    """What happens at set times beside decisions and rewards."""
    turn, least = n % BLOCK, int(decider.state.pulls.argmin())
    if turn == RETIRE:
        decider.apply(Paused(least))
    elif turn == RESTORE:
        for column in np.flatnonzero(~decider.state.playable):
            decider.apply(Resumed(int(column)))
    elif turn == GIVE_UP and late:
        decider.apply(GivenUp(late.pop(), 1))
    if n == BLOCK // 4:
        relative = 0.05 if np.isfinite(decider.terms.relative_bounds).any() else None
        decider.apply(ArmAdded("new", (30, 0.55), 0.4, relative))
