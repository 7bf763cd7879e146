"""What a plan costs with its defaults, beside 10⁷ rounds of the C loop."""

import warnings

from benchmarks import loop
from benchmarks.clock import Cell, cpu_seconds, in_turn, ratio, spread
from benchmarks.scale import power
from benchmarks.tables import Blocks, table
from driftanchor import Bandit, OfflineData
from driftanchor.planning.plan import plan

LOGS = {
    "A": (900, 0.52, 0.25),
    "B": (900, 0.50, 0.25),
    "C": (900, 0.47, 0.25),
    "D": (900, 0.45, 0.25),
}
BOUND = 0.03
USUAL = 10**4  # rounds
LONG = 10**6  # in batches; planned once
FEW = 2  # worlds: enough to load all kernels
C_ROUNDS = 10**7
OVER_LOOP = f"CPU time over {power(C_ROUNDS)} rounds of the C loop"
CPU = "CPU time"


def row(horizon: int) -> str:
    """The row of a plan of so many rounds."""
    return f"{power(horizon)} rounds"


def defaults(rounds: int, c: loop.Loop, *, quick: bool) -> Blocks:
    """Plans of four arms with all defaults, their kernels loaded."""
    many = FEW if quick else None
    planned(USUAL, FEW)
    base = c.job("every_round", Bandit.paper(biased=True), 100, 10_000)
    jobs = {"plan": lambda: planned(USUAL, many), "C": lambda: C_ROUNDS * base()}
    costs = in_turn(jobs, rounds)
    rows = {row(USUAL): _cells(costs["plan"], costs["C"])}
    planned(LONG, FEW)
    rows[row(LONG)] = _cells([planned(LONG, many)], [C_ROUNDS * base()])
    columns = ["four arms, all defaults", OVER_LOOP, CPU]
    return table("bench-plan", "A plan with its defaults", columns, rows)


def planned(horizon: int, worlds: int | None = None) -> float:
    """CPU seconds of a plan."""
    start = cpu_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a long one takes long
        plan(OfflineData.from_summary(LOGS), bias_bound=BOUND, horizon=horizon, worlds=worlds)
    return cpu_seconds() - start


def _cells(cost: list[float], base: list[float]) -> list[Cell | str | None]:
    return [ratio(cost, base), spread(cost, "s")]
