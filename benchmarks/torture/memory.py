"""How much memory hostile files take when they are read, against the limit.

Each file is read in a process of its own. What counts is the peak of that process, less the peak
of one that reads three rows: the rest is Python, NumPy and DuckDB.
"""

from __future__ import annotations

import gzip
import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.clock import say

ROOT = Path(__file__).parents[2]
MEASURE = ROOT / "benchmarks" / "child.py"
READ = (
    "import json, pathlib, sys, warnings; warnings.simplefilter('ignore'); "
    "sys.path[:0] = [sys.argv[4]]; from benchmarks.torture import memory; "
    "found = memory.outcome(sys.argv[1], sys.argv[2]); "
    "pathlib.Path(sys.argv[3]).write_text(json.dumps(found), encoding='utf-8')"
)
LIMIT, SMALL_LIMIT = "400MB", "50MB"
MB = 1e6
HEAD = b"arm,reward\n"
GOOD = b"A,1\nB,0\n"


class Peak(NamedTuple):
    """What reading a file took.

    Attributes:
        file: What is hostile about it.
        size: Its bytes.
        limit: The memory that was allowed.
        peak: Bytes at most, beyond what three rows take.
        outcome: What came of it.
    """

    file: str
    size: int
    limit: str
    peak: int
    outcome: str


def measure(scale: float = 1.0, progress: Callable[[str], None] = say) -> list[Peak]:
    """Read all of the files; a `scale` below 1 makes them smaller."""
    with tempfile.TemporaryDirectory(prefix="driftanchor-torture-") as name:
        folder = Path(name)
        plain = folder / "plain.csv"
        plain.write_bytes(HEAD + GOOD)
        base, _ = _peak(plain, LIMIT)
        found = []
        for path, what, limit in hostile_files(folder, scale):
            peak, outcome = _peak(path, limit)
            progress(f"{what}, {limit}: {(peak - base) / MB:,.0f} MB, {outcome}")
            found.append(Peak(what, path.stat().st_size, limit, max(peak - base, 0), outcome))
    return found


def hostile_files(folder: Path, scale: float) -> list[tuple[Path, str, str]]:
    """Files that took gigabytes once, or look as if they should: path, what it is, the limit."""
    pa: Any = importlib.import_module("pyarrow")
    pq: Any = importlib.import_module("pyarrow.parquet")

    def write(name: str, content: bytes) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    def times(n: float) -> int:
        return max(1, int(n * scale))

    text = b"A,a text that is no number at all\n" * times(3e6)
    text_file = write("text.csv", HEAD + GOOD + text)
    label = folder / "label.parquet"
    long = pa.table({"arm": ["a" * times(5e7), "B"], "reward": [1.0, 0.0]})
    pq.write_table(long, label, compression="zstd", write_statistics=False)
    bomb = folder / "bomb.parquet"
    labels = [f"{i}" + "a" * times(1e6) for i in range(200)]
    rows = pa.array([i % 200 for i in range(times(1e5))], pa.int32())
    coded = pa.DictionaryArray.from_arrays(rows, pa.array(labels))
    bombs = pa.table({"arm": coded, "reward": pa.array([1.0] * len(rows))})
    pq.write_table(bombs, bomb, compression="zstd", write_statistics=False)
    del labels, coded, bombs, long
    wide = b"arm,reward," + b",".join(b"column%d" % i for i in range(times(30_000))) + b"\n"
    row = b"A,1" + b",0" * times(30_000) + b"\n"
    many = b"".join(b"label %d,1\n" % i for i in range(times(2e6)))
    packed = gzip.compress(HEAD + GOOD + b"A," + b"1" * times(1e9), 6)
    rows_packed = gzip.compress(HEAD + b"A,1\nB,0\n" * times(2e7), 6)
    json_rows = b'{"arm": "A", "reward": 1}\n{"arm": "B", "reward": 0}\n'
    json_line = b'{"arm": "A", "reward": 1, "note": "' + b"a" * times(3e7) + b'"}\n'
    return [
        (text_file, "text column as reward, CSV", LIMIT),
        (text_file, "text column as reward, CSV", SMALL_LIMIT),
        (label, "one label of 50 MB, Parquet", LIMIT),
        (label, "one label of 50 MB, Parquet", SMALL_LIMIT),
        (bomb, "100,000 labels of 1 MB each, 200 of them different, Parquet", LIMIT),
        (bomb, "100,000 labels of 1 MB each, 200 of them different, Parquet", SMALL_LIMIT),
        (
            write("line.csv", HEAD + GOOD + b"A," + b"1" * times(3e7) + b"\n" + GOOD),
            "a line of 30 MB, CSV",
            LIMIT,
        ),
        (
            write("line.jsonl", json_rows + json_line + json_rows),
            "a line of 30 MB, JSON lines",
            LIMIT,
        ),
        (write("bomb.csv.gz", packed), "a line of 1 GB, CSV in gzip", LIMIT),
        (write("rows.csv.gz", rows_packed), "40,000,000 good rows, CSV in gzip", LIMIT),
        (write("wide.csv", wide + row * 20), "30,002 columns, CSV", LIMIT),
        (write("many.csv", HEAD + many), "2,000,000 different labels, CSV", LIMIT),
    ]


def _peak(path: Path, limit: str) -> tuple[int, str]:
    """The peak of a process that reads a file, and what came of it."""
    told = path.with_suffix(".json")
    told.unlink(missing_ok=True)
    reader = [sys.executable, "-c", READ, str(path), limit, str(told), str(ROOT)]
    command = [sys.executable, str(MEASURE), *reader]
    used = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return int(used["peak"]), str(json.loads(told.read_text(encoding="utf-8")))


def outcome(path: str, limit: str) -> str:
    """What came of reading a file, without its name."""
    from driftanchor import DriftanchorError, read_logs

    try:
        found = read_logs(path, arm="arm", reward="reward", allow_rejects=True, memory=limit)
    except DriftanchorError as error:
        told = str(error).replace(str(Path(path).parent), "").replace("/", "")
        return f"refused: {told[:90]}{'…' if len(told) > 90 else ''}"
    rows = found.provenance
    rejected = sum(n for _, n in rows.rows_rejected)
    return f"{rows.rows_used:,} rows used, {rejected:,} rejected"
