"""Runs inside a peer's environment: the CPU time of a round of pull and update, as JSON, by arms.

python -m benchmarks.peers.live river 10000
"""

import importlib
import json
import sys

from benchmarks.clock import cpu_seconds
from benchmarks.peers import live_means

ARMS = (2, 10)
WARM_UP = 50  # rounds off the clock


def main() -> None:
    """Measure Thompson sampling, one round at a time."""
    name, horizon = sys.argv[1], int(sys.argv[2])
    live = importlib.import_module(f"benchmarks.peers.{name}").live
    spent = {}
    for arms in ARMS:
        live(live_means(arms), WARM_UP)
        start = cpu_seconds()
        live(live_means(arms), horizon)
        spent[str(arms)] = (cpu_seconds() - start) / horizon
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
