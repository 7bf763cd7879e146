"""False alarms while promises hold, and how soon broken ones are noticed, in simulated campaigns.

The default rule chooses the arms, and promises are looked at after every reward. Where they hold,
every arm has moved by its whole bound, up or down, which is the hardest case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.pages import render
from benchmarks.pages.alarm_loop import play_watched
from driftanchor import Bandit, OfflineData
from driftanchor.compiled import kernels, rules
from driftanchor.compiled.overloads import parameters_of
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import wrapping
from driftanchor.core.stats.distributions import critical_z
from driftanchor.core.stats.intervals import wilson
from driftanchor.live.terms import Terms
from driftanchor.live.watch.watch import LEVEL, Watch
from driftanchor.simulation.engine import ALL, allocate, keys_of
from driftanchor.simulation.world import world_of

MEANS = np.array([0.5, 0.45, 0.4, 0.3, 0.2])  # behind the logs of Gaussian rewards
HORIZON = 10_000  # decisions of a campaign
FACTORS = (1.5, 2.0, 3.0)  # times the bound
KEPT_RUNS = 1_000
BROKEN = 0.2  # of the runs asked for where a promise is broken


@dataclass(frozen=True)
class Setting:
    """A kind of reward and a promise.

    Attributes:
        label: What the table says.
        reward: As for `Bandit`.
        means: Behind the logs.
        bound: The promised bound.
        relative: Whether it is W, with a common move, or V.
        common: The common move.
        logged: Logged rewards of each arm.
        floor: The share of decisions that each arm has whatever the rule says.
    """

    label: str
    reward: str
    means: Floats
    bound: float
    relative: bool
    common: float
    logged: int
    floor: float

    def bandit(self, own: Floats, means: Floats) -> Bandit:
        """A campaign whose arms moved so from the means behind logs of given means."""
        promise: dict[str, Any] = {"bias_bound": self.bound}
        if self.relative:
            promise = {"relative_bound": self.bound}
        return Bandit(
            self.means + own + self.common,
            means,
            self.logged,
            reward=self.reward,
            logs="given",
            **promise,
        )


GAUSSIAN = Setting("Gaussian, V = 0.2 σ", "gaussian", MEANS, 0.2, False, 0.0, 1_000, 0.05)
CLICKS = Setting("clicks, V = 0.05", "bernoulli", 0.2 + 0.2 * MEANS, 0.05, False, 0.0, 5_000, 0.05)
SETTINGS = (
    GAUSSIAN,
    replace(GAUSSIAN, label="Gaussian, W = 0.2 σ", relative=True, common=0.7),
    CLICKS,
    replace(CLICKS, label="clicks, W = 0.05", relative=True, common=0.1),
    replace(CLICKS, label="clicks, V = 0.05, no floor", floor=0.0),
)


def terms_of(setting: Setting, bandit: Bandit, seed: int) -> Terms:
    """What a user declares: the logs with their variance, the promise, and the range of clicks."""
    n, clicks = setting.logged, setting.reward == "bernoulli"
    variances = bandit.offline * (1 - bandit.offline) * n / (n - 1) if clicks else np.ones(5)
    rows = zip(bandit.offline.tolist(), variances.tolist(), strict=True)
    logs = OfflineData.from_summary({f"arm {i}": (n, *row) for i, row in enumerate(rows)})
    promise: dict[str, Any] = {"bias_bound": setting.bound}
    if setting.relative:
        promise = {"relative_bound": setting.bound}
    reward_range = (0.0, 1.0) if clicks else None
    return Terms.declare(offline=logs, reward_range=reward_range, seed=seed, **promise)


def campaign(setting: Setting, own: Floats, seed: int, run: int, one_look: bool) -> Ints:
    """The rounds of the alarm, of that of a test for one look, and the rewards of the last arm."""
    rng = np.random.default_rng([seed, run])
    means = setting.means
    if setting.reward == "bernoulli":
        logged = rng.binomial(setting.logged, means) / setting.logged
    else:
        logged = means + rng.normal(size=means.size) / np.sqrt(setting.logged)
    bandit = setting.bandit(own, logged)
    terms = terms_of(setting, bandit, seed)
    watch = Watch.start(terms)
    rulers = np.array([list(arm.ruler) for arm in watch.arms], np.float64)
    wide = critical_z(watch.arms[0].ruler.miss) if one_look else 0.0
    policy, world = terms.policy, world_of(bandit)
    state, found = allocate(world, policy), np.zeros(2, np.int64)
    parameters = parameters_of(policy)
    seen = state.evidence, 1, means.size, state.stream, world.relative, ALL
    rule = kernels.rule(policy, rules.chooser, parameters, *seen)
    played = rule, parameters, world, keys_of(seed, policy.name), run, HORIZON, state
    arguments = *played, rulers, wide, setting.floor, np.zeros((means.size, 3)), found
    play = kernels.loop(play_watched, *arguments)
    with wrapping():
        play(*arguments)
    return np.array([*found, *state.evidence.pulls])


def kept(setting: Setting, runs: Iterable[int], seed: int) -> Ints:
    """Campaigns in which every arm moved by its whole bound."""
    rows = []
    for run in runs:
        signs = np.random.default_rng([seed, run, 1]).choice([-1.0, 1.0], MEANS.size)
        once = setting.reward == "gaussian" and not setting.relative
        rows.append(campaign(setting, signs * setting.bound, seed, run, once))
    return np.array(rows)


def broken(setting: Setting, arm: int, factor: float, runs: Iterable[int], seed: int) -> Ints:
    """Campaigns in which one arm moved further than promised; the last arm moves down.

    A relative bound allows a single arm to move by twice the bound, if the others stay: the common
    move is then half of it. So there the others moved by the bound to the other side.
    """
    side = 1.0 if arm == 0 else -1.0
    own = np.full(MEANS.size, -side * setting.bound if setting.relative else 0.0)
    own[arm] = side * factor * setting.bound
    return np.array([campaign(setting, own, seed, run, False) for run in runs])


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The two tables of `docs/evidence/alarms.md`."""
    held, seen = [], []
    size = min(runs, KEPT_RUNS)
    few = max(int(BROKEN * size), 1)
    for setting in SETTINGS:
        progress(f"alarms: {setting.label}, kept, {size:,} campaigns")
        rounds = kept(setting, range(size), seed)
        false, once = int((rounds[:, 0] > 0).sum()), int((rounds[:, 1] > 0).sum())
        low, high = wilson(false / size, size)
        once_text = f"{once:,}" if setting.reward == "gaussian" and not setting.relative else ""
        held.append(
            {
                "label": setting.label,
                "cells": [f"{false:,}", f"{100 * low:.2f} to {100 * high:.2f}", once_text],
            }
        )
        for arm, name in ((0, "the best arm, up"), (4, "the worst arm, down")):
            cells = []
            for factor in FACTORS:
                progress(f"alarms: {setting.label}, {name}, {factor:g} times")
                rounds = broken(setting, arm, factor, range(few), seed)
                cells.append(_cell(rounds, arm))
            seen.append({"label": f"{setting.label}; {name}", "cells": cells})
    return {
        "alarms_kept": {
            "kind": "table",
            "columns": [
                f"{size:,} campaigns with kept promises, α = {LEVEL:g}",
                "false alarms",
                "their rate in %, 95 % interval",
                "by a test for one look",
            ],
            "rows": held,
        },
        "alarms_broken": {
            "kind": "table",
            "columns": [
                f"{few:,} campaigns each; which arm moved",
                *(f"{factor:g} times the bound" for factor in FACTORS),
            ],
            "rows": seen,
        },
    }


def _cell(rounds: Ints, arm: int) -> str:
    """The share that is noticed, and the median decisions and rewards of the arm until then."""
    seen = rounds[:, 0] > 0
    share = f"{100 * seen.mean():.0f} %"
    if not seen.any():
        return share
    decisions, rewards = np.median(rounds[seen, 0]), np.median(rounds[seen, 2 + arm])
    return f"{share}, after {decisions:,.0f} ({rewards:,.0f})"
