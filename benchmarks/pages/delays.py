"""Late rewards: how wrong live means are, and what that costs, in simulated campaigns.

Conversions are reported when they happen; everything else counts as 0 when its window closes. The
same worlds are played with live means computed in four ways: see `WAYS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pages import render
from driftanchor import OfflineData
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.delays import Cohorts, arrival, effective, slot_count, slot_length
from driftanchor.core.evidence import Evidence, Round
from driftanchor.live.propensities import compiled, propensities
from driftanchor.live.terms import Terms

RATES = np.array([0.1125, 0.09, 0.09, 0.085, 0.08])
LABELS = "ABCDE"
LOGGED = 2_000  # rewards of each arm in the logs
DAYS = 28
PER_DAY = 300  # decisions
STEP = 1 / 12  # days between two looks at the live rewards
DAYS_SHOWN = (1, 3, 7, 10, 21)
MOST_RUNS = 40
WINDOWS = {"1 hour": 1 / 24, "1 day": 1.0, "7 days": 7.0, "14 days": 14.0}
WAYS = (
    "as reported",  # every report at once, every default at the end of its window
    "closed only",  # only decisions whose window is over
    "by arrival",  # what campaigns do: `driftanchor.core.delays`
    "no delay",  # every outcome is known at once, which nobody can have
)

Delays = Callable[[np.random.Generator, int], Floats]  # as shares of the window


def _exponential(random: np.random.Generator, size: int) -> Floats:
    """Delays of mean 1/8 that end within the window."""
    shares: Floats = -np.log1p(random.random(size) * math.expm1(-8.0)) / 8.0
    return shares


DELAYS: dict[str, Delays] = {
    "at once": lambda random, size: 0.0 * random.random(size),
    "exponential": _exponential,
    "uniform": lambda random, size: random.random(size),
    "all at half": lambda random, size: np.full(size, 0.5) + 0.0 * random.random(size),
}


@dataclass(frozen=True)
class Setting:
    """The logs, what is promised of them, and how reports come.

    Attributes:
        promise: What the table says of the promise.
        shift: How far the logs' means lie from the live ones, the same in every arm.
        bounds: As for `Learner`; empty without logs.
        window: A key of `WINDOWS`.
        delays: A key of `DELAYS`.
        zeros: Whether zeros are reported too, as late as conversions.
    """

    promise: str
    shift: float
    bounds: dict[str, float]
    window: str
    delays: str
    zeros: bool = False

    @property
    def label(self) -> str:
        """The row of the table."""
        zeros = ", zeros sent" if self.zeros else ""
        return f"{self.promise}; {self.window}; {self.delays}{zeros}"


V = ("V = 0.035, logs right", 0.0, {"bias_bound": 0.035})
W = ("W = 0.02, all arms moved by 0.03", -0.03, {"relative_bound": 0.02})
COLD: tuple[str, float, dict[str, float]] = ("no logs", 0.0, {})
SETTINGS = [
    *(
        Setting(*promise, window, delays)
        for promise in (V, W)
        for window in WINDOWS
        for delays in ("at once", "uniform")
    ),
    *(
        Setting(*promise, "7 days", delays)
        for promise in (V, W)
        for delays in ("exponential", "all at half")
    ),
    *(Setting(*V, "7 days", delays, zeros=True) for delays in ("at once", "uniform")),
    *(Setting(*COLD, "7 days", delays) for delays in ("at once", "exponential", "uniform")),
]


class Played(NamedTuple):
    """One campaign.

    Attributes:
        regret: Reward lost over all days.
        errors: By day, the relative error of the live mean of the most played arm. The truth is the
            mean that its decisions so far will have once all rewards are in.
    """

    regret: float
    errors: dict[int, float]


class World:
    """One campaign: who converts and when, drawn before any decision."""

    def __init__(self, setting: Setting, random: np.random.Generator) -> None:
        size = DAYS * PER_DAY
        self.zeros = setting.zeros
        self.window = WINDOWS[setting.window]
        self.at = np.sort(random.random(size) * DAYS)
        self.pays = random.random((len(RATES), size)) < RATES[:, None]
        self.delay = DELAYS[setting.delays](random, size) * self.window
        self.arm = np.zeros(size, np.int64)

    def sums(self, way: str, now: float, made: int, terms: Terms) -> tuple[Floats, Floats]:
        """Return pulls and totals of all arms, as `way` counts them, after so many decisions."""
        arm, at = self.arm[:made], self.at[:made]
        pays = self.pays[arm, np.arange(made)]
        over, came = at + self.window <= now, at + self.delay[:made] <= now
        if way == "by arrival":
            return self._by_arrival(arm, at, pays, now, terms)
        counted = {
            "as reported": over | (came if self.zeros else came & pays),
            "closed only": over,
            "no delay": np.ones(made, np.bool_),
        }[way]
        return _by_arm(arm[counted]), _by_arm(arm[counted], pays[counted])

    def _by_arrival(
        self, arm: Ints, at: Floats, pays: Bools, now: float, terms: Terms
    ) -> tuple[Floats, Floats]:
        """Sort decisions and conversions into slots, as a campaign does when a slot starts."""
        seconds = self.window * 86_400
        slot, end = slot_length(seconds) / 86_400, slot_count(seconds)
        now = math.floor(now / slot) * slot
        until = int(np.searchsorted(at, now))
        arm, at = arm[:until], at[:until]
        reported = pays[:until] & (at + self.delay[:until] < now)
        cohort = (at / slot).astype(np.int64)
        age = round(now / slot) - cohort
        late = np.minimum(((at + self.delay[: at.size]) / slot).astype(np.int64) - cohort, end)
        recent, young = reported & (age <= 2 * end), age <= end
        reports = np.zeros((2 * end + 1, end + 1), np.int64)
        np.add.at(reports, (age[recent], late[recent]), 1)
        shown, gained = np.zeros((len(RATES), end + 1), np.int64), np.zeros((len(RATES), end + 1))
        np.add.at(shown, (arm[young], age[young]), 1)
        np.add.at(gained, (arm[young & reported], age[young & reported]), 1.0)
        closed = _by_arm(arm[~young]).astype(np.int64)
        cohorts = Cohorts(shown, gained, closed, _by_arm(arm[~young], reported[~young]))
        noise = terms.policy.noise
        logged = terms.offline.pooled_mean()
        expected = noise if math.isnan(logged) else logged
        return effective(cohorts, 0.0, arrival(reports), noise, expected)


def _by_arm(arm: Ints, values: Any = None) -> Floats:
    """Count decisions by arm, or add values up."""
    sums: Floats = np.bincount(arm, values, minlength=len(RATES)).astype(float)
    return sums


def play(setting: Setting, way: str, seed: int, run: int) -> Played:
    """Play a campaign by the default rule."""
    random = np.random.default_rng([seed, run])
    terms = _terms(setting, random)
    world = World(setting, random)
    chance = np.random.default_rng([seed, run, 1])
    arms, made = len(RATES), 0
    errors: dict[int, float] = {}
    for step in range(round(DAYS / STEP)):
        now = step * STEP
        pulls, totals = world.sums(way, now, made, terms)
        shown = _by_arm(world.arm[:made])
        most = int(shown.argmax())
        if round(now, 6) in DAYS_SHOWN and pulls[most] > 0.0:
            earned = world.pays[most, :made][world.arm[:made] == most].mean()
            errors[round(now)] = float(totals[most] / pulls[most] / earned) - 1.0
        fractional: Any = pulls
        evidence = Evidence(
            fractional,
            totals,
            terms.offline.n,
            terms.offline_means,
            terms.bias_bounds,
            np.ones(arms, np.bool_),
            np.zeros((arms, 0)),
            np.round(shown - pulls).astype(np.int64),
            terms.relative_bounds,
        )
        writer = compiled(terms.policy, evidence)
        chances = propensities(terms.policy, evidence, Round(made + 1, arms), writer)
        assert chances is not None
        until = int(np.searchsorted(world.at, now + STEP))
        world.arm[made:until] = chance.choice(arms, until - made, p=chances)
        made = until
    return Played(float((RATES.max() - RATES[world.arm]).sum()), errors)


def _terms(setting: Setting, random: np.random.Generator) -> Terms:
    """Draw the logs of a world, and declare the promise."""
    means = random.binomial(LOGGED, RATES + setting.shift) / LOGGED
    if not setting.bounds:
        return Terms.declare(arms=list(LABELS), reward_range=(0, 1), seed=0)
    logs = {
        label: (LOGGED, float(mean), float(mean * (1 - mean)))
        for label, mean in zip(LABELS, means, strict=True)
    }
    bounds: Any = setting.bounds
    return Terms.declare(
        offline=OfflineData.from_summary(logs), reward_range=(0, 1), seed=0, **bounds
    )


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The two tables of `docs/evidence/late-rewards.md`."""
    size = min(runs, MOST_RUNS)
    costs, wrong = [], []
    known: dict[object, list[Played]] = {}
    for setting in SETTINGS:
        progress(f"delays: {setting.label}, {size} campaigns")
        cells = []
        for way in WAYS:
            same: tuple[str, ...] = (
                setting.promise,
                way,
            )  # in all settings that this way of counting tells apart
            if way == "closed only":
                same += (setting.window,)
            elif way != "no delay":
                same += (setting.label,)
            if same not in known:
                known[same] = [play(setting, way, seed, run) for run in range(size)]
            played = known[same]
            cells.append(_mean_and_error([one.regret for one in played]))
            if setting.window == "7 days" and setting.promise == V[0] and way != "no delay":
                days = [_errors(played, day) for day in DAYS_SHOWN]
                wrong.append({"label": f"{setting.delays}{_zeros(setting)}; {way}", "cells": days})
        costs.append({"label": setting.label, "cells": cells})
    return {
        "delays_bias": {
            "kind": "table",
            "columns": ["when rewards arrive; counted", *(f"day {day}" for day in DAYS_SHOWN)],
            "rows": wrong,
        },
        "delays_regret": {
            "kind": "table",
            "columns": [f"promise; window; arrival ({size} campaigns each)", *WAYS],
            "rows": costs,
        },
    }


def _zeros(setting: Setting) -> str:
    return ", zeros sent" if setting.zeros else ""


def _errors(played: list[Played], day: int) -> str:
    """Median error of the live mean in percent, with the middle 80 % of the campaigns."""
    errors = [one.errors[day] for one in played if day in one.errors]
    if len(errors) < len(played) / 2:
        return "–"
    low, middle, high = np.quantile(errors, (0.1, 0.5, 0.9)) * 100.0
    return f"{middle:+.0f} % ({low:+.0f} to {high:+.0f})"


def _mean_and_error(values: list[float]) -> str:
    return f"{np.mean(values):.0f} ± {np.std(values) / math.sqrt(len(values)):.0f}"
