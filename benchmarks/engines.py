"""Our engines: which there are, and each against a plain NumPy loop and against C."""

import importlib.util
from typing import Any

import numpy as np

from benchmarks.clock import Job, cpu_cost, in_turn, ratio
from benchmarks.loop import Loop, check
from benchmarks.tables import Blocks, table
from driftanchor import POLICIES, Bandit, simulate
from driftanchor.simulation.chunk import ENGINES

HORIZON = 10_000
ORDER = ("every-round", "thinned", "events", "interpreted")
# Runs of 10,000 rounds in one job: some tenths of a second.
RUNS = {"every-round": 100, "thinned": 200, "events": 200}
TURNS = 5  # beside C, for each round asked for: these jobs take some hundredths of a second
INTERPRETED_HORIZON = 300  # every round costs the same there
NUMPY_HORIZON = 3_000  # as there

# Columns that targets are read from, and the job that each is a ratio to.
OVER_C, OVER_FLOOR = "over the C loop", "over 2K + 1 normals"
BASES = {OVER_C: "C, every sample", OVER_FLOOR: "2K + 1 normals"}

MISSING_NUMBA = (
    "Numba is not installed, so only the engines that need none are measured, and no page is "
    'written: pip install "driftanchor[fast]"'
)


def has_numba() -> bool:
    """Whether simulations can be compiled."""
    return importlib.util.find_spec("numba") is not None


def available() -> list[str]:
    """The engines that run here, in the order of the tables."""
    return [engine for engine in ORDER if ENGINES[engine].is_installed]


def play(policy: str, bandit: Bandit, engine: str, runs: int, horizon: int, **how: Any) -> Any:
    """One simulation, on one thread unless told otherwise."""
    how = {"threads": 1, "checkpoints": 1, **how}
    return simulate(policy, bandit, engine=engine, runs=runs, horizon=horizon, **how)


def job(policy: str, bandit: Bandit, engine: str, runs: int, horizon: int) -> Job:
    """What a round costs, compiled before the clock starts."""
    play(policy, bandit, engine, 1, 10)
    return lambda: cpu_cost(lambda: play(policy, bandit, engine, runs, horizon), runs * horizon)


def usual_job(policy: str, bandit: Bandit, engine: str) -> Job:
    """The job of 10 arms and 10,000 rounds; `auto` as the engine that it takes."""
    meant = play(policy, bandit, "auto", 1, HORIZON).engine if engine == "auto" else engine
    if not ENGINES[meant].compiled:
        return job(policy, bandit, engine, 1, INTERPRETED_HORIZON)
    return job(policy, bandit, engine, RUNS.get(meant, 100), HORIZON)


def numpy_loop(bandit: Bandit, horizon: int) -> None:
    """Thompson sampling as one would write it in an afternoon."""
    rng = np.random.default_rng(0)
    pulls, totals = np.zeros(len(bandit.online)), np.zeros(len(bandit.online))
    for _ in range(horizon):
        arm = int(np.argmax(rng.normal(totals / (pulls + 1), 1 / np.sqrt(pulls + 1))))
        totals[arm] += rng.normal(bandit.online[arm], 1.0)
        pulls[arm] += 1


def against_numpy(rounds: int) -> Blocks:
    """How many times faster each policy is than a NumPy loop of TS, by engine."""
    bandit = Bandit.paper(biased=True)
    engines = available()
    rows = {}
    for policy in (name for name, cls in POLICIES.items() if cls().accepts(bandit.reward_range)):
        jobs = {engine: usual_job(policy, bandit, engine) for engine in engines}
        jobs["NumPy loop"] = lambda: cpu_cost(
            lambda: numpy_loop(bandit, NUMPY_HORIZON), NUMPY_HORIZON
        )
        costs = in_turn(jobs, rounds)
        rows[policy] = [ratio(costs["NumPy loop"], costs[engine]) for engine in engines]
    title = "Times as fast as a plain NumPy loop of TS"
    return table("bench-engines", title, ["policy", *engines], rows)


def against_c(rounds: int, c: Loop) -> Blocks:
    """The time of a round of Anchor-TS over that of the C loop, and over drawing 2K + 1 normals."""
    bandit = Bandit.paper(biased=True)
    check(c, bandit, "every-round" if has_numba() else "interpreted")
    jobs = {engine: usual_job("anchor-ts", bandit, engine) for engine in available()}
    jobs |= {
        "C, every sample": c.job("every_round", bandit, 100, HORIZON),
        "C, lazily": c.job("lazily", bandit, 100, HORIZON),
        "2K + 1 normals": c.floor_job(2 * len(bandit.online) + 1, 100 * HORIZON),
    }
    costs = in_turn(jobs, rounds * TURNS)
    rows = {name: [ratio(costs[name], costs[base]) for base in BASES.values()] for name in jobs}
    title = "Time of a round of Anchor-TS over that of C"
    return table("bench-c", title, ["Anchor-TS", *BASES], rows)
