"""What it costs to begin: imports, compiling with a cold and a warm cache; and peak memory."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.clock import ratio, say, spread
from benchmarks.engines import available, has_numba
from benchmarks.tables import Blocks, table
from driftanchor.simulation.chunk import ENGINES

CHILD = Path(__file__).with_name("child.py")
BARE = "`python -c pass`"
BEGIN = {
    BARE: ["-c", "pass"],
    "`import numpy`": ["-c", "import numpy"],
    "`import driftanchor`": ["-c", "import driftanchor"],
    "`driftanchor --help`": ["-m", "driftanchor", "--help"],
}
SIMULATE = (
    "import driftanchor as da; da.simulate({policy!r}, da.Bandit.paper(biased=True), "
    "engine={engine!r}, runs={runs}, horizon={horizon}, threads=1)"
)
COMPILING = ", compiling"
CPU = "CPU time"  # a column that targets are read from
DEFAULT = f"first run of the default rule{COMPILING}"
MEMORY = {"10⁴": 10**4, "10⁷": 10**7}


def beginnings(rounds: int) -> Blocks:
    """CPU time and peak memory of processes that begin, and of two that simulate."""
    used: dict[str, list[dict[str, float]]] = {}
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}: start-up")
        with contextlib.ExitStack() as caches:
            cache = caches.enter_context(tempfile.TemporaryDirectory())
            for name, arguments in commands().items():
                if name.endswith(COMPILING):  # an empty cache
                    cache = caches.enter_context(tempfile.TemporaryDirectory())
                used.setdefault(name, []).append(run(arguments, cache))
    seconds = {name: [x["cpu"] for x in each] for name, each in used.items()}
    rows = {
        name: [
            ratio(seconds[name], seconds[BARE]),
            spread((1e3 * x for x in seconds[name]), "ms"),
            spread((x["peak"] / 2**20 for x in each), "MiB"),
        ]
        for name, each in used.items()
    }
    columns = ["process", "CPU time over bare Python", CPU, "peak memory"]
    return table("bench-startup", "Whole processes, from their start", columns, rows)


def commands() -> dict[str, list[str]]:
    """Return the commands of a round, in order; the first use of an engine has an empty cache."""
    found = dict(BEGIN)
    if has_numba():
        code = SIMULATE.format(policy="guarded-anchor-ts", engine="auto", runs=1, horizon=10)
        found[DEFAULT] = ["-c", code]
    for engine in available():
        code = SIMULATE.format(policy="anchor-ts", engine=engine, runs=1, horizon=10)
        if not ENGINES[engine].compiled:
            found[f"first `{engine}` run"] = ["-c", code]
        else:
            found[first_run(engine)] = ["-c", code]
            found[f"first `{engine}` run, kernel cached"] = ["-c", code]
    horizons = MEMORY if has_numba() else {"10⁴": 10**4}  # interpreted, more takes hours
    for label, horizon in horizons.items():
        code = SIMULATE.format(policy="anchor-ts", engine="auto", runs=2, horizon=horizon)
        found[f"2 runs of {label} rounds, `auto`"] = ["-c", code]
    return found


def first_run(engine: str) -> str:
    """Return the row of an engine's first use with an empty cache."""
    return f"first `{engine}` run{COMPILING}"


def run(arguments: list[str], cache: str) -> dict[str, float]:
    """What a Python process used, with a cache folder of its own."""
    command = [sys.executable, "-S", str(CHILD), sys.executable, "-W", "ignore", *arguments]
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    used: dict[str, float] = json.loads(done.stdout)
    return used
