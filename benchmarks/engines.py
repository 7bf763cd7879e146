"""Each engine against the others and against a plain NumPy loop, interleaved in one process.

Prints CPU time per round as a ratio to the NumPy loop: above 1 is slower. Absolute times depend on
the machine and its mood; the ratios of one run do not.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from driftanchor import POLICIES, Bandit, simulate
from driftanchor.simulate.run import leaps

REPEATS = 5
# engine, runs, horizon
JOBS = {
    "interpreted": ("interpreted", 1, 300),
    "every-round": ("every-round", 20, 10_000),
    "events": ("events", 20, 10_000),
    "events, 1e6": ("events", 5, 1_000_000),
}


def numpy_loop(bandit: Bandit, horizon: int) -> None:
    """Thompson sampling as one would write it in an afternoon."""
    rng = np.random.default_rng(0)
    pulls, totals = np.zeros(len(bandit.online)), np.zeros(len(bandit.online))
    for _ in range(horizon):
        arm = int(np.argmax(rng.normal(totals / (pulls + 1), 1 / np.sqrt(pulls + 1))))
        totals[arm] += rng.normal(bandit.online[arm], 1.0)
        pulls[arm] += 1


def cost(job: Callable[[], object], rounds: int) -> float:
    """CPU seconds per simulated round."""
    start = time.process_time()
    job()
    return (time.process_time() - start) / rounds


def run(name: str, bandit: Bandit, engine: str, runs: int, horizon: int) -> Callable[[], object]:
    """The job of one engine."""
    return lambda: simulate(
        name, bandit, runs=runs, horizon=horizon, engine=engine, threads=1, checkpoints=1
    )


def main() -> None:
    """Measure every policy and print the table."""
    bandit = Bandit.paper(biased=True)
    print(f"{'policy':<20}" + "".join(f"{job:>14}" for job in JOBS) + "   (NumPy loop = 1)")
    for name, policy in POLICIES.items():
        jobs = {job: how for job, how in JOBS.items() if leaps(policy) or how[0] != "events"}
        for engine, _, _ in jobs.values():
            run(name, bandit, engine, 1, 10)()  # compile outside the clock
        ratios: dict[str, list[float]] = {job: [] for job in jobs}
        for _ in range(REPEATS):
            base = cost(lambda: numpy_loop(bandit, 3_000), 3_000)
            for job, (engine, runs, horizon) in jobs.items():
                spent = cost(run(name, bandit, engine, runs, horizon), runs * horizon)
                ratios[job].append(spent / base)
        row = [f"{statistics.median(ratios[job]):.2g}" if job in jobs else "–" for job in JOBS]
        print(f"{name:<20}" + "".join(f"{cell:>14}" for cell in row))


if __name__ == "__main__":
    main()
