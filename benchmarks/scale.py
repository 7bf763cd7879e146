"""What a run costs as its horizon or its arms grow, and what a second thread brings."""

import os
import time

from benchmarks.clock import Cell, Job, in_turn, ratio, spread
from benchmarks.engines import available, job, play
from benchmarks.tables import Blocks, table
from driftanchor import Bandit

POLICY = "anchor-ts"
HORIZONS = (10**4, 10**5, 10**6, 10**7, 10**8)
# Rounds in one job, and the longest run that ends in seconds.
ROUNDS = {"every-round": 10**6, "thinned": 10**7, "events": 10**12}
LONGEST = {"every-round": 10**7, "thinned": 10**8, "events": 10**8}
MOST_RUNS = 200

# Arms, the horizon of their runs and how many. Rounds that draw every sample cost the same all
# along, so `every-round` plays a tenth of them.
ARMS = {
    10: (10**5, 20),
    100: (10**5, 10),
    1_000: (10**5, 3),
    10_000: (2 * 10**4, 1),
}
LOGS = 20  # of each arm

THREAD_RUNS = 1_600

DEFAULT = "guarded-anchor-ts"
DEFAULT_RUNS = 40
DEFAULT_WORLDS = {
    "V": Bandit.paper(biased=True),
    "no logs": Bandit(Bandit.paper(biased=True).online),
    "W": Bandit([0.8] + [0.5] * 9, [0.8] + [0.5] * 9, 200, relative_bound=0.0, common_shift=-1.0),
}

# Columns that targets are read from.
GROWTH = "10⁶ over 10⁴"
LONG_RUN = "a run of 10⁸"
TWO_THREADS = "two threads against one"
OVER_ANCHOR = "time of a round over Anchor-TS's"


def against_horizon(rounds: int, longest: int) -> Blocks:
    """The cost of a run by horizon, in runs of the first engine at the first horizon."""
    bandit = Bandit.paper(biased=True)
    engines = [engine for engine in available() if engine in LONGEST]
    if not engines:
        return {}
    jobs = {
        _at(engine, horizon): _run_job(bandit, engine, horizon)
        for engine in engines
        for horizon in HORIZONS
        if horizon <= min(LONGEST[engine], longest)
    }
    costs = in_turn(jobs, rounds)
    unit = costs[_at(engines[0], HORIZONS[0])]
    rows, curves = {}, {}
    for engine in engines:
        by_horizon = {h: costs[_at(engine, h)] for h in HORIZONS if _at(engine, h) in costs}
        cells: list[Cell | None] = [
            ratio(by_horizon[h], unit) if h in by_horizon else None for h in HORIZONS
        ]
        growth = ratio(by_horizon[10**6], by_horizon[10**4]) if 10**6 in by_horizon else None
        last = by_horizon.get(10**8)
        longest_run = spread((1e3 * x for x in last), "ms") if last else None
        rows[engine] = [*cells, growth, longest_run]
        curves[engine] = [
            [h, cell["median"]] for h, cell in zip(HORIZONS, cells, strict=True) if cell
        ]
    columns = ["engine", *(power(h) for h in HORIZONS), GROWTH, LONG_RUN]
    title = f"Cost of a run by horizon, in runs of {power(HORIZONS[0])} rounds by {engines[0]}"
    return table("bench-horizon", title, columns, rows, curves=curves)


def _at(engine: str, size: int) -> str:
    return f"{engine} at {power(size)}"


def _run_job(bandit: Bandit, engine: str, horizon: int) -> Job:
    """What a whole run costs."""
    runs = max(1, min(MOST_RUNS, ROUNDS[engine] // horizon))
    round_cost = job(POLICY, bandit, engine, runs, horizon)
    return lambda: round_cost() * horizon


def default_rule(rounds: int) -> Blocks:
    """The cost of a round of the default rule over one of Anchor-TS, every round played."""
    if "every-round" not in available():
        return {}
    rows = {}
    for name, bandit in DEFAULT_WORLDS.items():
        jobs = {
            policy: job(policy, bandit, "every-round", DEFAULT_RUNS, 10**4)
            for policy in (DEFAULT, POLICY)
        }
        costs = in_turn(jobs, rounds)
        rows[name] = [ratio(costs[DEFAULT], costs[POLICY])]
    return table("bench-default", "The default rule, 10,000 rounds", ["", OVER_ANCHOR], rows)


def against_arms(rounds: int, most: int) -> Blocks:
    """The cost of a round by the number of arms."""
    engines = [engine for engine in available() if engine in LONGEST]
    if not engines:
        return {}
    sizes = [arms for arms in ARMS if arms <= most]
    jobs: dict[str, Job] = {}
    for arms in sizes:
        bandit = Bandit.paper(biased=True, arms=arms, total=LOGS * arms)
        horizon, runs = ARMS[arms]
        for engine in engines:
            length = horizon // 10 if engine == "every-round" else horizon
            jobs[_at(engine, arms)] = job(POLICY, bandit, engine, runs, length)
    costs = in_turn(jobs, rounds)
    unit = costs[_at(engines[0], sizes[0])]
    rows = {name: [ratio(costs[_at(name, k)], unit) for k in sizes] for name in engines}
    curves = {
        name: [[k, cell["median"]] for k, cell in zip(sizes, cells, strict=True)]
        for name, cells in rows.items()
    }
    columns = ["", *(f"K = {power(k)}" for k in sizes)]
    title = f"Cost of a round by arms, in rounds of K = {sizes[0]} by {engines[0]}"
    return table("bench-arms", title, columns, rows, curves=curves)


def threads(rounds: int) -> Blocks:
    """How many times sooner two threads are done than one, by the clock on the wall."""
    if (os.cpu_count() or 1) < 2 or "every-round" not in available():
        return {}
    bandit = Bandit.paper(biased=True)
    play(POLICY, bandit, "every-round", 1, 10)

    def wall(count: int) -> float:
        start = time.perf_counter()
        play(POLICY, bandit, "every-round", THREAD_RUNS, 10_000, threads=count)
        return time.perf_counter() - start

    costs = in_turn({"one thread": lambda: wall(1), "two threads": lambda: wall(2)}, rounds)
    rows = {"every-round": [ratio(costs["one thread"], costs["two threads"])]}
    return table("bench-threads", "Threads, by the clock on the wall", ["", TWO_THREADS], rows)


def power(number: int) -> str:
    """A number as tables show it: large powers of ten as such.

    Example:
        >>> power(10**8), power(10)
        ('10⁸', '10')
    """
    digits = str(number)
    if number < 10_000 or digits.strip("0") != "1":
        return f"{number:,}"
    return f"10{str(len(digits) - 1).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
