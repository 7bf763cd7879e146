"""Reading logs, beside DuckDB's own GROUP BY over the same files."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clock import Cell, Job, cpu_seconds, in_turn, ratio, spread
from benchmarks.tables import Blocks, table

KINDS = ("parquet", "csv")
TURNS = 5  # for each round that was asked for: a read takes a second, and the disk has its moods
OVER_DUCKDB = "time over DuckDB's, by the clock on the wall"
PEAK = "peak memory"
READ = (
    "from driftanchor import OfflineData; OfflineData.from_logs({!r}, arm='arm', reward='reward')"
)
TOLD = "print([x for x in open('/proc/self/status') if x.startswith('VmHWM')][0].split()[1])"
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


def against_duckdb(rounds: int, rows: int) -> Blocks:
    """What `from_logs` costs over DuckDB alone, connecting included on both sides, and its peak."""
    import duckdb

    told: dict[str, list[Cell | str | None]] = {}
    with TemporaryDirectory() as folder:
        for kind in KINDS:
            path = Path(folder) / f"logs.{kind}"
            with duckdb.connect() as connection:
                connection.execute(MADE.format(rows=rows, path=path))
            costs = _costs(path, kind, rounds * TURNS)
            wall, cpu = (ratio(costs[f"ours, {x}"], costs[f"DuckDB, {x}"]) for x in ("wall", "CPU"))
            told[kind] = [wall, cpu, spread([peak(path)], "MB")]
    columns = [f"{rows / 1e6:g} million rows", OVER_DUCKDB, "CPU time over DuckDB's", PEAK]
    return table("bench-logs", "Reading logs", columns, told)


def _costs(path: Path, kind: str, turns: int) -> dict[str, list[float]]:
    """Wall and CPU seconds of both, in turn."""
    readers = {"DuckDB": alone, "ours": ours}
    for read in readers.values():
        read(path)  # imports and the disk cache, outside the clock
    cpu: dict[str, list[float]] = {f"{name}, CPU": [] for name in readers}

    def job(name: str, read: Callable[[Path], object]) -> Job:
        def cost() -> float:
            wall, before = time.perf_counter(), cpu_seconds()
            read(path)
            cpu[f"{name}, CPU"].append(cpu_seconds() - before)
            return time.perf_counter() - wall

        return cost

    jobs = {f"{kind}: {name}": job(name, read) for name, read in readers.items()}
    walls = in_turn(jobs, turns)
    return cpu | {f"{name}, wall": walls[f"{kind}: {name}"] for name in readers}


def alone(path: Path) -> object:
    """What DuckDB itself needs."""
    import duckdb

    with duckdb.connect() as connection:
        query = "SELECT arm, count(*), avg(reward), var_samp(reward) FROM '{}' GROUP BY arm"
        return connection.execute(query.format(path)).fetchall()


def ours(path: Path) -> object:
    """The same through `from_logs`."""
    from driftanchor import OfflineData

    return OfflineData.from_logs(path, arm="arm", reward="reward")


def peak(path: Path) -> float:
    """The most megabytes that reading takes in a new process."""
    program = f"{READ.format(str(path))}\n{TOLD}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return int(done.stdout) * 1024 / 1e6
