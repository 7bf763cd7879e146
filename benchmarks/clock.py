"""CPU time, jobs in turn, and ratios with their spread. The standard library alone: peers use it.

Absolute times depend on the machine and its mood. Jobs that are compared are therefore run in
turn, round after round, and only their ratio within a round counts.
"""

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Job = Callable[[], float]  # does its work and returns what it cost
Cell = dict[str, Any]  # median, low, high and perhaps a unit


def cpu_seconds() -> float:
    """CPU time of this process, its threads and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cpu_cost(work: Callable[[], object], rounds: int) -> float:
    """CPU seconds of a round."""
    start = cpu_seconds()
    work()
    return (cpu_seconds() - start) / rounds


def in_turn(jobs: Mapping[str, Job], rounds: int) -> dict[str, list[float]]:
    """What each job cost in each round; in a round every job is run once, one after the other."""
    costs: dict[str, list[float]] = {name: [] for name in jobs}
    for i in range(rounds):
        for name, job in jobs.items():
            say(f"round {i + 1} of {rounds}: {name}")
            costs[name].append(job())
    return costs


def spread(values: Iterable[float], unit: str = "") -> Cell:
    """Median, least and most, to four digits."""
    seen = list(values)
    ends = {"median": statistics.median(seen), "low": min(seen), "high": max(seen)}
    cell: Cell = {name: float(f"{x:.4g}") for name, x in ends.items()}
    return {**cell, "unit": unit} if unit else cell


def ratio(over: Iterable[float], under: Iterable[float]) -> Cell:
    """The ratio of two jobs, taken round by round."""
    return spread(a / b for a, b in zip(over, under, strict=True))


def say(step: str) -> None:
    """Tell people what goes on."""
    print(step, file=sys.stderr, flush=True)
