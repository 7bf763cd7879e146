"""Each engine against the others and against a plain NumPy loop, interleaved in one process.

Prints CPU time per round as a ratio to the NumPy loop: above 1 is slower. Absolute times depend on
the machine and its mood; the ratios of one run do not.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np

from driftanchor import POLICIES, Bandit, simulate

ROUNDS = 5


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


def main() -> None:
    """Measure every policy and print the table."""
    bandit = Bandit.paper(biased=True)

    def run(name: str, engine: str, runs: int, horizon: int) -> Callable[[], object]:
        return lambda: simulate(
            name, bandit, runs=runs, horizon=horizon, engine=engine, threads=1, checkpoints=1
        )

    print(f"{'policy':<20}{'every-round':>14}{'interpreted':>14}   (NumPy loop = 1)")
    for name in POLICIES:
        run(name, "every-round", 1, 10)()  # compile outside the clock
        fast, slow = [], []
        for _ in range(ROUNDS):
            base = cost(lambda: numpy_loop(bandit, 3_000), 3_000)
            fast.append(cost(run(name, "every-round", 10, 10_000), 100_000) / base)
            slow.append(cost(run(name, "interpreted", 1, 300), 300) / base)
        print(f"{name:<20}{statistics.median(fast):>14.4f}{statistics.median(slow):>14.1f}")


if __name__ == "__main__":
    main()
