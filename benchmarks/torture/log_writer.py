"""Files of logs as nobody should write them: CSV, JSON lines and Parquet, with all kinds of damage.

Everything follows from a seed and the number of the file.
"""

import gzip
import importlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.torture import byte_damage
from benchmarks.torture.csv_text import csv_text

Rng = np.random.Generator
LABELS = ["A", "B", "arm 3", "Ärger", "x,y;z|w", 'say "hi"', "7", "v1_2", "-", "日本"]
ODD_LABELS = ["", "   ", "\x07", "two\nlines", "l" * 1_001, "arm", "A ", "\u200b"]
REWARDS = ["0", "1", "0.5", "-2.25", "1e3", " 0.5 ", "true", "FALSE", "+.5", "5."]
ODD_REWARDS = ["", "nan", "inf", "-Infinity", "abc", "1_0", "1,5", "0x10", "--", "reward", "１"]
NOTES = ["", "fine", "a, b; c", 'she said "no"', "two\nlines", "a\nB,1,1,x\nb", "5'' nails", "Ä\t|"]


@dataclass(frozen=True)
class Case:
    """A file, and what was done to it."""

    path: Path
    format: str
    damage: tuple[str, ...]


def write(folder: Path, seed: int, number: int) -> Case:
    """Write one file."""
    rng = np.random.default_rng([seed, number])
    format = str(rng.choice(["csv", "jsonl", "parquet"], p=[0.6, 0.25, 0.15]))
    suffix = (
        "" if format == "parquet" else str(rng.choice(["", ".gz", ".zst"], p=[0.5, 0.25, 0.25]))
    )
    path = folder / f"{number}.{format}{suffix}"
    content, done = {"csv": csv_text, "jsonl": _jsonl, "parquet": _parquet}[format](rng, rows(rng))
    if format != "parquet":
        content, more = byte_damage.of_text(rng, content)
        content = PACK[suffix](content)
        done += more
    if suffix or format == "parquet":
        content, more = byte_damage.of_packed(rng, content)
        done += more
    path.write_bytes(content)
    return Case(path, format, tuple(done))


def rows(rng: Rng) -> list[tuple[str, str, str]]:
    """Arms, rewards and notes."""
    large = rng.random() < 0.005
    n = 60_000 if large else int(rng.choice([0, 1, 3, 40, 300], p=[0.03, 0.05, 0.12, 0.5, 0.3]))
    odd = float(rng.choice([0, 0.003, 0.1]))
    padding = "p" * 180 if large else ""  # so that DuckDB reads it in several parts
    labels, rewards = (
        _some(rng, LABELS, ODD_LABELS, n, odd),
        _some(rng, REWARDS, ODD_REWARDS, n, odd),
    )
    notes = [note + padding for note in _some(rng, NOTES, NOTES, n, 0)]
    return list(zip(labels, rewards, notes, strict=True))


def _some(rng: Rng, usual: list[str], odd: list[str], n: int, share: float) -> list[str]:
    few = [usual[i] for i in rng.permutation(len(usual))[: rng.integers(1, len(usual) + 1)]]
    strange = rng.random(n) < share
    picks, odd_picks = rng.integers(0, len(few), n), rng.integers(0, len(odd), n)
    return [odd[j] if s else few[i] for s, i, j in zip(strange, picks, odd_picks, strict=True)]


def _jsonl(rng: Rng, table: list[tuple[str, str, str]]) -> tuple[bytes, list[str]]:
    typed = rng.random() < 0.5
    lines = []
    for label, reward, note in table:
        value = _typed(reward) if typed else reward
        lines.append(
            json.dumps(
                {"arm": label, "note": note, "reward": value}, ensure_ascii=rng.random() < 0.5
            )
        )
    done = []
    kinds: dict[str, Callable[[], str]] = {
        "a key twice": lambda: '{"arm": "A", "reward": 1, "reward": 2}',
        "a hidden key twice": lambda: '{"arm": "A", "reward": 1, "rew\\u0061rd": 2}',
        "two objects": lambda: '{"arm": "A", "reward": 1}{"arm": "B", "reward": 1}',
        "no object": lambda: str(rng.choice(["[1]", "3", '"x"', "null", "nonsense", "{", "{}"])),
        "a blank line": lambda: str(rng.choice(["", "  ", "\t"])),
        "a nested value": lambda: '{"arm": {"arm": 1}, "reward": [1]}',
        "a long line": lambda: json.dumps({"arm": "A", "reward": 1, "note": "n" * 300_000}),
        "a lone surrogate": lambda: '{"arm": "\\ud800", "reward": 1}',
    }
    for kind in rng.permutation(list(kinds))[: rng.choice([0, 1, 2], p=[0.5, 0.3, 0.2])]:
        for _ in range(int(rng.integers(1, 4))):
            lines.insert(int(rng.integers(0, len(lines) + 1)), kinds[str(kind)]())
        done.append(str(kind))
    end = str(rng.choice(["\n", "\r\n", "\r"], p=[0.7, 0.2, 0.1]))
    return (end.join(lines) + end * int(rng.integers(0, 3))).encode(errors="surrogatepass"), done


def _typed(reward: str) -> Any:
    try:
        return json.loads(reward)
    except ValueError:
        return reward


def _parquet(rng: Rng, table: list[tuple[str, str, str]]) -> tuple[bytes, list[str]]:
    pyarrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    labels, rewards, notes = ([row[i] for row in table] for i in range(3))
    done = []
    numbers: list[Any] = rewards
    if rng.random() < 0.7:
        numbers = [float(i) if i % 9 else None for i in range(len(table))]
    names = ["arm", "reward", "note"]
    if rng.random() < 0.1:
        names[2] = str(rng.choice(["reward", "arm"]))
        done.append("a column twice")
    if table and rng.random() < 0.1:
        labels[0] = "L" * 2_000_000
        done.append("a huge label")
    arrays = [
        pyarrow.array(labels, pyarrow.string()),
        pyarrow.array(numbers),
        pyarrow.array(notes, pyarrow.string()),
    ]
    if not table:
        arrays[1] = pyarrow.array([], pyarrow.float64())
    out = io.BytesIO()
    parquet.write_table(
        pyarrow.table(arrays, names=names),
        out,
        compression=str(rng.choice(["none", "snappy", "zstd"])),
        row_group_size=int(rng.choice([7, 1_000_000])),
    )
    return out.getvalue(), done


def _zstd(content: bytes) -> bytes:
    zstd: Any = importlib.import_module("backports.zstd")
    checked = {zstd.CompressionParameter.checksum_flag: 1}
    packed: bytes = zstd.compress(content, options=checked)
    return packed


PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, compresslevel=1, mtime=0),
    ".zst": _zstd,
}
