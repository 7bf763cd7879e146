"""`plan`: estimate what logs are worth before going live."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import valid_range
from driftanchor.core.record import encode
from driftanchor.errors import InvalidInput, shown
from driftanchor.live.terms import warn_of_suggestion
from driftanchor.planning import plan_prose, words
from driftanchor.planning.assess import Assessment
from driftanchor.planning.auto import declared
from driftanchor.planning.compare import compare
from driftanchor.planning.contenders import contenders
from driftanchor.planning.early import Early
from driftanchor.planning.effort import worlds_to_play
from driftanchor.planning.promise import Promise, promised
from driftanchor.planning.reward_law import COINS, RewardLaw, law_of
from driftanchor.planning.scenes import Progress, fit_to_horizon
from driftanchor.planning.words import Texts
from driftanchor.planning.worlds import Worlds, shifts_of
from driftanchor.theory.arm_terms import arm_terms

CLOSE = 0.1  # the bound replaces grid shifts within this relative distance
THEORY = ("gap", "anchor saves", "min-ucb saves", "lai-robbins")
MISSING = "give periods, as read_periods reads them (--by week on the command line), or a number"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plan(Assessment):
    """An estimate of what logs are worth if the promise holds.

    Attributes:
        theory: The terms of `driftanchor.theory.TERMS` for each arm but the logged leader.
    """

    theory: dict[str, dict[str, float]]

    @property
    def answer(self) -> str:
        """The answer in one sentence."""
        return plan_prose.answer(self)

    @property
    def limit(self) -> str:
        """The break-even in one sentence."""
        return plan_prose.limit(self)

    @property
    def instead(self) -> str:
        """Say in one sentence how to play without the logs."""
        return plan_prose.INSTEAD

    def texts(self) -> Texts:
        """Return the texts of the page."""
        return plan_prose.page_texts(self)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        rows = {
            label: {name: encode(x) for name, x in row.items()}
            for label, row in self.theory.items()
        }
        return {**super().to_json(), "theory": rows}


def plan(
    offline: OfflineData,
    *,
    bias_bound: object = None,
    relative_bound: object = None,
    horizon: int,
    periods: Mapping[str, OfflineData] | None = None,
    bias_bound_source: str | None = None,
    law: str = "auto",
    reward_range: object = None,
    worlds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    early: Early | None = None,
) -> Plan:
    """Estimate what logs are worth before going live.

    `plan` draws worlds that are possible given the logs and the promise. In each world, policies
    with and without the logs play once, and `plan` compares what they lose. The promise is
    `bias_bound`, `relative_bound`, or both.

    Args:
        offline: The logs.
        bias_bound: V, how far an arm's online mean may be from its offline mean: one number, a list
            or mapping, a `Suggestion`, or `"auto"` for what the periods suggest. An arm with `inf`
            has no bound, and its logs are left out.
        relative_bound: W, the same after removing a move that all arms share. It takes the same
            values.
        horizon: The number of decisions to plan for. Beyond 20,000, rewards are assumed to arrive
            in batches; `notes` says how large they are.
        periods: The logs by period, as `read_periods` returns them, for `"auto"`.
        bias_bound_source: Where the promise comes from, as for `Learner`.
        law: How rewards vary: `"gaussian"`, `"bernoulli"`, or `"auto"` to decide by the logs.
        reward_range: The lowest and the highest reward possible.
        worlds: The number of worlds; `None` for 100, or 40 beyond 20,000 rounds. Each policy plays
            each world once as drawn, once in the worst case, and once at each shift.
        seed: The seed of all noise.
        threads: The maximum number of threads; results do not depend on it.
        progress: Called with (runs done, total runs) as runs end.
        early: Called with one line of text for each result as soon as it is known.

    Example:
        >>> logs = OfflineData.from_summary({"A": (900, 0.5, 0.25), "B": (900, 0.2, 0.16)})
        >>> found = plan(logs, bias_bound=0.05, horizon=500, worlds=50)
        >>> found.decision
        'use'
    """
    check.optional_function(progress, "progress")
    check.optional_function(early, "early")
    if not isinstance(offline, OfflineData):
        raise InvalidInput(f"must be OfflineData, got {shown(offline)}", argument="offline")
    if len(offline.arms) < 2:
        raise InvalidInput(
            f"the logs have one arm only, {offline.arms[0]!r}: there is nothing to choose"
        )
    if not offline.n.any():
        raise InvalidInput("the logs have no rewards: there is nothing to plan with")
    for name, bound in (("bias_bound", bias_bound), ("relative_bound", relative_bound)):
        warn_of_suggestion(name, bound, offline, stacklevel=3)
    given = declared(bias_bound, relative_bound, periods, MISSING, offline.arms)
    promise, offline, left_out = promised(given.bias_bound, given.relative_bound, offline)
    rounds = check.whole(horizon, "horizon", low=1)
    ends = valid_range(reward_range, offline.mean)
    rewards = law_of(offline, law, ends)
    if rewards.name == "bernoulli":
        ends = COINS
    who, reasons = contenders(offline, ends, bias_bound_source)
    many = worlds_to_play(worlds, rounds, len(offline.arms), threads)
    truth = Worlds.draw(offline, rewards, promise, rounds, many, check.whole(seed, "seed"))
    who, how_played = fit_to_horizon(who, rounds)
    shifts, bound = shifts_of(offline, rewards), None
    if np.ptp(promise.reach) == 0:  # so that the worst case is one of the shifts
        bound = float(promise.reach[0])
        shifts = sorted([*(x for x in shifts if not math.isclose(x, bound, rel_tol=CLOSE)), bound])
    compared = compare(
        truth,
        who,
        promise=promise,
        shifts=shifts,
        unit=1.0,
        worst_shift=bound,
        horizon=rounds,
        seed=seed,
        threads=threads,
        progress=progress,
        early=early,
    )
    return Plan(
        offline=offline,
        promise=promise,
        horizon=rounds,
        worlds=many,
        seed=seed,
        law=rewards,
        contenders=who,
        reasons=reasons,
        notes=(*given.notes, *left_out, *_notes(offline), *how_played),
        compared=compared,
        theory=theory_of(offline, promise, rounds, rewards),
    )


def theory_of(
    offline: OfflineData, promise: Promise, horizon: int, law: RewardLaw
) -> dict[str, dict[str, float]]:
    """What theory says the logs save if no mean has moved; empty if all means are equal.

    W takes the place of V where it is smaller.
    """
    logged = np.flatnonzero(offline.n > 0)
    means: Floats = offline.mean[logged]
    if np.ptp(means) == 0:
        return {}
    noise = offline.pooled_noise()
    if not noise > 0:  # unknown, or of coins that always fell the same way
        noise = law.noise
    columns, terms = arm_terms(
        means, means, offline.n[logged], promise.reach[logged], max(horizon, 2), noise
    )
    return {
        offline.arms[int(logged[column])]: {name: float(terms[name][i]) for name in THEORY}
        for i, column in enumerate(columns)
    }


def _notes(offline: OfflineData) -> tuple[str, ...]:
    bare = [label for label, n in zip(offline.arms, offline.n, strict=True) if n == 0]
    if not bare:
        return ()
    return (
        f"no logs of {words.listed(bare)}: in each world such an arm is like one of the others",
    )
