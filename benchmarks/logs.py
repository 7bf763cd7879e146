"""`read_logs` against DuckDB's own GROUP BY over the same files, interleaved in one run.

Prints wall-clock and CPU time as ratios to DuckDB alone (connecting included on both sides), and
the most memory `read_logs` takes in a process of its own. The goals: a ratio of at most 1.3, and
less than 500 MB. Times depend on the machine and its mood; the ratios of one run do less, that of
CPU time least.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from driftanchor import OfflineData

READ = (
    "from driftanchor import OfflineData; OfflineData.from_logs({!r}, arm='arm', reward='reward')"
)
PEAK = "print([x for x in open('/proc/self/status') if x.startswith('VmHWM')][0].split()[1])"
MADE = """
COPY (
    SELECT timestamp '2026-01-01' + interval (i) second AS at,
        'arm ' || hash(i) % 11 AS arm,
        (hash(7 * i + 1) % 10007) / 10007.0 + (hash(i) % 11) / 100.0 AS reward,
        hash(3 * i) % 100000 AS user_id,
        (hash(5 * i) % 20)::VARCHAR AS country
    FROM range({rows}) t(i)
) TO '{path}'
"""


def alone(path: Path) -> object:
    """What DuckDB itself needs."""
    with duckdb.connect() as connection:
        query = "SELECT arm, count(*), avg(reward), var_samp(reward) FROM '{}' GROUP BY arm"
        return connection.execute(query.format(path)).fetchall()


def ours(path: Path) -> object:
    """The same through `from_logs`."""
    return OfflineData.from_logs(path, arm="arm", reward="reward")


def cost(job: Callable[[Path], object], path: Path) -> tuple[float, float]:
    """Wall-clock and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    job(path)
    return time.perf_counter() - wall, time.process_time() - cpu


def peak(path: Path) -> float:
    """The most megabytes that reading takes in a new process."""
    program = f"{READ.format(str(path))}\n{PEAK}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


def main() -> None:
    """Make the files, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args()
    print(f"{asked.rows:,} rows   DuckDB, s   ours, s   wall ratio   CPU ratio   peak, MB")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("parquet", "csv"):
            path = Path(folder) / f"logs.{kind}"
            duckdb.connect().execute(MADE.format(rows=asked.rows, path=path))
            for job in (alone, ours):
                job(path)  # imports and the disk cache, outside the clock
            pairs = [(cost(alone, path), cost(ours, path)) for _ in range(asked.repeats)]
            walls, cpus = ([(a[i], b[i]) for a, b in pairs] for i in (0, 1))
            bare, read = (statistics.median(x[i] for x in walls) for i in (0, 1))
            wall, cpu = (statistics.median(b / a for a, b in x) for x in (walls, cpus))
            cells = (f"{bare:9.3f}", f"{read:7.3f}", f"{wall:10.2f}", f"{cpu:9.2f}")
            print(f"{kind:<15}", *cells, f"{peak(path):8.0f}", sep="   ")


if __name__ == "__main__":
    main()
