"""How soon an alarm notices that a rate moved, beside a betting confidence sequence.

One arm has the whole level. Its logs and its live rewards are coins, and only the live rate differs
from that of the logs. The betting confidence sequence is the hedged capital process of
Waudby-Smith & Ramdas (2024) with predictable plug-in stakes. It is a sequence for the live mean, so
the logs come in twice: with the logged mean taken for exact, which no test may do, and with an
interval for the mean behind the logs at half of the level.

A second part plays campaigns in an SQLite store, whose rewards have a window and whose third arm is
played, loses, or is archived after the first decisions.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.pages import render
from driftanchor import Campaign, OfflineData
from driftanchor.compiled import kernels
from driftanchor.core.check import Floats
from driftanchor.core.stats.anytime import fixed_sample_interval, prior_weight
from driftanchor.core.stats.intervals import wilson
from driftanchor.live.terms import Terms
from driftanchor.live.watch.move_intervals import Ruler, move_interval, ruler_of
from driftanchor.live.watch.watch import LEVEL

MOVES = ((0.02, 0.01), (0.05, 0.025), (0.5, 0.4))  # rates in the logs and live
BOUNDS = (0.1, 0.3, 0.5)  # V, as a part of the move
LOGGED = (20_000, 200_000)
DELAY_RUNS, FALSE_RUNS = 0.1, 0.5  # of the runs asked for
FEW_LOGS, LONG = 5_000, 100_000  # logs and live rewards of the arms without a broken promise
TESTS = (
    "the alarm",
    "if it aimed at 2 V alone",
    "betting, interval of the logs",
    "betting, logged mean taken for exact",
)
LOOKS = 200  # looks after every reward up to this one, then a look whenever n grew by 1/LOOKS
BOLDEST = 0.5  # the largest stake of a bet against m, in units of 1/m
NEVER = 10**9
DECISIONS, MOVED, EACH, WINDOW = 24_000, 20_000, 500, 3_600.0
THIRD = {"is played": "plays", "loses, and is hardly played": "loses", "is archived": "archived"}


def alarm_after(ruler: Ruler, rewards: Floats) -> int:
    """How many rewards come before the alarm; `NEVER` without one."""
    total, look = 0.0, 1
    for i in range(rewards.size):
        total += rewards[i]
        if i + 1 == look:
            low, high = move_interval(ruler, look, total, 0.0)
            if low > ruler.bias_bound or high < -ruler.bias_bound:
                return look
            look += max(1, look // LOOKS)
    return NEVER


def betting_after(rewards: Floats, low: float, high: float, miss: float) -> int:
    """How many rewards come before a betting confidence sequence leaves [low, high]."""
    spread, total = 0.25, 0.5
    above = below = -math.log(2.0)  # the log capital of the bets on a mean above high, below low
    for i in range(rewards.size):
        reward = rewards[i]
        stake = math.sqrt(2.0 * math.log(2.0 / miss) / (spread * math.log(i + 2.0)))
        if high < 1.0:
            above += math.log1p(min(stake, BOLDEST / high) * (reward - high))
        if low > 0.0:
            below += math.log1p(-min(stake, BOLDEST / (1.0 - low)) * (reward - low))
        if max(above, below) >= -math.log(miss):
            return i + 1
        total += reward
        error = reward - total / (i + 2.0)
        spread += error * error
    return NEVER


def ruler_for(rate: float, logged: int, bound: float) -> Ruler:
    """The ruler of an arm with logged coins of this rate."""
    variance = rate * (1 - rate) * logged / (logged - 1)
    logs = OfflineData.from_summary({"A": (logged, rate, variance), "B": (logged, rate, variance)})
    terms = Terms.declare(offline=logs, bias_bound=bound, reward_range=(0, 1), seed=1)
    return ruler_of(terms, 0, LEVEL)


def aimed_at_bound(ruler: Ruler) -> Ruler:
    """The same ruler if it aimed at moves of twice the bound, however small that is."""
    aim = ruler.variance / (2 * ruler.bias_bound) ** 2 / prior_weight(ruler.miss, 1.0)
    return ruler._replace(aim=float(np.clip(aim, 1.0, ruler.logged)))


def streams(
    logged: int, before: float, after: float, bound: float, runs: int, horizon: int, seed: int
) -> list[list[int]]:
    """For each run the rewards before the alarm of four tests."""
    example = np.zeros(1)
    alarm = kernels.loop(alarm_after, ruler_for(before, logged, bound), example)
    bet = kernels.loop(betting_after, example, 0.0, 0.0, 0.0)
    rng = np.random.default_rng([seed, logged, round(1e6 * after), round(1e6 * bound)])
    found = []
    for _ in range(runs):
        rate = rng.binomial(logged, before) / logged
        rewards = np.asarray(rng.random(horizon) < after, np.float64)
        ruler = ruler_for(rate, logged, bound)
        low, high = fixed_sample_interval(float(logged), rate, math.nan, LEVEL / 2)
        found.append(
            [
                alarm(ruler, rewards),
                alarm(aimed_at_bound(ruler), rewards),
                bet(rewards, low - bound, high + bound, LEVEL / 2),
                bet(rewards, rate - bound, rate + bound, LEVEL),
            ]
        )
    return found


def delays(runs: int, seed: int, progress: Callable[[str], None]) -> render.Block:
    """Rewards until the alarm, if the rate moved further than V."""
    rows = []
    for before, after in MOVES:
        for part in BOUNDS:
            bound = part * (before - after)
            horizon = int(60 * before * (1 - before) / (before - after - bound) ** 2)
            for logged in LOGGED:
                label = f"{before:g} → {after:g}, V = {bound:.4g}, {logged:,} logs"
                progress(f"delays: {label}")
                found = streams(logged, before, after, bound, runs, horizon, seed)
                quantiles = np.quantile(found, [0.5, 0.9], axis=0, method="higher").T
                cells = [f"{_delay(q[0], horizon)} ({_delay(q[1], horizon)})" for q in quantiles]
                rows.append({"label": label, "cells": cells})
    columns = [f"{runs:,} arms each; rewards until the alarm", *TESTS]
    return {"kind": "table", "columns": columns, "rows": rows}


def false_alarms(runs: int, seed: int, progress: Callable[[str], None]) -> render.Block:
    """How often there is an alarm although the rate moved by V and no further."""
    rows = []
    for before, after in MOVES:
        bound = 0.3 * (before - after)
        for live in (before - bound, before + bound):
            label = f"{before:g} → {live:g}, V = {bound:.4g}"
            progress(f"false alarms: {label}")
            found = streams(FEW_LOGS, before, live, bound, runs, LONG, seed)
            cells = []
            for rate in (np.array(found) < NEVER).mean(axis=0).tolist():
                low, high = wilson(rate, runs)
                cells.append(f"{100 * rate:.1f} ({100 * low:.1f} to {100 * high:.1f})")
            rows.append({"label": label, "cells": cells})
    columns = [f"{runs:,} arms each; false alarms in %", *TESTS]
    return {"kind": "table", "columns": columns, "rows": rows}


def windows(seed: int, progress: Callable[[str], None]) -> render.Block:
    """The decision at which a campaign with a reward window raises its first alarm."""
    rows = []
    for label, third in THIRD.items():
        progress(f"windows: {label}")
        with tempfile.TemporaryDirectory() as folder:
            found = first_alarm(Path(folder), third, seed)
        rows.append({"label": label, "cells": [f"{found:,}", f"{found - MOVED:,}"]})
    columns = [
        f"{DECISIONS:,} decisions; the third arm",
        "decision with the alarm",
        "decisions since the move",
    ]
    return {"kind": "table", "columns": columns, "rows": rows}


def first_alarm(folder: Path, third: str, seed: int) -> int:
    """The last decision that the first alarm needed."""
    now, rng = [1.7e9], np.random.default_rng(seed)
    rates = {"A": 0.2, "B": 0.2, "C": 0.01 if third == "loses" else 0.2}
    with Campaign.create(
        "c",
        offline=OfflineData.from_summary({arm: (50_000, rate) for arm, rate in rates.items()}),
        bias_bound=0.05,
        reward="binary",
        reward_window=WINDOW,
        default_reward=0,
        control={"A": 0.3, "B": 0.3, **({"C": 0.3} if third == "plays" else {})},
        seed=seed,
        store=f"sqlite:///{folder / 'c.db'}",
        clock=lambda: now[0],
    ) as campaign:
        for first in range(0, DECISIONS, EACH):
            if first == EACH and third == "archived":
                campaign.archive_arm("C")
            if first == MOVED:
                rates |= {"A": 0.95, "B": 0.95}
            paid = [x for x in campaign.ask(n=EACH) if rng.random() < rates[x.arm]]
            campaign.tell_many([(str(x.id), 1.0) for x in paid])
            now[0] += WINDOW
        return int(campaign.status().alarms[0].seen.number)


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The tables of detection delays and of false alarms."""
    return {
        "alarm_delays": delays(max(int(DELAY_RUNS * runs), 1), seed, progress),
        "alarm_windows": windows(seed, progress),
        "alarm_delays_false": false_alarms(max(int(FALSE_RUNS * runs), 1), seed, progress),
    }


def _delay(rewards: float, horizon: int) -> str:
    return f"{rewards:,.0f}" if rewards <= horizon else f"over {horizon:,}"
