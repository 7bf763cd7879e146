"""Runs inside a peer's environment: plays its policies and prints the CPU time of a round, as JSON.

python -m benchmarks.peers.drive river 10000
"""

import importlib
import json
import sys

from benchmarks.clock import cpu_seconds
from benchmarks.peers import MEANS, POLICIES

WARM_UP = 50  # rounds off the clock: imports, caches, whatever is done once


def main() -> None:
    """Measure every policy that the driver has."""
    name, horizon = sys.argv[1], int(sys.argv[2])
    driver = importlib.import_module(f"benchmarks.peers.{name}")
    spent = {}
    for policy in POLICIES:
        play = getattr(driver, policy, None)
        if play is not None:
            play(MEANS, WARM_UP)
            start = cpu_seconds()
            rounds = play(MEANS, horizon)
            spent[policy] = (cpu_seconds() - start) / rounds
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
